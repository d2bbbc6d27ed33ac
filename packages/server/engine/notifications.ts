/**
 * Processes of one control plane notify each other that something is to be done. A notification carries no message: truth is in
 * the tables, a lost one costs at most one tick, a repeated one nothing. One channel; many requests to notify become one
 * notification, because a transaction that notifies takes a global lock at its commit.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { KEEP_ALIVE, cutConnection } from '../db/watch-connection.ts';

const CHANNEL = 'svc_wake';
const COALESCE_MS = 10;
const RECONNECT_MS = 1_000;
/** A connection that only listens would never notice that it was lost on the way: it asks for a sign of life so often. */
const CHECK_EVERY_MS = 10_000;
const ANSWER_WITHIN_MS = 5_000;
const GOODBYE_MS = 2_000;

export type Notifications = { notifyOthers(): void; listen(): void; stop(): Promise<void> };

export function createNotifications(options: {
  url: string;
  /** With `pg_notify(channel, from)`. */
  send: (channel: string, from: string) => Promise<unknown>;
  /** Null: this process has nothing to do when it is notified. */
  onNotified: (() => void) | null;
  checkEveryMs?: number;
  answerWithinMs?: number;
}): Notifications {
  const { checkEveryMs = CHECK_EVERY_MS, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const self = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let client: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let check: NodeJS.Timeout | undefined;
  let isStopped = false;

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
    connection.on('notification', ({ payload }) => {
      if (payload !== self) options.onNotified?.(); // the sender has acted already
    });
    connection
      .connect()
      .then(() => connection.query(`listen ${CHANNEL}`))
      .then(() => {
        options.onNotified?.(); // what was sent while nobody listened
        return checkAgain();
      })
      .catch(again);
  }
  return {
    listen,
    notifyOthers() {
      timer ??= setTimeout(() => {
        timer = undefined;
        options.send(CHANNEL, self).catch(() => {}); // the tick finds it
      }, COALESCE_MS);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      clearTimeout(reconnect);
      clearTimeout(check);
      if (client) await endInTime(client);
    },
  };
}

/** With a goodbye, which may never be acknowledged. */
async function endInTime(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => cutConnection(client, 'Connection terminated: shutting down'), GOODBYE_MS);
  await client.end().catch(() => {});
  clearTimeout(cut);
}
