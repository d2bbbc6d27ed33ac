/**
 * A connection pool that outlives its database.
 *
 *   - No connection can end the process: each has an error listener for its whole life. (pg's own pool listens only while
 *     a connection is idle, and an `error` event nobody listens to is an uncaught exception.)
 *   - A connection on which an outage was seen is closed, never lent again, and carries no further statement: a rollback
 *     sent after it would only wait as well.
 *   - Every wait is bounded: for a connection, for an answer (stall-detector.ts), for the end of the pool.
 *   - What the caller sees of an outage is always `DatabaseUnavailableError`; who waited in vain while all connections were at
 *     work sees `DatabaseBusyError`.
 *   - Statements that are sent without waiting for one another travel together (see transaction.ts).
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { createStallDetector } from './stall-detector.ts';
import { KEEP_ALIVE, backendOf, createWatch, cutConnection } from './watch-connection.ts';
import type { Watch } from './watch-connection.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { momentFromPostgres } from './moment.ts';
import { DatabaseBusyError, DatabaseUnavailableError, meansOutage } from './outage.ts';
import { createPooledSession } from './pooled-session.ts';
import { createStatementNames, isForeignSession, isOutdatedStatement } from './prepared-statements.ts';

export type PoolLimits = {
  /** How long a request waits for a connection before it is told 503. */
  connectTimeoutMs: number;
  /** How long a statement may go unanswered before the watch asks whether the database still answers at all. */
  suspectAfterMs: number;
  /** How long connections above `maxIdle` stay open unused. */
  idleAboveMaxMs: number;
  /** How long `end` waits for goodbyes before it closes sockets without. */
  endGraceMs: number;
};

export type PoolOptions = {
  url: string;
  /** Of Postgres itself, when `url` leads through a pooler in transaction mode; empty or absent: it does not. */
  directUrl?: string | undefined;
  maxOpen: number;
  maxIdle: number;
  statementTimeoutMs: number;
  idleInTransactionTimeoutMs: number;
  applicationName: string;
  limits?: Partial<PoolLimits>;
  onConnectionLost?: ((error: Error) => void) | undefined;
  /** Receives every failure of a statement that means an outage, as the driver threw it. */
  onOutage?: ((error: Error) => void) | undefined;
};

export type Pool = PostgresPool & {
  usage(): { idle: number; busy: number; waiting: number };
  /** Whether the other end of a connection is Postgres itself, and no pooler. */
  leadsToPostgres(): Promise<boolean>;
};

const DEFAULT_LIMITS: PoolLimits = {
  connectTimeoutMs: 5_000,
  suspectAfterMs: 2_000,
  idleAboveMaxMs: 10_000,
  endGraceMs: 2_000,
};

/**
 * Many short statements at once, most of which follow an index. To start parallel workers takes Postgres longer than nearly all of
 * them (the gantt of 1,000 tasks: 3 ms of work, 30 with two workers), and so does compiling a plan; and rows by an index are not
 * four times as dear as those of a table that is read whole: they are in memory, or on a disk that does not turn.
 */
const SESSION = ['set max_parallel_workers_per_gather = 0', 'set jit = off', 'set random_page_cost = 1.1'];

const IN_FAILED_TRANSACTION = '25P02';

/** Postgres cancels at the statement timeout. When even that does not arrive, this connection is dead and the rest is not. */
const CANCEL_GRACE_MS = 2_000;

/**
 * The answer to a rollback on a lost connection: Postgres rolls back what nobody can commit any more. A failure would take
 * the place of the error that caused the rollback, and that one says what happened.
 */
const ROLLED_BACK = { command: 'ROLLBACK', rowCount: 0, rows: [] };

/** What pg says when there was no connection in time, whether none could be opened or none was given back. */
const WAITED_IN_VAIN = 'timeout exceeded when trying to connect';

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    // bigint identities and counts stay far below 2^53; a number is what JSON wants.
    if (oid === pg.types.builtins.INT8) return Number;
    if (oid === pg.types.builtins.TIMESTAMPTZ) return momentFromPostgres;
    // What authors wrote; jsonb holds our own numbers, which are computed with.
    if (oid === pg.types.builtins.JSON) return parseExact;
    return pg.types.getTypeParser(oid, format);
  },
};

export function openPool(options: PoolOptions): Pool {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const isPooled = Boolean(options.directUrl);
  const pooled = isPooled ? createPooledSession({ ...options, session: SESSION }) : undefined;
  const pool = createPgPool(options, limits);
  const open = new Set<pg.PoolClient>();
  /** Connections whose prepared statements are no good any more, or that may be lost: closed when they come back or are asked for. */
  const worn = new WeakSet<pg.PoolClient>();
  pool.on('error', (error) => options.onConnectionLost?.(error));
  pool.on('connect', (client) => {
    open.add(client);
    client.on('error', () => {}); // for its whole life: see above
    client.once('end', () => open.delete(client));
    if (!pooled) client.query(SESSION.join('; '), () => {}); // leaves before the first statement; who cannot set it works without
  });
  const stalls = createStallDetector({
    suspectAfterMs: limits.suspectAfterMs,
    deadAfterMs: options.statementTimeoutMs > 0 ? options.statementTimeoutMs + CANCEL_GRACE_MS : Infinity,
    watch: watchOf(options, limits),
    onLost() {
      for (const client of open) worn.add(client);
    },
  });

  const statements = createStatementNames();

  /** Throws what the driver throws, except that a statement whose preparation has become worthless is sent again plainly. */
  async function send(client: pg.PoolClient, sql: string, parameters: unknown[]): Promise<unknown> {
    const name = parameters.length > 0 && !pooled ? statements.nameFor(sql) : undefined;
    const plain = { text: sql, values: parameters };
    if (name === undefined) return ask(client, plain);
    try {
      return await ask(client, { name, ...plain });
    } catch (error) {
      const isForeign = isForeignSession(error);
      if (!isForeign && !isOutdatedStatement(error)) throw error;
      if (isForeign) statements.stop();
      worn.add(client);
      // In a transaction there is nothing to save: Postgres has given it up.
      if (client.getTransactionStatus() !== 'I') throw new DatabaseUnavailableError(error as Error, true);
      return ask(client, plain);
    }
  }

  /** In a transaction of its own, which ends whatever becomes of the statement: a commit of a failed one rolls back. */
  async function sendAlone(client: pg.PoolClient, begin: string, sql: string, parameters: unknown[]): Promise<unknown> {
    const begun = ask(client, { text: begin });
    const answered = send(client, sql, parameters);
    const committed = ask(client, { text: 'commit' });
    const [beginning, answer, end] = await Promise.allSettled([begun, answered, committed]);
    for (const each of [beginning, answer, end]) if (each.status === 'rejected') throw each.reason;
    return answer.status === 'fulfilled' ? answer.value : undefined;
  }

  /** As they are lent, the same object each time: Kysely keeps what it knows of a connection by it. */
  const lendable = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  function makeLendable(client: pg.PoolClient): PostgresPoolClient {
    let fault: DatabaseUnavailableError | undefined; // for good: it is closed when it comes back
    const onError = (error: Error): void => {
      fault ??= new DatabaseUnavailableError(error, true);
    };
    client.on('error', onError);
    /** Why the transaction that is open on it was given up. */
    let givenUp: Error | undefined;
    let isInTransaction = false;

    function sendPooled(session: NonNullable<typeof pooled>, sql: string, parameters: unknown[]): Promise<unknown> {
      const beginning = session.beginning(sql);
      if (beginning !== undefined) {
        isInTransaction = true;
        return send(client, beginning, []);
      }
      if (!isInTransaction) return sendAlone(client, session.begin, sql, parameters);
      if (sql === 'commit' || sql === 'rollback') isInTransaction = false;
      return send(client, sql, parameters);
    }

    /**
     * Statements that travel together with one that fails are all refused, for that reason only, and theirs may be the
     * failure that is looked at first: what is told is why.
     */
    function explained(error: unknown): unknown {
      if (!(error instanceof pg.DatabaseError)) return error;
      if (error.code === IN_FAILED_TRANSACTION) return givenUp ?? error;
      if (client.getTransactionStatus() !== 'I') givenUp ??= error;
      return error;
    }

    async function query(sql: string, parameters: unknown[]): Promise<unknown> {
      if (fault && sql === 'rollback') return ROLLED_BACK;
      if (fault) throw fault;
      const answered = stalls.sent(client);
      writeTogether(client);
      if (sql === 'rollback' || sql.startsWith('begin')) givenUp = undefined;
      try {
        return await (pooled ? sendPooled(pooled, sql, parameters) : send(client, sql, parameters));
      } catch (failure) {
        const error = explained(failure);
        if (error instanceof Error) Error.captureStackTrace(error); // it was made where the answer was read; this leads to who asked
        if (!meansOutage(error)) throw error;
        options.onOutage?.(error);
        onError(error);
        if (sql === 'rollback') return ROLLED_BACK;
        throw fault ?? error;
      } finally {
        answered();
      }
    }

    return {
      query: query as unknown as PostgresPoolClient['query'], // cursors, its other form, are not used here
      release: (destroy = false) => client.release(destroy || fault !== undefined || worn.has(client)),
    };
  }

  async function connect(): Promise<PostgresPoolClient> {
    let client = await connectOrExplain();
    while (worn.has(client)) {
      client.release(true);
      cutConnection(client, 'Connection terminated: it may have been lost on the way');
      client = await connectOrExplain();
    }
    const lent = lendable.get(client) ?? makeLendable(client);
    lendable.set(client, lent);
    return lent;
  }

  async function connectOrExplain(): Promise<pg.PoolClient> {
    return pool.connect().catch(async (error: Error) => {
      const isFull = error.message === WAITED_IN_VAIN && open.size >= options.maxOpen;
      if (isFull && (await stalls.stillAnswers())) throw new DatabaseBusyError();
      throw new DatabaseUnavailableError(error, meansOutage(error));
    });
  }

  async function leadsToPostgres(): Promise<boolean> {
    const client = await connectOrExplain();
    try {
      const { rows } = (await ask(client, { text: 'select pg_backend_pid() as pid' })) as { rows: { pid: number }[] };
      return rows[0]?.pid === backendOf(client);
    } finally {
      client.release();
    }
  }

  let ended: Promise<void> | undefined;
  async function end(): Promise<void> {
    stalls.stop();
    const cut = setTimeout(() => {
      for (const client of open) cutConnection(client, 'Connection terminated: shutting down');
    }, limits.endGraceMs);
    await pool.end(); // does not wait for idle connections to close, and an open socket keeps a process from ending
    await Promise.all([...open].map((client) => new Promise<void>((closed) => client.once('end', closed))));
    clearTimeout(cut);
  }

  return {
    options: pool.options,
    connect,
    end: () => (ended ??= end()),
    leadsToPostgres,
    usage: () => ({ idle: pool.idleCount, busy: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
  };
}

/** Past a pooler, which makes its clients wait for one another, and whose numbers of backends are its own. */
function watchOf({ url, directUrl, applicationName }: PoolOptions, { connectTimeoutMs: timeoutMs }: PoolLimits): Watch {
  const watch = createWatch({ url: directUrl || url, timeoutMs, applicationName });
  return directUrl ? { ...watch, ask: () => watch.ask([]) } : watch;
}

function createPgPool(options: PoolOptions, limits: PoolLimits): pg.Pool {
  const isSession = !options.directUrl; // a pooler takes no settings when it is connected to
  const statementTimeoutMs = isSession ? options.statementTimeoutMs : 0;
  const idleInTransactionTimeoutMs = isSession ? options.idleInTransactionTimeoutMs : 0;
  return new pg.Pool({
    connectionString: options.url,
    max: options.maxOpen,
    min: Math.min(options.maxIdle, options.maxOpen), // connections above this close when idle
    idleTimeoutMillis: limits.idleAboveMaxMs,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    ...(statementTimeoutMs > 0 && {
      statement_timeout: statementTimeoutMs,
    }),
    ...(idleInTransactionTimeoutMs > 0 && { idle_in_transaction_session_timeout: idleInTransactionTimeoutMs }),
    ...KEEP_ALIVE,
    pipeline: true,
    application_name: options.applicationName,
    types,
  });
}

/**
 * With a callback of our own, as with a limit of time of our own (stall-detector.ts): pg's promise and its `query_timeout` both
 * put a function into the query, `query.callback = …`, and V8 makes functions that are assigned to properties in its old
 * generation. There they hold on to all that the statement was for, the request and its answer, until the whole heap is
 * collected; and every small collection has to keep it: 5 to 15 ms instead of 1.
 *
 * Statements with parameters take the extended protocol, those without the simple one, in which several can be one text.
 */
function ask(client: pg.PoolClient, { text, values, name }: pg.QueryConfig): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const query = values?.length === 0 && name === undefined ? { text } : { text, values, name };
    client.query(query as pg.QueryConfig, (error: Error | null, result: unknown) =>
      error ? reject(error) : resolve(result),
    );
  });
}

/** What is sent in one turn of the event loop leaves in one write: each would wake the backend by itself otherwise. */
function writeTogether(client: pg.PoolClient): void {
  const { stream } = client.connection;
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
