/**
 * Many rows in one statement: each column is one array parameter, and `unnest` makes rows of them again. A column is named
 * once, with its SQL type and where its value comes from; the lists a statement needs are made of that when the module loads,
 * so the text of a statement is the same each time.
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

/** `Table` is the row as it is stored, `Row` what the value is taken from. */
export type Column<Table, Row> = {
  readonly name: keyof Table & string;
  readonly type: SqlType;
  readonly value: (row: Row) => unknown;
};

export type ColumnSet<Row> = {
  /** `a, b, c`: for the list of an insert. */
  readonly names: FixedSql<never>;
  /** `a = k.a, b = k.b`: for an update from the rows `k`; without the columns that say which row it is. */
  readonly assignments: FixedSql<never>;
  /** `t.a = k.a and t.b = k.b` of the columns that say which row it is; `t` is the table that is updated. */
  readonly sameKey: FixedSql<never>;
  /** `unnest($1::uuid[], $2::text[]) as k(a, b)`, with the values of these rows as parameters. */
  rows(rows: readonly Row[]): FixedSql<never>;
};

/** `as`: what is assigned to a column when it is not just the value. */
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
  // Around the parameters: `unnest(` $1 `::uuid[], ` $2 `::text[]) as k(…)`.
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
