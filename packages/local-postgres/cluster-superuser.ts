/** The superuser of a local cluster that another process has started: for copies of the whole, which no other user may make. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

export type Superuser = Pick<pg.Client, 'query'>;

const CONNECT_TIMEOUT_MS = 10_000;

/** One session: what it holds ends with it. Rejects when no Postgres runs on the directory. */
export async function asClusterSuperuser<T>(dataDir: string, use: (client: Superuser) => Promise<T>): Promise<T> {
  const password = (await readFile(`${dataDir}.password`, 'utf8')).trim();
  // Postgres itself writes its port into the fourth line of this file.
  const port = Number((await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n')[3]);
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password,
    database: 'postgres',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => {}); // a cluster stopped under us surfaces through the query, not as a crash
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
