import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** A name filter of a list, converted to SQL patterns. Any one of the patterns must match. */
export type TextMatch = { readonly operator: 'like' | 'ilike'; readonly patterns: readonly string[] };

/** Returns a condition: `where(matches('key', filter))`. All patterns are one parameter. */
export function matches(
  column: string | RawBuilder<string | null>,
  { operator, patterns }: TextMatch,
): RawBuilder<boolean> {
  const name = typeof column === 'string' ? sql.ref(column) : column;
  return operator === 'like'
    ? sql<boolean>`${name} like any(${[...patterns]}::text[])`
    : sql<boolean>`${name} ilike any(${[...patterns]}::text[])`;
}
