import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { SCRIPT_ARGUMENTS } from '@svc/testing/node-arguments.ts';
import { postgresUrl } from '@svc/testing/postgres/postgres-url.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import type { ScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { clusterOwner, runnableBinaries } from './cluster-binaries.ts';
import { openLocalCluster } from './local-cluster.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-local-cluster-'));
  await chmod(directory, 0o755);
});
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 10 })); // a Postgres may still be ending

/** A process of its own that starts a cluster and then only waits. Resolves when Postgres answers. */
async function startElsewhere(dataDir: string): Promise<ChildProcess> {
  const module = new URL('local-cluster.ts', import.meta.url).href;
  const script = `
    const { openLocalCluster } = await import(${JSON.stringify(module)});
    const cluster = await openLocalCluster({ dataDir: ${JSON.stringify(dataDir)}, settings: { fsync: 'off' } });
    await cluster.start();
    await cluster.asSuperuser((client) => client.query('create table kept (n int)'));
    console.log('started');
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, [...SCRIPT_ARGUMENTS, '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

describe('a cluster that is restarted', () => {
  let cluster: ScratchCluster;
  beforeAll(async () => {
    cluster = await startScratchCluster();
    await cluster.asSuperuser((client) => client.query('create table kept (mode text)'));
  });
  afterAll(() => cluster?.remove());

  it.each(['fast', 'immediate', 'kill'] as const)(
    'comes back at the same port with every row after %s',
    async (mode) => {
      const { port } = cluster;
      await cluster.asSuperuser((client) => client.query('insert into kept values ($1)', [mode]));
      // Backends in the middle of a statement notice the death of their parent late; the start has to wait for them.
      const busy = cluster.asSuperuser((client) => client.query('select count(*) from generate_series(1, 30000000)'));
      const outcome = busy.then(
        () => 'finished',
        () => 'cut off',
      );
      await cluster.stop(mode);
      await cluster.start();
      expect(cluster.port).toBe(port);
      const { rows } = await cluster.asSuperuser((client) =>
        client.query('select mode from kept where mode = $1', [mode]),
      );
      expect(rows).toEqual([{ mode }]);
      await outcome;
    },
  );
});

describe('a data directory with a past', () => {
  it('is taken over when the process that started Postgres was killed', async () => {
    const dataDir = join(directory, 'orphaned');
    const child = await startElsewhere(dataDir);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const cluster = await openLocalCluster({ dataDir, settings: { fsync: 'off' } });
    await cluster.start();
    try {
      await cluster.asSuperuser((client) => client.query('insert into kept values (1)'));
    } finally {
      await cluster.stop('immediate');
    }
  });

  it('is refused while the process that started Postgres lives, and that Postgres goes on', async () => {
    const dataDir = join(directory, 'shared');
    const child = await startElsewhere(dataDir);
    try {
      const cluster = await openLocalCluster({ dataDir });
      await expect(cluster.start()).rejects.toThrow(`${dataDir} is in use by process ${child.pid}`);
      const [postmaster] = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
      expect(process.kill(Number(postmaster), 0)).toBe(true);
      process.kill(Number(postmaster), 'SIGQUIT');
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('never stops a foreign Postgres whose number a stale file names', async () => {
    const dataDir = join(directory, 'stale');
    const cluster = await openLocalCluster({ dataDir, settings: { fsync: 'off' } });
    const foreign = new pg.Client({ connectionString: postgresUrl() });
    await foreign.connect();
    const { rows } = await foreign.query<{ file: string }>("select pg_read_file('postmaster.pid') as file");
    await writeFile(join(dataDir, 'postmaster.pid'), rows[0]?.file ?? '');
    await cluster.start().catch(() => {}); // whether Postgres itself accepts the file does not matter here
    await cluster.stop('immediate');
    expect((await foreign.query('select 1 as alive')).rows).toEqual([{ alive: 1 }]);
    await foreign.end();
  });

  it('is made anew when an earlier initdb was interrupted', async () => {
    const dataDir = join(directory, 'interrupted');
    await mkdir(`${dataDir}.unfinished`);
    await writeFile(join(`${dataDir}.unfinished`, 'PG_VERSION'), '18\n');
    const cluster = await openLocalCluster({ dataDir, settings: { fsync: 'off' } });
    await cluster.start();
    await cluster.stop('immediate');
  });

  it('gives the reason Postgres itself gives when it cannot start', async () => {
    const dataDir = join(directory, 'misconfigured');
    const cluster = await openLocalCluster({ dataDir, settings: { shared_buffers: 'plenty' } });
    await expect(cluster.start()).rejects.toThrow(/invalid value for parameter "shared_buffers"/);
  });
});

it('runs binaries that lie where only root can read as the owner of the cluster', async () => {
  const owner = await clusterOwner(); // for root another user, who cannot enter; otherwise we ourselves, who can
  const packaged = await runnableBinaries(owner);
  const hidden = join(directory, 'root-only');
  await mkdir(hidden, { mode: 0o700 });
  await cp(dirname(dirname(packaged.postgres)), join(hidden, 'native'), { recursive: true, verbatimSymlinks: true });
  const unreadable = { initdb: join(hidden, 'native/bin/initdb'), postgres: join(hidden, 'native/bin/postgres') };
  const [binaries, again] = await Promise.all([
    runnableBinaries(owner, unreadable),
    runnableBinaries(owner, unreadable),
  ]);
  expect(again).toEqual(binaries);
  expect(execFileSync(binaries.initdb, ['--version'], { ...owner, cwd: '/', encoding: 'utf8' })).toMatch(/PostgreSQL/);
});
