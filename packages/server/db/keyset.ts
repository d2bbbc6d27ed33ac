/**
 * Keyset paging: a page begins after the last row of the previous one, wherever that row is now, and not at a row
 * number. Rows that are added or removed in the meantime cause neither repetitions nor gaps. The last page costs as
 * much as the first.
 *
 * A cursor is the values of the sort keys in one row. The last key must be unique. Nulls come last in both directions.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

export type Direction = 'asc' | 'desc';
export type CursorValue = string | number | null;

export type SortKey = {
  /** The expression as the query writes it: a column with its table, or an expression. */
  readonly expression: RawBuilder<unknown>;
  readonly type: 'timestamptz' | 'text' | 'float8' | 'bigint';
  readonly nullable: boolean;
  readonly direction: Direction;
};

/** Where a page begins: after that row, or (`backward`) so that it ends before it. */
export type Cursor = { readonly values: readonly CursorValue[]; readonly backward: boolean };

/**
 * Returns the `order by` of a page. A page that ends before a cursor is read backwards: reverse its rows afterwards.
 */
export const orderOf = (keys: readonly SortKey[], backward = false): RawBuilder<unknown> =>
  sql.join(
    keys.map(({ expression, nullable, direction }) => {
      const order = sql.raw((direction === 'asc') === backward ? 'desc' : 'asc');
      // Only for nullable columns: an index has this order by default for columns without nulls.
      return nullable
        ? sql`${expression} ${order} nulls ${sql.raw(backward ? 'first' : 'last')}`
        : sql`${expression} ${order}`;
    }),
  );

/** The rows beyond the cursor, as a condition. */
export function beyond(keys: readonly SortKey[], cursor: Cursor): RawBuilder<boolean> {
  const { values, backward } = cursor;
  const [first] = keys;
  const bound = first && !first.nullable ? boundOf(first, values[0] ?? null, backward) : sql`true`;
  // The bound adds no information, but an index on the first key can start from it. It cannot start from an `or`.
  return sql<boolean>`(${bound} and ${asRow(keys, cursor) ?? asAlternatives(keys, cursor)})`;
}

/**
 * Keys of one direction without nulls are compared as a row, so an index on several of them starts exactly at the
 * cursor. Otherwise all rows that are equal in the first key would have to be read.
 */
function asRow(keys: readonly SortKey[], { values, backward }: Cursor): RawBuilder<unknown> | undefined {
  const direction = keys[0]?.direction;
  if (keys.some((key, index) => key.nullable || key.direction !== direction || (values[index] ?? null) === null)) {
    return undefined;
  }
  const operator = sql.raw((direction === 'asc') === backward ? '<' : '>');
  const row = sql.join(keys.map((key) => key.expression));
  const cursor = sql.join(keys.map((key, index) => cast(key, values[index] ?? null)));
  return sql`(${row}) ${operator} (${cursor})`;
}

function asAlternatives(keys: readonly SortKey[], { values, backward }: Cursor): RawBuilder<unknown> {
  const alternatives = keys.flatMap((key, index) => {
    const further = furtherThan(key, values[index] ?? null, backward);
    if (!further) return [];
    const equal = keys.slice(0, index).map((earlier, position) => equalTo(earlier, values[position] ?? null));
    return [sql`(${sql.join([...equal, further], sql` and `)})`];
  });
  return alternatives.length === 0 ? sql`false` : sql`(${sql.join(alternatives, sql` or `)})`;
}

const cast = ({ type }: SortKey, value: CursorValue): RawBuilder<unknown> => sql`${value}::${sql.raw(type)}`;

const equalTo = (key: SortKey, value: CursorValue): RawBuilder<unknown> =>
  value === null ? sql`${key.expression} is null` : sql`${key.expression} = ${cast(key, value)}`;

/** Returns undefined when no row is further. */
function furtherThan(key: SortKey, value: CursorValue, backward: boolean): RawBuilder<unknown> | undefined {
  if (value === null) return backward ? sql`${key.expression} is not null` : undefined;
  const operator = sql.raw((key.direction === 'asc') === backward ? '<' : '>');
  const further = sql`${key.expression} ${operator} ${cast(key, value)}`;
  return key.nullable && !backward ? sql`(${further} or ${key.expression} is null)` : further;
}

const boundOf = (key: SortKey, value: CursorValue, backward: boolean): RawBuilder<unknown> =>
  sql`${key.expression} ${sql.raw((key.direction === 'asc') === backward ? '<=' : '>=')} ${cast(key, value)}`;
