import Negotiator from 'negotiator';

/**
 * Which of the formats we offer the client wants, by its Accept header: the one with the highest weight; of several, the one
 * named first. A client that names none of them gets the first we offer: an answer in a format it did not expect tells more
 * than none.
 *
 * The library is asked for what the client names, not for the best of ours: for it, `application/json; charset=utf-8` is
 * something else than `application/json`.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  for (const accepted of new Negotiator({ headers: { accept } }).mediaTypes()) {
    const type = offered.find((candidate) => candidate === accepted.toLowerCase());
    if (type !== undefined) return type;
  }
  return offered[0];
}
