/**
 * Asks the database on a separate connection, in bounded time: whether it answers at all, and what it knows about
 * silent connections. A backend that is idle while this process waits for it never got the statement, or its answer was
 * lost. The connection is then half open, as after a change of routes, or when a device between the two has dropped its
 * state.
 */
import pg from 'pg';

export type WatchAnswer = {
  answers: boolean;
  /** Backends that wait for this process while it waits for them, or that no longer exist. */
  lost: ReadonlySet<number>;
};

export type Watch = {
  ask(backends: readonly number[]): Promise<WatchAnswer>;
  /**
   * Ends backends whose clients are gone, because they keep their locks until they notice. Working backends are not
   * ended.
   */
  end(backends: readonly number[]): Promise<void>;
};

/**
 * Keepalive probes of the kernel on idle connections, ten times with a second between. By default they would start
 * after two hours.
 */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

const NONE: ReadonlySet<number> = new Set();

/** Only our backends, by name and user: another program's backend may have the same number by now. */
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
        // Behind a pooler the numbers are the pooler's own and say nothing about backends.
        if (!row || row.self !== backendOf(client)) return { answers: true, lost: NONE };
        const gone = backends.filter((backend) => !row.alive.includes(backend));
        return { answers: true, lost: new Set([...gone, ...row.waiting]) };
      });
    } catch (error) {
      // A refusal is an answer too; only silence is not.
      return { answers: error instanceof pg.DatabaseError, lost: NONE };
    }
  }

  return {
    ask,
    async end(backends) {
      const text = `select pg_terminate_backend(pid) from pg_stat_activity where ${WAITING}`;
      // Otherwise they end with idle_in_transaction_timeout, or when Postgres notices.
      await onNewConnection(options, (client) => client.query(text, [backends, applicationName])).catch(() => {});
    },
  };
}

/** The id that the server announced at connection time. The types of pg lack it. */
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
  client.on('error', () => {}); // the pending call reports it
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Neither awaited nor polite: an unreachable database would never acknowledge a goodbye.
    cutConnection(client, 'the watch has its answer');
  }
}

/** Closes the socket without the protocol's goodbye, which a database that does not answer would never acknowledge. */
export function cutConnection(client: Pick<pg.Client, 'connection'>, reason: string | Error): void {
  client.connection.stream.destroy(typeof reason === 'string' ? new Error(reason) : reason);
}
