/**
 * A word between the processes of one control plane that something is to be done. It carries no message: truth is in the
 * tables, a lost word costs at most one tick, a repeated one nothing. One channel; many wishes to speak become one word,
 * because a transaction that notifies takes a global lock at its commit.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const CHANNEL = 'svc_wake';
const COALESCE_MS = 10;
const RECONNECT_MS = 1_000;

export type WakeUps = { say(): void; listen(): void; stop(): Promise<void> };

export function createWakeUps(options: {
  url: string;
  /** Says the word with `pg_notify(channel, from)`. */
  notify: (channel: string, from: string) => Promise<unknown>;
  /** Null: this process has nothing to do when it is woken. */
  onWake: (() => void) | null;
}): WakeUps {
  const self = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let client: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let isStopped = false;

  function listen(): void {
    if (isStopped || !options.onWake) return;
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
      if (payload !== self) options.onWake?.(); // who spoke has acted already
    });
    connection
      .connect()
      .then(() => connection.query(`listen ${CHANNEL}`))
      .then(() => options.onWake?.()) // what was said while nobody listened
      .catch(again);
  }
  return {
    listen,
    say() {
      timer ??= setTimeout(() => {
        timer = undefined;
        options.notify(CHANNEL, self).catch(() => {}); // the tick finds it
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
