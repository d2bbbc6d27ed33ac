/**
 * Processes of one control plane notify each other that something is to be done. A notification carries no message: truth is in
 * the tables, a lost one costs at most one tick, a repeated one nothing. One channel; many requests to notify become one
 * notification, because a transaction that notifies takes a global lock at its commit.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const CHANNEL = 'svc_wake';
const COALESCE_MS = 10;
const RECONNECT_MS = 1_000;

export type Notifications = { notifyOthers(): void; listen(): void; stop(): Promise<void> };

export function createNotifications(options: {
  url: string;
  /** With `pg_notify(channel, from)`. */
  send: (channel: string, from: string) => Promise<unknown>;
  /** Null: this process has nothing to do when it is notified. */
  onNotified: (() => void) | null;
}): Notifications {
  const self = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let client: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let isStopped = false;

  function listen(): void {
    if (isStopped || !options.onNotified) return;
    const connection = new pg.Client({
      connectionString: options.url,
      application_name: 'svc listen',
      keepAlive: true,
    });
    client = connection;
    const again = (): void => {
      if (client !== connection || isStopped) return;
      client = undefined;
      connection.end().catch(() => {});
      reconnect = setTimeout(listen, RECONNECT_MS);
    };
    connection.on('error', again);
    connection.on('end', again);
    connection.on('notification', ({ payload }) => {
      if (payload !== self) options.onNotified?.(); // the sender has acted already
    });
    connection
      .connect()
      .then(() => connection.query(`listen ${CHANNEL}`))
      .then(() => options.onNotified?.()) // what was sent while nobody listened
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
      await client?.end().catch(() => {});
    },
  };
}
