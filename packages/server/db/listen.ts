/**
 * A dedicated connection that listens to Postgres channels until it is stopped. When it is lost, another one is opened.
 */
import pg from 'pg';
import { KEEP_ALIVE, cutConnection } from './watch-connection.ts';

const RECONNECT_MS = 1_000;
/** A connection that only listens would not notice that it is lost, so it runs a query this often. */
const CHECK_EVERY_MS = 10_000;
const ANSWER_WITHIN_MS = 5_000;
const GOODBYE_MS = 2_000;

export type Listening = { stop(): Promise<void> };

export function listenTo(options: {
  url: string;
  channels: readonly string[];
  onNotification: (payload: string, channel: string) => void;
  /** Called after every connect, because notifications from before are lost. */
  onListening: () => void;
  checkEveryMs?: number;
  answerWithinMs?: number;
}): Listening {
  const { checkEveryMs = CHECK_EVERY_MS, answerWithinMs = ANSWER_WITHIN_MS } = options;
  let client: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let check: NodeJS.Timeout | undefined;
  let isStopped = false;

  function connect(): void {
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
      cutConnection(connection, 'listens no more'); // a connection that does not answer does not say goodbye either
      reconnect = setTimeout(connect, RECONNECT_MS);
    };
    const checkAgain = (): void => {
      if (client !== connection || isStopped) return;
      check = setTimeout(() => connection.query('select 1').then(checkAgain).catch(again), checkEveryMs).unref();
    };
    connection.on('error', again);
    connection.on('end', again);
    connection.on('notification', ({ payload, channel }) => options.onNotification(payload ?? '', channel));
    connection
      .connect()
      .then(() => connection.query(options.channels.map((channel) => `listen ${channel}`).join('; ')))
      .then(() => {
        options.onListening();
        return checkAgain();
      })
      .catch(again);
  }
  connect();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(reconnect);
      clearTimeout(check);
      if (client) await endInTime(client);
    },
  };
}

/** Ends the connection with a goodbye, which may never be acknowledged. */
async function endInTime(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => cutConnection(client, 'Connection terminated: shutting down'), GOODBYE_MS);
  await client.end().catch(() => {});
  clearTimeout(cut);
}
