/** Vitest's global set-up: one Postgres cluster per run, and in it a migrated template that every test file clones. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openLocalCluster } from '@svc/local-postgres/local-cluster.ts';
import { migrate } from '@svc/server/db/migrate.ts';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { TEMPLATE_DATABASE } from './test-database.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-test-'));
  await chmod(directory, 0o755); // a root caller's cluster runs as another user and must reach its own directory
  const cleanedUp = endsWithThisProcess({ directory });
  const cluster = await openLocalCluster({
    dataDir: join(directory, 'postgres'),
    // Tests kill processes, not the machine: the page cache survives, so nothing is lost without fsync.
    settings: { fsync: 'off', max_connections: '400', shared_buffers: '128MB' },
  });
  await cluster.start();
  await cluster.asSuperuser((client) => client.query(`create database ${TEMPLATE_DATABASE}`));
  await migrate(cluster.url(TEMPLATE_DATABASE));
  project.provide('postgresUrl', cluster.url('postgres'));
  return async () => {
    await cluster.stop('immediate');
    await rm(directory, { recursive: true, force: true });
    cleanedUp();
  };
}
