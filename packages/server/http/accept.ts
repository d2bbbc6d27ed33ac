import Negotiator from 'negotiator';

/**
 * Returns the offered format that the client prefers by its Accept header. The highest weight wins; among equal
 * weights, the format that the header names first. A client that accepts none of the formats gets the first offered
 * one, because an unexpected format tells it more than no answer.
 *
 * The library parses the header, and the comparison is ours. The library treats `application/json; charset=utf-8` as a
 * type other than `application/json`.
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
