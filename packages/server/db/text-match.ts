import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** A name filter of a list, already in the database's own pattern language: any one of the patterns must match. */
export type TextMatch = { readonly operator: 'like' | 'ilike'; readonly patterns: readonly string[] };

/** As a condition: `where(matches('key', filter))`. The patterns travel as one parameter, however many there are. */
export function matches(
  column: string | RawBuilder<string | null>,
  { operator, patterns }: TextMatch,
): RawBuilder<boolean> {
  const name = typeof column === 'string' ? sql.ref(column) : column;
  return operator === 'like'
    ? sql<boolean>`${name} like any(${[...patterns]}::text[])`
    : sql<boolean>`${name} ilike any(${[...patterns]}::text[])`;
}
