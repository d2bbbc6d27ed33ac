/**
 * Asks the database on a connection of its own, in bounded time: whether it answers at all, and what it knows of connections on
 * which nothing was heard for a while. A backend that is idle while we wait for it never got the statement, or its answer got
 * lost: the connection is half open, as after a change of routes, or when something between the two has forgotten it.
 */
import pg from 'pg';

export type WatchAnswer = {
  answers: boolean;
  /** Those of the backends that wait for us while we wait for them, or that are no more. */
  lost: ReadonlySet<number>;
};

export type Watch = {
  ask(backends: readonly number[]): Promise<WatchAnswer>;
  /** Ends backends whose clients are gone: they hold their locks for as long as they do not know. Those that are at work stay. */
  end(backends: readonly number[]): Promise<void>;
};

/** The kernel asks idle connections for a sign of life, ten times with a second between: the default is to begin after two hours. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

const NONE: ReadonlySet<number> = new Set();

/** Ours by name and user: a number can have passed to somebody else's backend. */
const WAITING =
  "pid = any($1::int[]) and state like 'idle%' and application_name = $2 and usename = current_user and datname = current_database()";

export function createWatch(options: { url: string; timeoutMs: number; applicationName: string }): Watch {
  const { applicationName } = options;

  async function ask(backends: readonly number[]): Promise<WatchAnswer> {
    try {
      return await onNewConnection(options, async (client) => {
        const { rows } = await client.query<{ self: number; alive: number[]; waiting: number[] }>(
          `select pg_backend_pid() as self, array(select pid from pg_stat_activity where pid = any($1::int[])) as alive,
            array(select pid from pg_stat_activity where ${WAITING}) as waiting`,
          [backends, applicationName],
        );
        const [row] = rows;
        // Behind a pooler the numbers are the pooler's own, and say nothing about backends.
        if (!row || row.self !== backendOf(client)) return { answers: true, lost: NONE };
        const gone = backends.filter((backend) => !row.alive.includes(backend));
        return { answers: true, lost: new Set([...gone, ...row.waiting]) };
      });
    } catch (error) {
      return { answers: error instanceof pg.DatabaseError, lost: NONE }; // a refusal is an answer too: only silence is not
    }
  }

  return {
    ask,
    async end(backends) {
      const text = `select pg_terminate_backend(pid) from pg_stat_activity where ${WAITING}`;
      // Without it they end with idle_in_transaction_timeout, or when Postgres notices by itself.
      await onNewConnection(options, (client) => client.query(text, [backends, applicationName])).catch(() => {});
    },
  };
}

/** What the server said when the connection was made; not in the types of pg. */
export const backendOf = (client: pg.Client): number | undefined =>
  (client as { processID?: number | null }).processID ?? undefined;

async function onNewConnection<T>(
  { url, timeoutMs }: { url: string; timeoutMs: number },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'svc watch',
  });
  client.on('error', () => {}); // surfaces through the call that was waiting
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Not awaited and not polite: the goodbye of a database that is away would be awaited for ever.
    cutConnection(client, 'the watch has its answer');
  }
}

/** Closes the socket without the protocol's goodbye, which a database that does not answer would never acknowledge. */
export function cutConnection(client: pg.Client, reason: string): void {
  client.connection.stream.destroy(new Error(reason));
}
