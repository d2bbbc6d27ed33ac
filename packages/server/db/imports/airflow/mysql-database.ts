/** A metadata database in MySQL or MariaDB. */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions, RowDataPacket } from 'mysql2/promise';
import { CONNECT_TIMEOUT_MS } from './metadata-database.ts';
import type { MetadataDatabase, RawRow } from './metadata-database.ts';

export type MysqlAddress = {
  /** Without credentials. */
  name: string;
  options: ConnectionOptions;
};

const PARAMETERS = ['unix_socket', 'ssl_ca', 'ssl_cert', 'ssl_key', 'ssl_mode', 'charset'];
const SSL_MODES = ['DISABLED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY'];

/** SQLAlchemy passes the parameters of an address to the driver. Those that matter for reading are understood here. */
export function mysqlAddress(address: string): MysqlAddress | { problem: string } {
  const url = URL.parse(address.replace(/^[a-z0-9+]+:/i, 'mysql:'));
  const database = decodeURIComponent(url?.pathname.slice(1) ?? '');
  if (!url || database === '')
    return { problem: 'the address of the MySQL database is not a URL with its name: mysql://user@host:3306/airflow' };
  const unknown = [...url.searchParams.keys()].filter((name) => !PARAMETERS.includes(name));
  if (unknown.length > 0)
    return {
      problem: `the address of the MySQL database has ${unknown.join(', ')}, which is not understood here: leave it out (known are ${PARAMETERS.join(', ')})`,
    };
  const socketPath = url.searchParams.get('unix_socket');
  const encryption = encryptionOf(url.searchParams);
  if ('problem' in encryption) return encryption;
  return {
    name: socketPath === null ? `mysql://${url.host}/${database}` : `mysql://${database} (${socketPath})`,
    options: {
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database,
      ...(socketPath === null
        ? { host: url.hostname.replaceAll(/^\[|\]$/g, '') || 'localhost', port: Number(url.port || 3306) }
        : { socketPath }),
      ...encryption,
    },
  };
}

/** Follows the client programs of MySQL: `REQUIRED` encrypts but does not verify the server. */
function encryptionOf(parameters: URLSearchParams): Pick<ConnectionOptions, 'ssl'> | { problem: string } {
  const ca = parameters.get('ssl_ca');
  const mode = parameters.get('ssl_mode')?.toUpperCase() ?? (ca === null ? 'DISABLED' : 'VERIFY_CA');
  if (!SSL_MODES.includes(mode)) return { problem: `ssl_mode ${mode}: choose from ${SSL_MODES.join(', ')}` };
  if (mode === 'DISABLED') return {};
  try {
    const read = (name: string): string | undefined => {
      const file = parameters.get(name);
      return file === null ? undefined : readFileSync(file, 'utf8');
    };
    const [authority, cert, key] = ['ssl_ca', 'ssl_cert', 'ssl_key'].map(read);
    return {
      ssl: {
        ...(authority !== undefined && { ca: authority }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        rejectUnauthorized: mode !== 'REQUIRED',
        verifyIdentity: mode === 'VERIFY_IDENTITY',
      },
    };
  } catch (error) {
    return { problem: `a certificate of the address cannot be read: ${error instanceof Error ? error.message : ''}` };
  }
}

export async function openMysql({ options }: MysqlAddress): Promise<MetadataDatabase> {
  const mysql = await import('mysql2/promise'); // loaded only on use, because it takes time
  const client = await mysql.createConnection({
    ...options,
    charset: 'utf8mb4',
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Text as the server writes it: a JavaScript date would lose the microseconds, and a number digits.
    dateStrings: true,
    jsonStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
  });
  client.on('error', () => {}); // the pending or the next statement reports it
  const ask: MetadataDatabase['ask'] = async (statement, parameters = []) => {
    const values: (string | number | null)[] = [];
    const text = statement.replaceAll(/\$(\d+)/g, (_, number: string) => {
      values.push(parameters[Number(number) - 1] ?? null);
      return '?';
    });
    const [rows] = await client.query<(RawRow & RowDataPacket)[]>(text, values);
    return rows;
  };
  try {
    await refuseOldServer(ask);
    // Columns such as "key" and "schema" are quoted as in every other database. Dates are written in UTC.
    await client.query(`set session sql_mode = 'ANSI_QUOTES', time_zone = '+00:00'`);
    await client.query('set transaction isolation level repeatable read');
    await client.query('start transaction with consistent snapshot, read only');
    const idType = await typeOfIds(ask);
    return {
      ask,
      async columns(table) {
        const rows = await ask(
          'select column_name as name from information_schema.columns where table_name = $1 and table_schema = database()',
          [table],
        );
        return new Set(rows.map((row) => String(row['name'])));
      },
      isIn: (column, parameter) =>
        `${column} in (select id from json_table(${parameter}, '$[*]' columns (id ${idType} path '$')) as ids)`,
      rowsOf: (parameter, columns) => {
        const values = columns.map((name) => `${name} ${idType} path '$.${name}'`);
        return `json_table(${parameter}, '$[*]' columns (${values.join(', ')})) as k`;
      },
      date: (parameter) => `cast(${parameter} as datetime(6))`,
      dateText: (iso) => new Date(iso).toISOString().slice(0, 23).replace('T', ' '),
      close: () => client.end(),
    };
  } catch (error) {
    client.destroy();
    throw error;
  }
}

type Ask = MetadataDatabase['ask'];

/** Lists are passed as JSON, and older servers cannot turn it into a table. */
async function refuseOldServer(ask: Ask): Promise<void> {
  const [row] = await ask('select version() as version');
  const version = String(row?.['version']);
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const isMaria = /mariadb/i.test(version);
  if (isMaria ? major > 10 || (major === 10 && minor >= 6) : major >= 8) return;
  throw new Error(
    `its server is ${isMaria ? 'MariaDB' : 'MySQL'} ${version}; read are MySQL from 8.0 and MariaDB from 10.6 on. Give the address of Airflow's HTTP API instead (http…://)`,
  );
}

/**
 * Airflow's ids have a collation of their own. A comparison with text of another collation cannot use the index, and
 * most collations ignore case: "etl" would also find the runs of "ETL".
 */
async function typeOfIds(ask: Ask): Promise<string> {
  const [row] = await ask(
    `select character_set_name as charset, collation_name as collation_of from information_schema.columns
     where table_schema = database() and table_name = 'task_instance' and column_name = 'dag_id'`,
  );
  const { charset = 'utf8mb4', collation_of: collation = 'utf8mb4_bin' } = row ?? {};
  return `varchar(250) character set ${String(charset)} collate ${String(collation)}`;
}
