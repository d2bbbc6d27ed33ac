/**
 * Many rows in one statement: each column is one array parameter, and `unnest` turns the arrays into rows. A column is
 * declared once, with its SQL type and the source of its value. The lists for statements are built from that when the
 * module loads, so the text of a statement is always the same.
 */
import { FixedSql, fixedText } from '../../db/fixed-sql.ts';

export type SqlType =
  | 'uuid'
  | 'bigint'
  | 'int'
  | 'text'
  | 'boolean'
  | 'timestamptz'
  | 'json'
  | 'jsonb'
  | 'double precision';

/** `Table` is the stored row, `Row` the object that has the value. */
export type Column<Table, Row> = {
  readonly name: keyof Table & string;
  readonly type: SqlType;
  readonly value: (row: Row) => unknown;
};

export type ColumnSet<Row> = {
  /** `a, b, c`: for the list of an insert. */
  readonly names: FixedSql<never>;
  /** `a = k.a, b = k.b`: for an update from the rows `k`, without the key columns. */
  readonly assignments: FixedSql<never>;
  /** `t.a = k.a and t.b = k.b` for the key columns; `t` is the table that is updated. */
  readonly sameKey: FixedSql<never>;
  /** `unnest($1::uuid[], $2::text[]) as k(a, b)`, with the values of these rows as parameters. */
  rows(rows: readonly Row[]): FixedSql<never>;
};

/** `as`: the expression to assign to a column if it is not just the value. */
export function columnSet<Table, Row>({
  key,
  values,
  as = {},
}: {
  key: readonly Column<Table, Row>[];
  values: readonly Column<Table, Row>[];
  as?: Partial<Record<keyof Table & string, string>>;
}): ColumnSet<Row> {
  const columns = [...key, ...values];
  const names = columns.map(({ name }) => name).join(', ');
  const types = columns.map(({ type }) => type);
  // The texts around the parameters: `unnest(` $1 `::uuid[], ` $2 `::text[]) as k(…)`.
  const around = [
    'unnest(',
    ...types.map((type, index) => (index < types.length - 1 ? `::${type}[], ` : `::${type}[]) as k(${names})`)),
  ];
  return {
    names: fixedText(names),
    assignments: fixedText(values.map(({ name }) => `${name} = ${as[name] ?? `k.${name}`}`).join(', ')),
    sameKey: fixedText(key.map(({ name }) => `t.${name} = k.${name}`).join(' and ')),
    rows: (rows) =>
      new FixedSql(
        around,
        columns.map(({ value }) => rows.map(value)),
      ),
  };
}
