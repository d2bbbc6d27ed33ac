/**
 * A cluster as lite has it after its first start, its database migrated and empty, made once per test run: `initdb` and the
 * migrations take 2 s of CPU, a copy 0.1 s. Without a run there is none, and clusters are made as ever.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { LocalCluster } from '@svc/local-postgres/local-cluster.ts';
import { migrate } from '@svc/server/db/migrate.ts';

/** Names the folder to the processes of the run. */
const VARIABLE = 'SVC_TEST_PREPARED_CLUSTER';
const LITE = { name: 'svc', password: 'set anew at every start of lite' };
/** The migrated database of a prepared cluster. */
export const PREPARED_DATABASE = 'svc';

const copy = (from: string, to: string): Promise<unknown> =>
  promisify(execFile)('cp', ['-a', '--reflink=auto', '--sparse=always', from, to]);

/** From a cluster that was just started in `dataDir`, and is left as it was. */
export async function prepareCluster(cluster: LocalCluster, dataDir: string): Promise<void> {
  await cluster.asSuperuser(async (client) => {
    await client.query(`create role ${LITE.name} login password ${client.escapeLiteral(LITE.password)}`);
    await client.query(`create database ${PREPARED_DATABASE} owner ${LITE.name}`);
  });
  await migrate(cluster.url(PREPARED_DATABASE, LITE));
  await cluster.stop('fast');
  const folder = join(dirname(dataDir), 'prepared');
  await mkdir(folder);
  await place(dataDir, join(folder, 'postgres'));
  await cluster.start();
  await cluster.asSuperuser(async (client) => {
    await client.query(`drop database ${PREPARED_DATABASE}`);
    await client.query(`drop role ${LITE.name}`);
  });
  process.env[VARIABLE] = join(folder, 'postgres');
}

/** Into a directory that is not there yet, so that who opens it finds a cluster. Returns whether there was one. */
export async function placePreparedCluster(dataDir: string): Promise<boolean> {
  const prepared = process.env[VARIABLE];
  if (prepared === undefined || !existsSync(prepared)) return false;
  await mkdir(dirname(dataDir), { recursive: true });
  await place(prepared, dataDir);
  return true;
}

/** The password first: where there is a directory there has to be one. */
async function place(from: string, to: string): Promise<void> {
  await copy(`${from}.password`, `${to}.password`);
  await copy(from, to);
}
