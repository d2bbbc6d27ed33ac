/**
 * A Postgres cluster of our own with binaries from npm, for the lite edition, tests and benchmarks. It calls `initdb`
 * and `postgres` directly instead of using the class of the package. It needs restarts in every mode (fast, immediate,
 * kill -9), adoption of a cluster with a killed parent, and no process-wide exit hooks.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { canEnter, clusterOwner, runnableBinaries } from './cluster-binaries.ts';
import type { ClusterBinaries, ClusterOwner } from './cluster-binaries.ts';
import { claimDirectory, stopLeftover } from './cluster-leftover.ts';

export type LocalClusterOptions = {
  dataDir: string;
  /** 0 or absent picks a free port at the first start and keeps it. */
  port?: number;
  /** Extra `-c name=value` settings. Tests turn fsync off here. */
  settings?: Record<string, string>;
  onLog?: (line: string) => void;
};

type StopMode = 'fast' | 'immediate' | 'kill';

export type LocalCluster = {
  readonly port: number;
  readonly pid: number | undefined;
  /** Returns the connection string of a database on this cluster. The default user is the cluster's superuser. */
  url(database: string, user?: { name: string; password: string }): string;
  start(): Promise<void>;
  stop(mode?: StopMode): Promise<void>;
  /** Runs statements as superuser in the `postgres` database, outside a transaction. */
  asSuperuser<T>(use: (client: pg.Client) => Promise<T>): Promise<T>;
};

const STOP_SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const;
const START_TIMEOUT_MS = 30_000;
/** Messages of Postgres if backends of a killed predecessor still exist, or still occupy the port. */
const PREDECESSOR_LINGERS = /pre-existing shared memory block|could not bind/;

export async function openLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const dataDir = resolve(options.dataDir);
  const owner = await clusterOwner();
  const binaries = await runnableBinaries(owner);
  const passwordFile = `${dataDir}.password`;
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await initialise({ dataDir, owner, binaries, passwordFile });
  const password = (await readFile(passwordFile, 'utf8')).trim();

  let child: ChildProcess | undefined;
  let port = options.port ?? 0;

  const url = (database: string, user = { name: 'postgres', password }) =>
    `postgres://${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@127.0.0.1:${port}/${database}?sslmode=disable`;

  async function asSuperuser<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: url('postgres'), connectionTimeoutMillis: START_TIMEOUT_MS });
    client.on('error', () => {}); // if the cluster stops, the query fails; without a listener the process would crash
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  }

  function launch(): { postgres: ChildProcess; output: string[] } {
    const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...options.settings };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const output: string[] = [];
    const postgres = spawn(binaries.postgres, ['-D', dataDir, '-p', String(port), ...flags], {
      ...owner,
      cwd: dataDir,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C in a terminal reaches the whole process group. Postgres must stop later, after everything that uses it.
      detached: true,
    });
    for (const stream of [postgres.stdout, postgres.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output.push(text);
        if (output.length > 50) output.shift();
        options.onLog?.(text.trimEnd());
      });
    }
    return { postgres, output };
  }

  async function start(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    await stopLeftover(dataDir, START_TIMEOUT_MS);
    await claimDirectory(dataDir);
    for (;;) {
      if (port === 0) port = await freePort();
      const { postgres, output } = launch();
      child = postgres;
      try {
        await untilReady({
          postgres,
          output,
          deadline,
          probe: () => asSuperuser((client) => client.query('select 1')),
        });
        return;
      } catch (error) {
        await stop('immediate'); // a Postgres that starts too late must not outlive the failure
        if (Date.now() > deadline || !PREDECESSOR_LINGERS.test(output.join(''))) throw error;
        await sleep(100);
      }
    }
  }

  async function stop(mode: StopMode = 'fast'): Promise<void> {
    if (!child || child.pid === undefined || hasExited(child)) return;
    const exited = once(child, 'exit');
    child.kill(STOP_SIGNALS[mode]);
    await exited;
    child = undefined;
  }

  return {
    get port() {
      return port;
    },
    get pid() {
      return child?.pid;
    },
    url,
    start,
    stop,
    asSuperuser,
  };
}

/**
 * Creates the cluster under a temporary name and renames it when complete, because an interrupted initdb leaves a
 * folder that looks like a cluster.
 */
async function initialise(input: {
  dataDir: string;
  passwordFile: string;
  owner: ClusterOwner;
  binaries: ClusterBinaries;
}): Promise<void> {
  const { dataDir, passwordFile, owner, binaries } = input;
  const unfinished = `${dataDir}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(dataDir), { recursive: true });
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  if (owner) {
    await chown(unfinished, owner.uid, owner.gid);
    await chown(passwordFile, owner.uid, owner.gid);
  }
  if (!canEnter(unfinished, owner)) {
    throw new Error(
      `${dirname(dataDir)} cannot be entered by the user "postgres", as whom Postgres runs when svc runs as root: ` +
        'choose a directory others may enter (chmod o+x on it and its parents), or start as an ordinary user',
    );
  }
  const flags = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--username=postgres', '--encoding=UTF8'];
  // The built-in provider sorts equally on every machine, whatever locales it has.
  const locale = ['--locale-provider=builtin', '--locale=C.UTF-8', '--no-instructions', '--no-sync'];
  const run = spawn(binaries.initdb, ['-D', unfinished, ...flags, ...locale], { ...owner, cwd: unfinished });
  let output = '';
  run.stdout.on('data', (text) => (output += text));
  run.stderr.on('data', (text) => (output += text));
  const [code] = (await once(run, 'close')) as [number | null];
  if (code !== 0) throw new Error(`initdb failed in ${dataDir} (exit ${code}):\n${output.trim()}`);
  await rename(unfinished, dataDir);
}

async function untilReady(input: {
  postgres: ChildProcess;
  output: string[];
  deadline: number;
  probe: () => Promise<unknown>;
}): Promise<void> {
  const { postgres, output, deadline, probe } = input;
  let spawnError: Error | undefined;
  postgres.once('error', (error) => (spawnError = error));
  for (;;) {
    if (spawnError) throw spawnError;
    if (hasExited(postgres)) {
      const how = postgres.signalCode ?? `exit ${postgres.exitCode}`;
      throw new Error(`Postgres did not start (${how}):\n${output.join('').trim()}`);
    }
    try {
      await probe();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`Postgres did not answer in ${START_TIMEOUT_MS} ms`, { cause: error });
      await sleep(20);
    }
  }
}

const hasExited = (process: ChildProcess): boolean => process.exitCode !== null || process.signalCode !== null;

/**
 * Picks a port below the range of outgoing connections. While Postgres is down, such a connection could take its port
 * (or even connect to itself after many tries), and the restart would fail.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((settle) => {
      server.once('error', () => settle(false)).listen(port, '127.0.0.1', () => settle(true));
    });
    if (!isFree) continue;
    await new Promise((settle) => server.close(settle));
    return port;
  }
}
