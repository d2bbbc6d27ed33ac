/**
 * Metadata databases of Airflow as its documentation and a fresh installation show them: the tables and columns that are
 * read, of 2.10 and of 3.2, in SQLite, Postgres and MySQL.
 */
import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

type Value = string | number | boolean | null | Uint8Array;
export type AirflowVersion = '2.10' | '3.2';

export type MetadataFixture = {
  insert(table: string, ...rows: Record<string, Value>[]): Promise<void>;
  run(statement: string): Promise<void>;
  close(): Promise<void>;
};

const COMMON = {
  alembic_version: 'version_num varchar(32) not null',
  dag_tag: 'name varchar(100) not null, dag_id varchar(250) not null',
  slot_pool: 'id integer, pool varchar(256), slots integer, description text, include_deferred boolean not null',
  variable: 'id integer, "key" varchar(250), val text, description text, is_encrypted boolean',
  connection: `id integer, conn_id varchar(250) not null, conn_type varchar(500) not null, description text, host varchar(500),
    "schema" varchar(500), login text, password text, port integer, is_encrypted boolean, is_extra_encrypted boolean, extra text`,
  dag_run_note:
    'user_id <user>, dag_run_id integer not null, content varchar(1000), created_at <date>, updated_at <date>',
  serialized_dag: 'dag_id varchar(250) not null, data json, data_compressed <bytes>, last_updated <date> not null',
};

const TRY = `task_id varchar(250) not null, dag_id varchar(250) not null, run_id varchar(250) not null,
  map_index integer not null, start_date <date>, end_date <date>, duration float, state varchar(20), try_number integer,
  max_tries integer, hostname varchar(1000), unixname varchar(1000), pool varchar(256) not null, pool_slots integer not null,
  queue varchar(256), priority_weight integer, operator varchar(1000), custom_operator_name varchar(1000), queued_dttm <date>,
  pid integer, updated_at <date>, rendered_map_index varchar(250)`;

const RUN = `id integer primary key, dag_id varchar(250) not null, run_id varchar(250) not null, queued_at <date>, start_date <date>, end_date <date>,
  state varchar(50), run_type varchar(50) not null, data_interval_start <date>, data_interval_end <date>`;

const TABLES: Record<AirflowVersion, Record<string, string>> = {
  '2.10': {
    ...COMMON,
    dag: `dag_id varchar(250) not null, is_paused boolean, is_active boolean, fileloc varchar(2000), owners varchar(2000),
      dag_display_name varchar(2000), description text`,
    dag_run: `${RUN}, execution_date <date> not null, external_trigger boolean, conf <bytes>`,
    task_instance: TRY,
    task_instance_history: TRY,
    task_instance_note: `user_id <user>, task_id varchar(250), dag_id varchar(250), run_id varchar(250), map_index integer,
      content varchar(1000), created_at <date>, updated_at <date>`,
    ab_user: `id integer, first_name varchar(256), last_name varchar(256), username varchar(512), password varchar(256),
      active boolean, email varchar(512)`,
    ab_role: 'id integer, name varchar(64)',
    ab_user_role: 'id integer, user_id integer, role_id integer',
  },
  '3.2': {
    ...COMMON,
    dag: `dag_id varchar(250) not null, is_paused boolean not null, is_stale boolean not null, fileloc varchar(2000),
      relative_fileloc varchar(2000), owners varchar(2000), dag_display_name varchar(2000), description text`,
    dag_run: `${RUN}, logical_date <date>, run_after <date> not null, triggered_by varchar(50), triggering_user_name varchar(512),
      conf <json>, partition_key varchar(250)`,
    task_instance: `id <uuid> not null, ${TRY}, scheduled_dttm <date>`,
    task_instance_history: `task_instance_id <uuid> not null, ${TRY}, scheduled_dttm <date>`,
    task_instance_note:
      'ti_id <uuid> not null, user_id varchar(128), content varchar(1000), created_at <date>, updated_at <date>',
  },
};

const REVISIONS: Record<AirflowVersion, string> = { '2.10': '22ed7efa9da2', '3.2': '1d6611b6ab7c' };

const TYPES = {
  sqlite: { date: 'timestamp', bytes: 'blob', json: 'json', uuid: 'char(32)' },
  postgres: { date: 'timestamptz', bytes: 'bytea', json: 'jsonb', uuid: 'uuid' },
  mysql: { date: 'timestamp(6) null', bytes: 'longblob', json: 'json', uuid: 'varchar(36)' },
};
/** The default of Airflow's `database.sql_engine_collation_for_ids` there. */
const MYSQL_ID = '$1 varchar(250) character set utf8mb3 collate utf8mb3_bin';

function statementsOf(version: AirflowVersion, kind: keyof typeof TYPES): string[] {
  const types: Record<string, string> = { ...TYPES[kind], user: version === '3.2' ? 'varchar(128)' : 'integer' };
  const tables = Object.entries(TABLES[version]).map(
    ([name, columns]) =>
      `create table ${name} (${columns.replaceAll(/<(\w+)>/g, (_, type: string) => types[type] ?? '')})`,
  );
  return [
    ...(kind === 'mysql' ? tables.map((table) => table.replaceAll(/(\w+_id) varchar\(250\)/g, MYSQL_ID)) : tables),
    'create index ti_dag_run on task_instance (dag_id, run_id)',
    `insert into alembic_version values ('${REVISIONS[version]}')`,
  ];
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

export function createSqliteMetadata(path: string, version: AirflowVersion): Promise<MetadataFixture> {
  const database = new DatabaseSync(path);
  for (const statement of statementsOf(version, 'sqlite')) database.exec(statement);
  return Promise.resolve({
    insert(table, ...rows) {
      database.exec('begin');
      for (const row of rows) {
        const names = Object.keys(row);
        const values = Object.values(row).map((value) => (typeof value === 'boolean' ? Number(value) : value));
        database
          .prepare(`insert into ${table} (${quoted(names)}) values (${names.map(() => '?').join(', ')})`)
          .run(...values);
      }
      database.exec('commit');
      return Promise.resolve();
    },
    run: (statement) => Promise.resolve(database.exec(statement)),
    close: () => Promise.resolve(database.close()),
  });
}

/** In the schema that the URL names, which is made. */
export async function createPostgresMetadata(url: string, version: AirflowVersion): Promise<MetadataFixture> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create schema airflow');
  for (const statement of statementsOf(version, 'postgres')) await client.query(statement);
  return {
    async insert(table, ...rows) {
      for (const row of rows) {
        const names = Object.keys(row);
        const values = Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
        await client.query(
          `insert into ${table} (${quoted(names)}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
          values,
        );
      }
    },
    run: async (statement) => void (await client.query(statement)),
    close: () => client.end(),
  };
}

/** In an empty database of MySQL or MariaDB. */
export async function createMysqlMetadata(url: string, version: AirflowVersion): Promise<MetadataFixture> {
  const client = await createConnection(url);
  await client.query(`set session sql_mode = 'ANSI_QUOTES', time_zone = '+00:00'`);
  for (const statement of statementsOf(version, 'mysql')) await client.query(statement);
  return {
    async insert(table, ...rows) {
      for (const row of rows) {
        const names = Object.keys(row);
        const values = Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
        await client.query(
          `insert into ${table} (${quoted(names)}) values (${names.map(() => '?').join(', ')})`,
          values,
        );
      }
    },
    run: async (statement) => void (await client.query(statement)),
    close: () => client.end(),
  };
}

export const newFernetKey = (): string => randomBytes(32).toString('base64url').padEnd(44, '=');

export function fernetEncrypt(key: string, text: string): string {
  const bytes = Buffer.from(key, 'base64url');
  const header = Buffer.alloc(25, randomBytes(25));
  header[0] = 0x80;
  header.writeBigUInt64BE(1_700_000_000n, 1);
  const cipher = createCipheriv('aes-128-cbc', bytes.subarray(16), header.subarray(9));
  const body = Buffer.concat([header, cipher.update(text, 'utf8'), cipher.final()]);
  const signature = createHmac('sha256', bytes.subarray(0, 16)).update(body).digest();
  return Buffer.concat([body, signature]).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
