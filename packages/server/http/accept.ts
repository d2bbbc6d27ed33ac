/** Which of the forms we offer the client wants, by its Accept header. */

/**
 * The one with the highest weight; of several, the one named first. A client that names none of them gets the first we offer:
 * an answer in a form it did not expect tells more than none.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  let best: { type: Type; weight: number } | undefined;
  for (const part of (accept ?? '').split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const type = offered.find((candidate) => candidate === name);
    if (type === undefined) continue;
    const weight = weightOf(parameters);
    if (weight > (best?.weight ?? 0)) best = { type, weight };
  }
  return best?.type ?? offered[0];
}

function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (weight === undefined) return 1;
  return /^(?:0(?:\.\d*)?|1(?:\.0*)?)$/.test(weight) ? Number(weight) : 0;
}
