/** The text of a value of a task, unless it is of a size that is kept elsewhere as well. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** In bytes, both inclusive. */
export type SizeRange = { min: number; max: number };

/**
 * Of `xcoms`, by whatever name: no other table there has these columns. The length is known without reading the text, which
 * lies outside of the row. A row without a version is in no cache.
 */
export const textUnless = (without: SizeRange | null): RawBuilder<string | null> =>
  without === null
    ? sql<string | null>`value`
    : sql<
        string | null
      >`case when version is null or octet_length(value) not between ${without.min}::int and ${without.max}::int then value end`;
