/** Vitest's global set-up: one Postgres cluster per run, and in it a migrated template that every test file clones. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openLocalCluster } from '@svc/local-postgres/local-cluster.ts';
import type { LocalCluster } from '@svc/local-postgres/local-cluster.ts';
import { migrate } from '@svc/server/db/migrate.ts';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { legalTransitions } from './legal-transitions.ts';
import { prepareCluster } from './prepared-cluster.ts';
import { queryDatabase } from './query-database.ts';
import { TEMPLATE_DATABASE } from './test-database.ts';

type Running = { url: string; stop: () => Promise<void> };

/** Each project of the run loads this file anew, and asks for a cluster. */
const shared = globalThis as { clusterOfRun?: Promise<Running>; projectsOfRun?: number };

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.projectsOfRun = (shared.projectsOfRun ?? 0) + 1;
  const { url, stop } = await (shared.clusterOfRun ??= startCluster());
  project.provide('postgresUrl', url);
  return async () => {
    shared.projectsOfRun = (shared.projectsOfRun ?? 1) - 1;
    if (shared.projectsOfRun > 0) return;
    delete shared.clusterOfRun;
    await stop();
  };
}

/**
 * Tests make thousands of connections, and to stretch the password takes 2.5 ms of processor time for each, on both sides.
 * Copies of the cluster have the same password.
 */
async function hashCheaply(cluster: LocalCluster): Promise<void> {
  const { password } = new URL(cluster.url('postgres'));
  await cluster.asSuperuser(async (client) => {
    await client.query('set scram_iterations = 1');
    await client.query(`alter role postgres password ${client.escapeLiteral(decodeURIComponent(password))}`);
  });
}

async function startCluster(): Promise<Running> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-test-'));
  await chmod(directory, 0o755); // a root caller's cluster runs as another user and must reach its own directory
  const cleanedUp = endsWithThisProcess({ directory });
  const dataDir = join(directory, 'postgres');
  const cluster = await openLocalCluster({
    dataDir,
    // Tests kill processes, not the machine: the page cache survives, so nothing is lost without fsync and whole pages.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '400', shared_buffers: '128MB' },
  });
  await cluster.start();
  await hashCheaply(cluster);
  await prepareCluster(cluster, dataDir);
  await cluster.asSuperuser((client) => client.query(`create database ${TEMPLATE_DATABASE}`));
  await migrate(cluster.url(TEMPLATE_DATABASE));
  await queryDatabase(cluster.url(TEMPLATE_DATABASE), legalTransitions().join(';\n'));
  const stop = async (): Promise<void> => {
    await cluster.stop('immediate');
    await rm(directory, { recursive: true, force: true });
    cleanedUp();
  };
  return { url: cluster.url('postgres'), stop };
}
