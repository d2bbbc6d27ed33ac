/**
 * A connection pool that survives outages of its database.
 *
 * - No connection can end the process: each has an error listener for its whole life. (pg's own pool listens only while
 *   a connection is idle, and an `error` event without a listener is an uncaught exception.)
 * - A connection that has met an outage is closed. It is never lent again and carries no further statement, because a
 *   rollback would only wait as well.
 * - Every wait is bounded: for a connection (connection-queue.ts), for an answer (stall-detector.ts), for the end of the
 *   pool.
 * - The caller sees every outage as `DatabaseUnavailableError`. A caller that found all connections in use sees
 *   `DatabaseBusyError`.
 * - Statements that are sent without waiting for one another go out in one write (see transaction.ts).
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { limitAnswers } from './answer-size.ts';
import { createStallDetector } from './stall-detector.ts';
import { KEEP_ALIVE, backendOf, createWatch, cutConnection } from './watch-connection.ts';
import type { Watch } from './watch-connection.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { momentFromPostgres } from './moment.ts';
import { createConnectionQueue, watchOpening } from './connection-queue.ts';
import type { LifeSigns, OpeningConnections, QueueLimits } from './connection-queue.ts';
import { DatabaseUnavailableError, meansOutage } from './outage.ts';
import { createPooledSession } from './pooled-session.ts';
import { createStatementNames, isForeignSession, isOutdatedStatement } from './prepared-statements.ts';

export type PoolLimits = QueueLimits & {
  /** How long a statement may be unanswered before the watch asks whether the database answers at all. */
  suspectAfterMs: number;
  /** How long connections above `maxIdle` stay open unused. */
  idleAboveMaxMs: number;
  /** How long `end` waits for acknowledgements before it closes sockets. */
  endGraceMs: number;
};

export type PoolOptions = {
  url: string;
  /** The address of Postgres itself, when `url` leads to a pooler in transaction mode. Empty or absent: it does not. */
  directUrl?: string | undefined;
  maxOpen: number;
  maxIdle: number;
  statementTimeoutMs: number;
  idleInTransactionTimeoutMs: number;
  applicationName: string;
  /** The limit for the answer to one statement. */
  maxAnswerBytes?: number | undefined;
  limits?: Partial<PoolLimits>;
  signs?: LifeSigns | undefined;
  onConnectionLost?: ((error: Error) => void) | undefined;
  /** Called with every failed statement that means an outage, with the driver's error. */
  onOutage?: ((error: Error) => void) | undefined;
};

export type Pool = PostgresPool & {
  usage(): { idle: number; busy: number; waiting: number };
  /** True when the other end of a connection is Postgres itself and not a pooler. */
  leadsToPostgres(): Promise<boolean>;
};

const DEFAULT_LIMITS: PoolLimits = {
  connectTimeoutMs: 5_000,
  openTimeoutMs: 20_000,
  suspectAfterMs: 2_000,
  idleAboveMaxMs: 10_000,
  endGraceMs: 2_000,
};

/**
 * Settings for many short statements, most of which use an index. Starting parallel workers takes Postgres longer than
 * nearly all of these statements, and so does compiling. Rows by an index are not four times as expensive as a full
 * scan: they are in memory, or on a disk without moving parts.
 */
const SESSION = ['set max_parallel_workers_per_gather = 0', 'set jit = off', 'set random_page_cost = 1.1'];

const IN_FAILED_TRANSACTION = '25P02';

/**
 * Postgres cancels at the statement timeout. If even that does not arrive, this connection is dead, but others may be
 * fine.
 */
const CANCEL_GRACE_MS = 2_000;

/**
 * The answer to a rollback on a lost connection: Postgres rolls back a transaction that cannot be committed any more. A
 * failure here would hide the error that caused the rollback.
 */
const ROLLED_BACK = { command: 'ROLLBACK', rowCount: 0, rows: [] };

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    // bigint ids and counts stay far below 2^53, and JSON needs numbers.
    if (oid === pg.types.builtins.INT8) return Number;
    if (oid === pg.types.builtins.TIMESTAMPTZ) return momentFromPostgres;
    // What authors wrote. jsonb contains our own numbers, with which we compute.
    if (oid === pg.types.builtins.JSON) return parseExact;
    return pg.types.getTypeParser(oid, format);
  },
};

export function openPool(options: PoolOptions): Pool {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const isPooled = Boolean(options.directUrl);
  const pooled = isPooled ? createPooledSession({ ...options, session: SESSION }) : undefined;
  const { signs = { answers: 0 } } = options;
  const countAnswers = (): number => signs.answers;
  const opening = watchOpening(countAnswers);
  const pool = createPgPool({ ...options, limits, opening });
  const open = new Set<pg.PoolClient>();
  /**
   * Connections whose prepared statements are invalid, or that may be lost. They are closed when they are released or
   * requested.
   */
  const worn = new WeakSet<pg.PoolClient>();
  pool.on('error', (error) => options.onConnectionLost?.(error));
  pool.on('connect', (client) => {
    open.add(client);
    client.on('error', () => {}); // for its whole life: see above
    client.once('end', () => open.delete(client));
    if (options.maxAnswerBytes !== undefined) limitAnswers(client, options.maxAnswerBytes);
    // Sent before the first statement. A user that may not set it works without.
    if (!pooled) client.query(SESSION.join('; '), () => {});
  });
  const stalls = createStallDetector({
    answers: countAnswers,
    suspectAfterMs: limits.suspectAfterMs,
    deadAfterMs: options.statementTimeoutMs > 0 ? options.statementTimeoutMs + CANCEL_GRACE_MS : Infinity,
    watch: watchOf(options, limits),
    onLost() {
      for (const client of open) worn.add(client);
    },
  });
  const { stillAnswers } = stalls;
  const queue = createConnectionQueue({ pool, opening, limits, answers: countAnswers, stillAnswers });

  const statements = createStatementNames();

  /**
   * Rejects with the driver's error, but sends a statement again without a name when its preparation is no longer
   * valid.
   */
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
      // In a transaction a repetition is useless, because Postgres has aborted it.
      if (client.getTransactionStatus() !== 'I') throw new DatabaseUnavailableError(error as Error, true);
      return ask(client, plain);
    }
  }

  /** Sends the statement in a transaction of its own. The commit ends it in any case: a failed one rolls back. */
  async function sendAlone(client: pg.PoolClient, begin: string, sql: string, parameters: unknown[]): Promise<unknown> {
    const begun = ask(client, { text: begin });
    const answered = send(client, sql, parameters);
    const committed = ask(client, { text: 'commit' });
    const [beginning, answer, end] = await Promise.allSettled([begun, answered, committed]);
    for (const each of [beginning, answer, end]) if (each.status === 'rejected') throw each.reason;
    return answer.status === 'fulfilled' ? answer.value : undefined;
  }

  /** The lent objects, one per connection, because Kysely keeps its state for a connection by this object. */
  const lendable = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  function makeLendable(client: pg.PoolClient): PostgresPoolClient {
    let fault: DatabaseUnavailableError | undefined; // permanent: the connection is closed when it is released
    const onError = (error: Error): void => {
      fault ??= new DatabaseUnavailableError(error, true);
    };
    client.on('error', onError);
    /** The error that has aborted the open transaction. */
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
     * Postgres refuses all statements after a failed one in the same transaction, with an error that does not name the
     * cause. Their error may be the first that a caller sees, so this returns the cause instead.
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
        const result = await (pooled ? sendPooled(pooled, sql, parameters) : send(client, sql, parameters));
        signs.answers += 1;
        return result;
      } catch (failure) {
        const error = explained(failure);
        // The error was created where the answer was read; this stack leads to the caller.
        if (error instanceof Error) Error.captureStackTrace(error);
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
      query: query as unknown as PostgresPoolClient['query'], // its other form, cursors, is not used here
      release: (destroy = false) => queue.release(client, destroy || fault !== undefined || worn.has(client)),
    };
  }

  async function connect(): Promise<PostgresPoolClient> {
    let client = await queue.connect();
    while (worn.has(client)) {
      client.release(true);
      cutConnection(client, 'Connection terminated: it may have been lost on the way');
      client = await queue.connect();
    }
    const lent = lendable.get(client) ?? makeLendable(client);
    lendable.set(client, lent);
    return lent;
  }

  async function leadsToPostgres(): Promise<boolean> {
    const client = await queue.connect();
    try {
      const { rows } = (await ask(client, { text: 'select pg_backend_pid() as pid' })) as { rows: { pid: number }[] };
      return rows[0]?.pid === backendOf(client);
    } finally {
      queue.release(client, false);
    }
  }

  let ended: Promise<void> | undefined;
  async function end(): Promise<void> {
    stalls.stop();
    const cut = setTimeout(() => {
      for (const client of open) cutConnection(client, 'Connection terminated: shutting down');
      opening.cut();
    }, limits.endGraceMs);
    await pool.end(); // does not wait for idle connections to close, and an open socket keeps a process from ending
    await Promise.all([...open].map((client) => new Promise<void>((closed) => client.once('end', closed))));
    clearTimeout(cut);
    queue.stop();
  }

  return {
    options: pool.options,
    connect,
    end: () => (ended ??= end()),
    leadsToPostgres,
    usage: () => ({ idle: pool.idleCount, busy: pool.totalCount - pool.idleCount, waiting: queue.waiting() }),
  };
}

/** Connects past a pooler, because a pooler lets clients wait for one another and has its own numbers for backends. */
function watchOf({ url, directUrl, applicationName }: PoolOptions, { connectTimeoutMs: timeoutMs }: PoolLimits): Watch {
  const watch = createWatch({ url: directUrl || url, timeoutMs, applicationName });
  return directUrl ? { ...watch, ask: () => watch.ask([]) } : watch;
}

function createPgPool(options: PoolOptions & { limits: PoolLimits; opening: OpeningConnections }): pg.Pool {
  const { limits, opening } = options;
  const isSession = !options.directUrl; // a pooler accepts no settings at connection time
  const statementTimeoutMs = isSession ? options.statementTimeoutMs : 0;
  const idleInTransactionTimeoutMs = isSession ? options.idleInTransactionTimeoutMs : 0;
  return new pg.Pool({
    connectionString: options.url,
    max: options.maxOpen,
    min: Math.min(options.maxIdle, options.maxOpen), // connections above this number close when idle
    idleTimeoutMillis: limits.idleAboveMaxMs,
    connectionTimeoutMillis: limits.openTimeoutMs,
    Client: opening.Client,
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
 * Uses a callback, and a time limit of our own (stall-detector.ts). The promise and the `query_timeout` of pg both
 * assign a function to the query, `query.callback = …`. V8 allocates such functions in its old generation. There they
 * retain the statement with its request and its answer until the whole heap is collected, and every small collection
 * must keep them.
 *
 * Statements with parameters use the extended protocol. Others use the simple one, in which one text may contain
 * several.
 */
function ask(client: pg.PoolClient, { text, values, name }: pg.QueryConfig): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const query = values?.length === 0 && name === undefined ? { text } : { text, values, name };
    client.query(query as pg.QueryConfig, (error: Error | null, result: unknown) =>
      error ? reject(error) : resolve(result),
    );
  });
}

/**
 * Sends the statements of one turn of the event loop in one write, because each write would wake the backend
 * separately.
 */
function writeTogether(client: pg.PoolClient): void {
  const { stream } = client.connection;
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
