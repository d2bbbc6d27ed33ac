import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLocalCluster } from '@svc/local-postgres/local-cluster.ts';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { placePreparedCluster } from '@svc/testing/postgres/prepared-cluster.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import type { SpawnedSvc } from '@svc/testing/cli/spawn-svc.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { runningUrl } from './postgres.ts';

let directory: string;
let dataDir: string;
let port: number;
const running = new Set<SpawnedSvc>();
/** The installation that the tests follow, while it runs: each takes it as the one before left it. */
let current: SpawnedSvc | undefined;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-lite-'));
  chmodSync(directory, 0o755);
  dataDir = join(directory, 'data');
  port = await freePort();
});

afterAll(async () => {
  for (const lite of running) lite.kill('SIGTERM');
  await Promise.all([...running].map((lite) => lite.ended));
  rmSync(directory, { recursive: true, force: true });
});

function lite(...argv: string[]): SpawnedSvc {
  const process = spawnSvc(['lite', ...argv, '--data-dir', dataDir]);
  running.add(process);
  return process;
}

/** The one that runs, or a new start of it. */
async function started(): Promise<SpawnedSvc> {
  if (current !== undefined) return current;
  const process = lite('--port', String(port));
  await process.until('is running');
  await process.until('Ctrl-C');
  current = process;
  return process;
}

async function stopped(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals | null> {
  const process = current;
  current = undefined;
  process?.kill(signal);
  return (await process?.ended) ?? null;
}

const adminPassword = (): string => readFileSync(join(dataDir, 'secrets', 'admin-password'), 'utf8').trim();

async function login(password: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin@localhost', password }),
  });
  return response.status;
}

const postgresPid = (): number =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);

/** Not `kill -0`: an orphan whose new parent does not collect it would look alive for ever. */
const isRunning = (pid: number): boolean => {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
};

// One installation through its life: the tests follow each other.
describe('svc lite', { timeout: 300_000 }, () => {
  it('starts from nothing, shows the password once, and everything it keeps is for its owner', async () => {
    const first = await started();
    expect(first.output()).toContain(adminPassword());
    expect(first.output()).toContain('shown this once');
    expect(await login(adminPassword())).toBe(200);
    const secrets = join(dataDir, 'secrets');
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    expect(readdirSync(secrets).map((name) => statSync(join(secrets, name)).mode & 0o777)).toEqual(
      Array.from({ length: 4 }, () => 0o600),
    );
    const log = readFileSync(join(dataDir, 'svc.log'), 'utf8');
    expect(log).toContain('"msg":"ready"');
    expect(log).not.toContain(adminPassword());
  });

  it('stops everything at Ctrl-C, takes a new password, and comes back with the same data without showing it', async () => {
    const first = await started();
    const old = adminPassword();
    const postgres = postgresPid();
    expect(await stopped('SIGINT')).toBe(0);
    expect(first.output()).toContain('Stopped.');
    expect(isRunning(postgres)).toBe(false);
    expect(existsSync(join(dataDir, 'lite.lock'))).toBe(false);
    const whileStopped = spawnSvc(['lite', 'reset-password', '--data-dir', dataDir]);
    expect(await whileStopped.ended).toBe(0);
    expect(whileStopped.output()).toContain(adminPassword());
    const second = await started();
    expect(second.output()).not.toContain(adminPassword());
    expect(await login(old)).toBe(401);
    expect(await login(adminPassword())).toBe(200);
  });

  it('recovers from SIGKILL: the Postgres left behind is stopped, the lock taken over, no data lost', async () => {
    await started();
    const orphan = postgresPid();
    expect(await stopped('SIGKILL')).toBe('SIGKILL');
    expect(isRunning(orphan)).toBe(true);
    await started();
    expect(isRunning(orphan)).toBe(false);
    expect(await login(adminPassword())).toBe(200);
  });

  it('refuses a second instance on its data, naming the first; and a taken port, naming who has it', async () => {
    const first = await started();
    const second = lite('--port', '0');
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`process ${first.pid} at http://127.0.0.1:${port}`);
    const other = spawnSvc(['lite', '--port', String(port), '--data-dir', join(directory, 'other')]);
    expect(await other.ended).toBe(2);
    expect(other.output()).toContain(`server.http_addr: 127.0.0.1:${port} is in use`);
    expect(other.output()).toContain(`svc lite --port ${port + 1}`);
  });

  it('gives out a new password while it runs, which makes the old one useless', async () => {
    const old = adminPassword();
    await started();
    const whileRunning = spawnSvc(['lite', 'reset-password', '--data-dir', dataDir]);
    expect(await whileRunning.ended).toBe(0);
    expect(await login(old)).toBe(401);
    expect(await login(adminPassword())).toBe(200);
  });

  it('brings its Postgres back when that is killed', async () => {
    const process = await started();
    execFileSync('kill', ['-9', String(postgresPid())]);
    await process.until('Postgres is back');
    // A request that takes a connection of before is asked to come again.
    await eventually(async () => expect(await login(adminPassword())).toBe(200));
  });

  it('refuses data of another major version of Postgres, and of a newer version of svc until that is undone', async () => {
    await started();
    const password = readFileSync(join(dataDir, 'secrets', 'database-password'), 'utf8').trim();
    const url = (): string => {
      const lines = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
      return runningUrl({ port: Number(lines[3]), password });
    };
    await queryDatabase(url(), `insert into kysely_migration values ('9999-from-the-future', 'now')`);
    await stopped();
    const version = join(dataDir, 'postgres', 'PG_VERSION');
    const real = readFileSync(version, 'utf8');
    writeFileSync(version, '12\n');
    const ofOther = lite('--port', String(port));
    expect(await ofOther.ended).toBe(1);
    expect(ofOther.output()).toContain('was written by Postgres 12');
    expect(ofOther.output()).not.toContain('    at ');
    writeFileSync(version, real);
    const refused = lite('--port', String(port));
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toContain('was migrated by a newer version of svc');
    expect(refused.output()).toContain('run that version, or restore a backup');
    const cluster = await openLocalCluster({ dataDir: join(dataDir, 'postgres') });
    await cluster.start();
    await queryDatabase(url(), `delete from kysely_migration where name like '9999%'`);
    await cluster.stop();
    await started();
  });

  it('starts two instances at the same moment, each with its own data and ports', async () => {
    const folders = ['one', 'two'].map((name) => join(directory, name));
    for (const folder of folders) await placePreparedCluster(join(folder, 'postgres'));
    const both = folders.map((folder) => spawnSvc(['lite', '--port', '0', '--data-dir', folder]));
    for (const instance of both) running.add(instance);
    await Promise.all(both.map((instance) => instance.until('Ctrl-C')));
    const urls = both.map((instance) => /^URL\s+(\S+)$/m.exec(instance.output())?.[1] ?? '');
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it("uses a database of the user's when there is one, and starts no Postgres of its own", async () => {
    const database = await createTestDatabase();
    const other = join(directory, 'other');
    const process = spawnSvc(['lite', '--port', '0', '--data-dir', other], { SVC_DATABASE_URL: database.url });
    running.add(process);
    await process.until('Postgres: yours (SVC_DATABASE_URL)');
    await process.until('Ctrl-C');
    expect(process.output()).toContain('shown this once');
    expect(existsSync(join(other, 'postgres'))).toBe(false);
    process.kill('SIGTERM');
    expect(await process.ended).toBe(0);
    await database.drop();
  });
});
