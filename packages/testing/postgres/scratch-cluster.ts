/** A Postgres cluster that a test may restart, kill and pause, in a directory that goes away with it. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLocalCluster } from '@svc/local-postgres/local-cluster.ts';
import type { LocalCluster } from '@svc/local-postgres/local-cluster.ts';
import { migrate } from '@svc/server/db/migrate.ts';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { PREPARED_DATABASE, placePreparedCluster } from './prepared-cluster.ts';

export type ScratchCluster = LocalCluster & {
  readonly dataDir: string;
  /** An empty database on it; its URL. */
  createDatabase(): Promise<string>;
  /** One with the schema of svc, and no rows: to make the schema takes 0.5 s of processor time, a copy 0.05 s. */
  createMigratedDatabase(): Promise<string>;
  /** Stops every process of the cluster where it stands, as a frozen machine would. Nothing is closed, nothing answers. */
  pause(): void;
  resume(): void;
  remove(): Promise<void>;
};

export async function startScratchCluster(settings: Record<string, string> = {}): Promise<ScratchCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-scratch-'));
  await chmod(directory, 0o755); // a root caller's cluster runs as another user and must reach its own directory
  const cleanedUp = endsWithThisProcess({ directory });
  const dataDir = join(directory, 'postgres');
  const isPrepared = await placePreparedCluster(dataDir);
  // Tests kill processes, not the machine: the page cache survives, so nothing is lost without fsync.
  const cluster = await openLocalCluster({ dataDir, settings: { fsync: 'off', ...settings } });
  await cluster.start();

  const signalAll = (signal: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of cluster.pid === undefined ? [] : [cluster.pid, ...childrenOf(cluster.pid)]) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // a backend that ended since it was listed
      }
    }
  };
  async function createDatabase(template = 'template1'): Promise<string> {
    const name = `scratch_${randomBytes(8).toString('hex')}`;
    await cluster.asSuperuser((client) => client.query(`create database ${name} template ${template}`));
    return cluster.url(name);
  }
  return Object.assign(cluster, {
    dataDir,
    createDatabase: () => createDatabase(),
    async createMigratedDatabase() {
      if (isPrepared) return createDatabase(PREPARED_DATABASE);
      const url = await createDatabase();
      await migrate(url);
      return url;
    },
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async remove() {
      await cluster.stop('immediate');
      await rm(directory, { recursive: true, force: true });
      cleanedUp();
    },
  });
}

function childrenOf(parent: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([pid, ppid]) => (pid !== undefined && ppid === parent ? [pid] : []));
}
