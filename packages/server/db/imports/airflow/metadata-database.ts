/**
 * The metadata database of an Airflow. It is only read, in one transaction with one snapshot. Postgres, SQLite or
 * MySQL: statements are written once, with `$1` for parameters, and lists are passed as JSON.
 */
import type { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/** The driver's value: Postgres returns everything as text, the others numbers, text and bytes. */
export type RawValue = string | number | bigint | Uint8Array | null;
export type RawRow = Record<string, RawValue>;

export type MetadataDatabase = {
  ask(statement: string, parameters?: readonly (string | number | null)[]): Promise<RawRow[]>;
  /** Empty: there is no such table. */
  columns(table: string): Promise<ReadonlySet<string>>;
  /** A condition: `column` is one of the texts of a JSON list. */
  isIn(column: string, parameter: string): string;
  /** The objects of a JSON list as a table `k` with these columns of text. */
  rowsOf(parameter: string, columns: readonly string[]): string;
  /** Converts a date parameter so that it can be compared with a column of dates. */
  date(parameter: string): string;
  dateText(iso: string): string;
  close(): Promise<void>;
};

/** Leaves values as the text that Postgres writes. */
const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: () => (value: string) => value };
export const CONNECT_TIMEOUT_MS = 10_000;

export async function openPostgres(url: string): Promise<MetadataDatabase> {
  const client = new pg.Client({
    connectionString: url,
    types: AS_TEXT,
    application_name: 'svc migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => {}); // the pending or the next statement reports it
  await client.connect();
  await client.query('begin isolation level repeatable read read only');
  await client.query(`set local timezone = 'UTC'; set local datestyle = 'ISO'; set local bytea_output = 'hex'`);
  const ask: MetadataDatabase['ask'] = async (statement, parameters = []) =>
    (await client.query<RawRow>(statement, [...parameters])).rows;
  return {
    ask,
    async columns(table) {
      const rows = await ask(
        'select column_name as name from information_schema.columns where table_name = $1 and table_schema = any(current_schemas(false))',
        [table],
      );
      return new Set(rows.map((row) => String(row['name'])));
    },
    isIn: (column, parameter) => `${column} in (select json_array_elements_text(${parameter}::json))`,
    rowsOf: (parameter, columns) =>
      `json_to_recordset(${parameter}::json) as k(${columns.map((name) => `${name} text`).join(', ')})`,
    date: (parameter) => `${parameter}::timestamptz`,
    dateText: (iso) => iso,
    close: () => client.end(),
  };
}

export async function openSqlite(path: string): Promise<MetadataDatabase> {
  const sqlite = await import('node:sqlite'); // loaded only on use, because its import prints a warning
  const database: DatabaseSync = new sqlite.DatabaseSync(path, { readOnly: true });
  database.exec('begin');
  const ask: MetadataDatabase['ask'] = (statement, parameters = []) => {
    const prepared = database.prepare(statement.replaceAll(/\$(\d+)/g, '?$1'));
    return Promise.resolve(prepared.all(...parameters) as RawRow[]);
  };
  return {
    ask,
    columns: async (table) =>
      new Set((await ask('select name from pragma_table_info($1)', [table])).map((row) => String(row['name']))),
    isIn: (column, parameter) => `${column} in (select value from json_each(${parameter}))`,
    rowsOf: (parameter, columns) => {
      const values = columns.map((name) => `json_extract(value, '$.${name}') as ${name}`);
      return `(select ${values.join(', ')} from json_each(${parameter})) as k`;
    },
    date: (parameter) => parameter,
    // The format in which SQLAlchemy writes dates there: in UTC, without a zone. To the second, because the comparison
    // is textual, with or without a fraction.
    dateText: (iso) => new Date(iso).toISOString().slice(0, 19).replace('T', ' '),
    close: () => Promise.resolve(database.close()),
  };
}
