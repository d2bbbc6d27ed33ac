/** The text of an XCom, except for sizes that a cache also has. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** In bytes, both inclusive. */
export type SizeRange = { min: number; max: number };

/**
 * An expression over `xcoms` under any alias, because no other table has these columns. The length is known without
 * reading the text, which is stored outside the row. A row without a version is in no cache.
 */
export const textUnless = (without: SizeRange | null): RawBuilder<string | null> =>
  without === null
    ? sql<string | null>`value`
    : sql<
        string | null
      >`case when version is null or octet_length(value) not between ${without.min}::int and ${without.max}::int then value end`;
