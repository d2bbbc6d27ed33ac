/**
 * Finds what is between this process and Postgres, and whether svc can work with it. A connection pooler (PgBouncer,
 * RDS Proxy, …) gives a client a different backend than the one it announces, which reveals it.
 *
 *   no pooler                     fine
 *   pooler in session mode        fine, when it accepts our settings; otherwise like the next
 *   pooler in transaction mode    only with `database.direct_url`, for sessions: LISTEN, and changes of the schema
 *   pooler in statement mode      never: there are no transactions
 */
import pg from 'pg';
import { backendOf } from './watch-connection.ts';

/** The part of the configuration that it needs. */
export type DatabasePath = {
  database: { url: string; directUrl: string; statementTimeout: number; idleInTransactionTimeout: number };
};

/** A message for the operator: which key, what is wrong, what to do. */
export class DatabasePathError extends Error {}

/** Returns the address for sessions: that of Postgres itself, if the operator has set one. */
export const sessionUrl = ({ database }: DatabasePath): string => database.directUrl || database.url;

const TIMEOUT_MS = 5_000;
const LOOKS = 3;

const SET_DIRECT_URL =
  'set SVC_DATABASE_DIRECT_URL to the address of Postgres itself, for the few sessions that svc needs (docs/operations.md)';

/**
 * Returns the setting that was refused. Postgres knows all of our settings, but PgBouncer refuses those that it does
 * not track, unless it is configured to ignore them.
 */
export function refusedSetting(error: unknown): string | undefined {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const [, name] =
    /unsupported startup parameter(?: in options)?: (\w+)/.exec((inner as Error | undefined)?.message ?? '') ?? [];
  return name;
}

export const settingRefused = (key: string, name: string): DatabasePathError =>
  new DatabasePathError(
    `${key} leads to a connection pooler that refuses the setting ${name}: ${key === 'database.url' ? SET_DIRECT_URL : 'set it to the address of Postgres itself'}`,
  );

/** Throws a `DatabasePathError`, or the driver's error when nothing answers. */
export async function checkDatabasePath({ database }: DatabasePath): Promise<void> {
  const { url, directUrl } = database;
  const settings = sessionSettings(database);
  if (directUrl === '') return checkSessions('database.url', url, settings);
  await checkSessions('database.direct_url', directUrl, settings);
  const there = await withClient(directUrl, {}, whichDatabase);
  const here = await withClient(url, {}, async (client) => {
    if (!(await isPostgres(client))) await refuseStatementMode(client);
    return whichDatabase(client);
  });
  if (here !== there)
    throw new DatabasePathError(
      'database.url and database.direct_url lead to different databases: they must be the same one',
    );
}

type Settings = Pick<pg.ClientConfig, 'statement_timeout' | 'idle_in_transaction_session_timeout'>;

const sessionSettings = ({ statementTimeout, idleInTransactionTimeout }: DatabasePath['database']): Settings => ({
  ...(statementTimeout > 0 && { statement_timeout: statementTimeout }),
  ...(idleInTransactionTimeout > 0 && { idle_in_transaction_session_timeout: idleInTransactionTimeout }),
});

async function checkSessions(
  key: 'database.url' | 'database.direct_url',
  url: string,
  settings: Settings,
): Promise<void> {
  await withClient(url, settings, async (client) => {
    if (await isPostgres(client)) return;
    await refuseStatementMode(client);
    if (!(await withClient(url, settings, (other) => shareBackends(client, other)).catch(() => false))) return;
    throw new DatabasePathError(
      key === 'database.url'
        ? `${key} leads to a connection pooler in transaction mode: ${SET_DIRECT_URL}`
        : `${key} leads to a connection pooler in transaction mode, where no session lasts: set it to the address of Postgres itself`,
    );
  }).catch((error: unknown) => {
    const refused = refusedSetting(error);
    throw refused === undefined ? error : settingRefused(key, refused);
  });
}

async function withClient<T>(url: string, settings: Settings, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    application_name: 'svc check',
    ...settings,
  });
  client.on('error', () => {}); // the pending call reports it
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function backend(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

const isPostgres = async (client: pg.Client): Promise<boolean> => (await backend(client)) === backendOf(client);

async function refuseStatementMode(client: pg.Client): Promise<void> {
  try {
    await client.query('begin');
    await client.query('rollback');
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new DatabasePathError(
      `the connection pooler that database.url leads to allows no transactions (${error.message}): set its pool_mode to transaction, or database.url to the address of Postgres itself`,
    );
  }
}

/**
 * True when two clients get the same backend alternately: while one is in a transaction, the other's backend may
 * change.
 */
async function shareBackends(one: pg.Client, other: pg.Client): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    const before = await backend(one);
    await other.query('begin');
    const taken = await backend(other);
    const after = await backend(one);
    await other.query('rollback');
    if (taken === before || after !== before) return true;
  }
  return false;
}

/** Includes the id of the cluster if we may read it, because database names repeat. */
async function whichDatabase(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  const cluster = await client
    .query<{ id: string }>('select system_identifier::text as id from pg_control_system()')
    .then(({ rows: [row] }) => row?.id ?? '')
    .catch(() => '');
  return `${cluster}/${rows[0]?.name ?? ''}`;
}
