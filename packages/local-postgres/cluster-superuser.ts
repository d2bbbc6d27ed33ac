/**
 * Connects as superuser to a local cluster that another process has started. Only a superuser may copy a whole cluster.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

export type Superuser = Pick<pg.Client, 'query'>;

const CONNECT_TIMEOUT_MS = 10_000;

/** Runs `use` in one session, whose locks and backups end with it. Rejects if no Postgres runs on the directory. */
export async function asClusterSuperuser<T>(dataDir: string, use: (client: Superuser) => Promise<T>): Promise<T> {
  const password = (await readFile(`${dataDir}.password`, 'utf8')).trim();
  // Postgres writes its port to the fourth line of this file.
  const port = Number((await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n')[3]);
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password,
    database: 'postgres',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => {}); // if the cluster stops, the query fails; without a listener the process would crash
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
