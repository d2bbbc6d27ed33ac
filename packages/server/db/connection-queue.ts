/**
 * The requests that wait for a connection, first come first served.
 *
 * The pool of pg gives a new connection only to the request that made it open one, and that request gets no other. On
 * a busy machine, a connection may open slowly: Postgres has to start a process, and the password is hashed in a thread
 * that may have other work. So here a waiting request gets the first connection that is free, whether it is new or was
 * released by another request.
 *
 * How long a request waits:
 *
 *   - All connections are in use: `connectTimeoutMs`, then `DatabaseBusyError`.
 *   - A connection is opening, and the database has sent nothing since the request began to wait: `connectTimeoutMs`,
 *     then `DatabaseUnavailableError`.
 *   - A connection is opening, and the database has sent something: `openTimeoutMs`, then `DatabaseBusyError`.
 *
 * The time is counted in ticks of a timer and not read from a clock. When this process was paused or had no processor,
 * the answers of the database are still unread, and a clock would count the pause as silence of the database.
 */
import { Socket } from 'node:net';
import pg from 'pg';
import { DatabaseBusyError, DatabaseUnavailableError, meansOutage } from './outage.ts';

export type ConnectionQueue = {
  /** Rejects with a `DatabaseBusyError` or a `DatabaseUnavailableError`. */
  connect(): Promise<pg.PoolClient>;
  /** Gives the connection to the next request, or back to the pool. The pool closes it if `destroy` is true. */
  release(client: pg.PoolClient, destroy: boolean): void;
  waiting(): number;
  /** Refuses all requests that wait. */
  stop(): void;
};

/** How many statements the database has answered. All pools of one database share it. */
export type LifeSigns = { answers: number };

type Waiter = {
  resolve: (client: pg.PoolClient) => void;
  reject: (error: Error) => void;
  ticks: number;
  answersBefore: number;
  /** Why its own connection could not be opened, when it waits for one of the others. */
  refusal?: Error;
};

export type QueueLimits = {
  /** How long a request waits for a connection before it gets 503. */
  connectTimeoutMs: number;
  /** How long a connection may take to open. */
  openTimeoutMs: number;
};

const TICKS = 5;
const TOO_MANY_CONNECTIONS = '53300';

export function createConnectionQueue(options: {
  pool: pg.Pool;
  opening: Omit<OpeningConnections, 'Client' | 'cut'>;
  limits: QueueLimits;
  /** Returns how many statements the database has answered. */
  answers: () => number;
  /** Waits for a check of the database that is under way. */
  stillAnswers: () => Promise<boolean>;
}): ConnectionQueue {
  const { pool, opening, limits, answers, stillAnswers } = options;
  const openTicks = Math.ceil((limits.openTimeoutMs / limits.connectTimeoutMs) * TICKS);
  const waiters: Waiter[] = [];
  /** Requests to the pool that it has not answered. */
  let fetching = 0;

  function remove(waiter: Waiter | undefined): waiter is Waiter {
    const index = waiter ? waiters.indexOf(waiter) : -1;
    if (index >= 0) waiters.splice(index, 1);
    return index >= 0;
  }

  function arrived(client: pg.PoolClient): void {
    fetching -= 1;
    const waiter = waiters.shift();
    if (waiter) waiter.resolve(client);
    else client.release();
  }

  function failed(error: Error, starter: Waiter): void {
    fetching -= 1;
    if (waiters.length <= fetching) return; // each request that still waits has another connection under way
    const waiter = waiters.includes(starter) ? starter : waiters[0];
    const isFull = 'code' in error && error.code === TOO_MANY_CONNECTIONS;
    // One of our own connections becomes free sooner than others leave.
    if (waiter && isFull && pool.totalCount > 0) waiter.refusal = error;
    else if (remove(waiter)) waiter.reject(new DatabaseUnavailableError(error, meansOutage(error)));
  }

  async function giveUp(waiter: Waiter): Promise<void> {
    remove(waiter);
    if (waiter.refusal) return waiter.reject(new DatabaseUnavailableError(waiter.refusal, true));
    const count = opening.count();
    const isBusy = count > 0 ? hasLife(waiter) : await stillAnswers();
    if (!isBusy) return waiter.reject(new DatabaseUnavailableError(silence(count), true));
    const reason = `the database answers, but ${count} new connections to it open too slowly`;
    waiter.reject(count > 0 ? new DatabaseBusyError(reason) : new DatabaseBusyError());
  }

  const hasLife = (waiter: Waiter): boolean => answers() > waiter.answersBefore || opening.haveReceived();

  function isLate(waiter: Waiter): boolean {
    const mayBeOpened = opening.count() > 0 && !waiter.refusal && hasLife(waiter);
    return waiter.ticks > (mayBeOpened ? openTicks : TICKS);
  }

  function silence(count: number): Error {
    const seconds = limits.connectTimeoutMs / 1_000;
    return new Error(
      `timeout exceeded when trying to connect: no answer in ${seconds} s, ${count} connections opening`,
    );
  }

  function tick(): void {
    for (const waiter of waiters) waiter.ticks += 1;
    for (const waiter of waiters.filter(isLate)) void giveUp(waiter);
    opening.closeSilent(TICKS);
  }

  const timer = setInterval(tick, limits.connectTimeoutMs / TICKS).unref();
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        const waiter: Waiter = { resolve, reject, ticks: 0, answersBefore: answers() };
        waiters.push(waiter);
        fetching += 1;
        pool.connect().then(arrived, (error: Error) => failed(error, waiter));
      }),
    release(client, destroy) {
      // Those that wait in the pool itself get the connection from there.
      const next = destroy || pool.waitingCount > 0 ? undefined : waiters.shift();
      if (next) next.resolve(client);
      else client.release(destroy);
    },
    waiting: () => waiters.length,
    stop() {
      clearInterval(timer);
      const ended = new Error('Cannot use a pool after calling end on the pool');
      for (const waiter of waiters.splice(0)) waiter.reject(new DatabaseUnavailableError(ended, true));
    },
  };
}

export type OpeningConnections = {
  /** The class of which the pool makes its connections. */
  readonly Client: new () => pg.Client;
  count(): number;
  /** True when the server has sent something on one of them. */
  haveReceived(): boolean;
  /**
   * Closes those on which the server has sent nothing in so many calls, if it sent nothing on open connections either.
   * Otherwise, connections to a server that was away would take the place of others when it is back.
   */
  closeSilent(calls: number): void;
  cut(): void;
};

/** Knows the connections that are opening. The pool of pg tells of a connection only when it is open. */
export function watchOpening(answers: () => number): OpeningConnections {
  const opening = new Map<pg.Client, { calls: number; answersBefore: number }>();
  return {
    Client: class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        super(config);
        opening.set(this, { calls: 0, answersBefore: answers() });
        for (const event of ['connect', 'end']) this.once(event, () => opening.delete(this));
      }
    },
    count: () => opening.size,
    haveReceived: () => [...opening.keys()].some(hasReceived),
    closeSilent(calls) {
      for (const [client, seen] of opening) {
        seen.calls += 1;
        if (seen.calls <= calls || hasReceived(client) || answers() > seen.answersBefore) continue;
        client.connection.stream.destroy(new Error('timeout expired'));
      }
    },
    cut() {
      for (const client of opening.keys()) client.connection.stream.destroy();
    },
  };
}

const hasReceived = ({ connection: { stream } }: pg.Client): boolean =>
  stream instanceof Socket && stream.bytesRead > 0;
