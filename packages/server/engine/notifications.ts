/**
 * Processes of one control plane notify each other that something is to be done, or that attempts are to be stopped. A
 * notification carries no message: truth is in the tables, a lost one costs at most one tick (a stop: one heartbeat of the
 * agent), a repeated one nothing. The first goes out at once; what is wanted in the next moments becomes one, because a
 * transaction that notifies takes a global lock at its commit.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { KEEP_ALIVE, cutConnection } from '../db/watch-connection.ts';

const WAKE = 'svc_wake';
const STOP = 'svc_stop';
const COALESCE_MS = 10;
const RECONNECT_MS = 1_000;
/** A connection that only listens would never notice that it was lost on the way: it asks for a sign of life so often. */
const CHECK_EVERY_MS = 10_000;
const ANSWER_WITHIN_MS = 5_000;
const GOODBYE_MS = 2_000;

export type Notifications = {
  /** Something is to be done. */
  notifyOthers(): void;
  /** Attempts were superseded that may run elsewhere. */
  notifyStops(): void;
  listen(): void;
  stop(): Promise<void>;
};

export function createNotifications(options: {
  url: string;
  /** With `pg_notify(channel, from)`. */
  send: (channel: string, from: string) => Promise<unknown>;
  /** Null: this process has nothing to do when it is notified. */
  onNotified: (() => void) | null;
  /** Attempts of this process may have been superseded. */
  onStops?: () => void;
  checkEveryMs?: number;
  answerWithinMs?: number;
}): Notifications {
  const { checkEveryMs = CHECK_EVERY_MS, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const self = randomUUID();
  let client: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let check: NodeJS.Timeout | undefined;
  let isStopped = false;
  const wake = createSender(() => options.send(WAKE, self));
  const stops = createSender(() => options.send(STOP, self));

  function listen(): void {
    if (isStopped || !options.onNotified) return;
    const connection = new pg.Client({
      connectionString: options.url,
      application_name: 'svc listen',
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
      ...KEEP_ALIVE,
    });
    client = connection;
    const again = (): void => {
      if (client !== connection || isStopped) return;
      client = undefined;
      clearTimeout(check);
      cutConnection(connection, 'listens no more'); // what does not answer does not say goodbye either
      reconnect = setTimeout(listen, RECONNECT_MS);
    };
    const checkAgain = (): void => {
      if (client !== connection || isStopped) return;
      check = setTimeout(() => connection.query('select 1').then(checkAgain).catch(again), checkEveryMs).unref();
    };
    connection.on('error', again);
    connection.on('end', again);
    connection.on('notification', ({ channel, payload }) => {
      if (payload === self) return; // the sender has acted already
      if (channel === STOP) options.onStops?.();
      else options.onNotified?.();
    });
    connection
      .connect()
      .then(() => connection.query(`listen ${WAKE}; listen ${STOP}`))
      .then(() => {
        options.onNotified?.(); // what was sent while nobody listened
        options.onStops?.();
        return checkAgain();
      })
      .catch(again);
  }
  return {
    listen,
    notifyOthers: wake.send,
    notifyStops: stops.send,
    async stop() {
      isStopped = true;
      wake.close();
      stops.close();
      clearTimeout(reconnect);
      clearTimeout(check);
      if (client) await endInTime(client);
    },
  };
}

/** At once when none was sent lately; otherwise one more, when the time has passed. */
function createSender(send: () => Promise<unknown>): { send(): void; close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  function sendNow(): void {
    send().catch(() => {}); // the tick finds it
    timer = setTimeout(() => {
      timer = undefined;
      if (isWanted) sendNow();
    }, COALESCE_MS);
    isWanted = false;
  }
  return {
    send: () => (timer === undefined ? sendNow() : void (isWanted = true)),
    close: () => clearTimeout(timer),
  };
}

/** With a goodbye, which may never be acknowledged. */
async function endInTime(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => cutConnection(client, 'Connection terminated: shutting down'), GOODBYE_MS);
  await client.end().catch(() => {});
  clearTimeout(cut);
}
