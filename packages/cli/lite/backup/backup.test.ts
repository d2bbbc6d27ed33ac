import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
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
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, gzipSync } from 'node:zlib';
import { asClusterSuperuser } from '@svc/local-postgres/cluster-superuser.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { placePreparedCluster } from '@svc/testing/postgres/prepared-cluster.ts';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import type { SpawnedSvc } from '@svc/testing/cli/spawn-svc.ts';
import { MANIFEST } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { readTar, writeTar } from './tar.ts';
import type { TarEntry } from './tar.ts';

/** Whole processes start and stop in each test, and the machine may be busy. */
const PATIENCE_MS = 300_000;

let directory: string;
let dataDir: string;
let backup: string;
let lite: SpawnedSvc;
const running = new Set<SpawnedSvc>();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-backup-'));
  chmodSync(directory, 0o755);
  dataDir = join(directory, 'data');
  backup = join(directory, 'backup.tar.gz');
  await placePreparedCluster(join(dataDir, 'postgres'));
  lite = await started(dataDir);
});

afterAll(async () => {
  for (const process of running) process.kill('SIGTERM');
  await Promise.all([...running].map((process) => process.ended));
  rmSync(directory, { recursive: true, force: true });
});

async function started(path: string): Promise<SpawnedSvc> {
  const process = spawnSvc(['lite', '--port', '0', '--data-dir', path]);
  running.add(process);
  await process.until('Ctrl-C');
  return process;
}

async function svc(...argv: string[]): Promise<{ code: unknown; output: string }> {
  const process = spawnSvc(argv);
  return { code: await process.ended, output: process.output() };
}

/** Without a process: for what is refused. */
async function refused(...argv: string[]): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await runSvc(argv, { env: { HOME: directory } });
  return { code, output: `${stdout}${stderr}` };
}

const urlOf = (process: SpawnedSvc): string => /^URL\s+(\S+)$/m.exec(process.output())?.[1] ?? '';

async function call<T>(process: SpawnedSvc, path: string, options: { token?: string; body?: object }): Promise<T> {
  const response = await fetch(`${urlOf(process)}${path}`, {
    ...(options.body && { method: 'POST', body: JSON.stringify(options.body) }),
    headers: {
      'content-type': 'application/json',
      ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
    },
  });
  expect(response.ok, `${path}: ${response.status}`).toBe(true);
  return (await response.json()) as T;
}

async function login(process: SpawnedSvc, path: string): Promise<string> {
  const password = readFileSync(join(path, 'secrets', 'admin-password'), 'utf8').trim();
  const body = { username: 'admin@localhost', password };
  return (await call<{ access_token: string }>(process, '/auth/token', { body })).access_token;
}

/** Rows with a number each, one commit after the other, until it is told to stop. */
function startWriting(): { committed: () => number; stop: () => Promise<void> } {
  let committed = 0;
  const stopping = new AbortController();
  const over = asClusterSuperuser(join(dataDir, 'postgres'), async (client) => {
    await client.query('create table proof (n int primary key, filler text not null, sum text not null)');
    while (!stopping.signal.aborted) {
      const filler = randomBytes(900).toString('hex'); // four rows fill a page
      await client.query('insert into proof values ($1, $2, md5($2))', [committed + 1, filler]);
      committed += 1;
      // What is copied early is soon out of date, and a checkpoint says that it needs no recovery: only the label says it does.
      if (committed % 20 === 0) await client.query('checkpoint');
    }
  });
  return {
    committed: () => committed,
    stop: async () => {
      stopping.abort();
      await over;
    },
  };
}

type Stored = { path: string; content: Buffer };

/** Returns the entries of the backup without its database of 40 MB, which no forgery needs, and a manifest of these. */
async function withoutDatabase(): Promise<Stored[]> {
  const isKept = (path: string): boolean => !path.startsWith('postgres');
  const stored: Stored[] = [];
  for await (const entry of readTar(createReadStream(backup).pipe(createGunzip()))) {
    if (entry.kind !== 'file') continue;
    const content = await buffer(Readable.from(entry.content));
    if (isKept(entry.path)) stored.push({ path: entry.path, content });
  }
  const manifest = stored.find(({ path }) => path === MANIFEST);
  if (!manifest) throw new Error('the backup has no manifest');
  const { files, ...facts } = JSON.parse(manifest.content.toString()) as Manifest;
  const kept = Object.fromEntries(Object.entries(files).filter(([path]) => isKept(path)));
  manifest.content = Buffer.from(JSON.stringify({ ...facts, files: kept }));
  return stored;
}

let small: Promise<Stored[]> | undefined;

/** The archive with every entry passed through `change`. */
async function forged(change: (entry: Stored) => void): Promise<string> {
  const stored = (await (small ??= withoutDatabase())).map((entry) => ({ ...entry }));
  for (const entry of stored) change(entry);
  const entries = stored.map(({ path, content }): TarEntry => ({
    kind: 'file',
    path,
    size: content.length,
    content: [content],
  }));
  const file = join(directory, 'forged.tar.gz');
  writeFileSync(file, gzipSync(await buffer(writeTar(Readable.from(entries)))));
  return file;
}

// One installation through its life: the tests follow each other.
describe('svc lite backup', { timeout: PATIENCE_MS }, () => {
  it('made while somebody writes all the time has every row of before, none of after, and no gap', async () => {
    const token = await login(lite, dataDir);
    await call(lite, '/api/v2/variables', {
      token,
      body: { key: 'kept', value: 'sealed with the key of this installation' },
    });
    writeFileSync(join(dataDir, 'logs', 'attempt.log'), 'a line of a task\n');
    const writer = startWriting();
    await expect.poll(writer.committed, { timeout: PATIENCE_MS }).toBeGreaterThan(300);
    const before = writer.committed();
    const { code, output } = await svc('lite', 'backup', backup, '--data-dir', dataDir);
    const after = writer.committed();
    await writer.stop();
    expect(code, output).toBe(0);
    expect(after).toBeGreaterThan(before);
    expect(statSync(backup).mode & 0o777).toBe(0o600);

    const copy = join(directory, 'copy');
    const restored = await svc('lite', 'restore', backup, '--data-dir', copy);
    expect(restored.code, restored.output).toBe(0);
    expect(restored.output).toContain(`svc lite --data-dir ${copy}`);
    const second = await started(copy);
    const found = await asClusterSuperuser(join(copy, 'postgres'), async (client) => {
      const { rows } = await client.query<{ count: number; last: number; broken: number }>(
        'select count(*)::int as count, max(n) as last, count(*) filter (where md5(filler) <> sum)::int as broken from proof',
      );
      await client.query('set enable_seqscan = off');
      const byIndex = await client.query<{ count: number }>('select count(n)::int as count from proof where n > 0');
      return { ...rows[0], byIndex: byIndex.rows[0]?.count };
    });
    expect(found).toEqual({ count: found.last, last: found.last, broken: 0, byIndex: found.last });
    expect(found.last).toBeGreaterThanOrEqual(before);
    expect(found.last).toBeLessThanOrEqual(after + 1); // one may be committed and not yet answered
    const variable = await call<{ value: string }>(second, '/api/v2/variables/kept', {
      token: await login(second, copy),
    });
    expect(variable.value).toBe('sealed with the key of this installation');
    expect(readFileSync(join(copy, 'logs', 'attempt.log'), 'utf8')).toBe('a line of a task\n');
    expect(statSync(join(copy, 'secrets', 'secret-key')).mode & 0o777).toBe(0o600);
  });

  it('does not overwrite a file unless told to, and leaves no part of one that it could not write', async () => {
    const again = await refused('lite', 'backup', backup, '--data-dir', dataDir);
    expect(again).toMatchObject({ code: 1, output: expect.stringContaining('--force') as string });
    const nowhere = await refused('lite', 'backup', join(directory, 'nowhere', 'b'), '--data-dir', dataDir);
    expect(nowhere).toMatchObject({ code: 1, output: expect.stringContaining('a directory that is there') as string });
    const nothing = await refused('lite', 'backup', join(directory, 'b'), '--data-dir', join(directory, 'nothing'));
    expect(nothing).toMatchObject({ code: 4, output: expect.stringContaining('no installation of lite') as string });
    expect(readdirSync(directory).filter((name) => name.includes('partial'))).toEqual([]);
    expect(existsSync(join(directory, 'nothing'))).toBe(false);
  });
});

describe('svc lite restore', { timeout: PATIENCE_MS }, () => {
  it('refuses a running installation, even with --force', async () => {
    const { code, output } = await refused('lite', 'restore', backup, '--data-dir', dataDir, '--force');
    expect(code).toBe(1);
    expect(output).toContain(`stop it first (kill ${lite.pid})`);
  });

  it.each([
    ['is cut short', 'ends in the middle|unexpected end of file', async () => writeHalf()],
    ['has a changed file', 'the checksum of secrets/secret-key is wrong', async () => forged(changeSecret)],
    ['reaches out of its directory', 'has no place in a backup', async () => forged(reachOut)],
    ['is something else', 'not a whole backup', async () => writeJunk()],
  ])('refuses an archive that %s, and changes nothing', async (_, message, make) => {
    const target = join(directory, 'refused');
    const { code, output } = await refused('lite', 'restore', await make(), '--data-dir', target);
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(message));
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(directory).filter((name) => /restoring|evil/.test(name))).toEqual([]);
  });

  it('after SIGKILL puts a backup made of what was left behind in its place, and keeps the old one aside', async () => {
    lite.kill('SIGKILL');
    await lite.ended;
    running.delete(lite);
    const ofLeftover = join(directory, 'leftover.tar.gz');
    expect(await svc('lite', 'backup', ofLeftover, '--data-dir', dataDir, '--json')).toMatchObject({ code: 0 });
    expect(await refused('lite', 'restore', ofLeftover, '--data-dir', dataDir)).toMatchObject({
      code: 1,
      output: expect.stringContaining('keeps the old one beside it') as string,
    });
    const { code, output } = await svc('lite', 'restore', ofLeftover, '--data-dir', dataDir, '--force', '--json');
    expect(code, output).toBe(0);
    const { kept_aside: aside } = JSON.parse(output) as { kept_aside: string };
    expect(existsSync(join(aside, 'secrets', 'secret-key'))).toBe(true);
    lite = await started(dataDir);
    const token = await login(lite, dataDir);
    await call(lite, '/api/v2/variables/kept', { token });
  });
});

function writeHalf(): string {
  const file = join(directory, 'half.tar.gz');
  writeFileSync(file, readFileSync(backup).subarray(0, statSync(backup).size / 2));
  return file;
}

function writeJunk(): string {
  const file = join(directory, 'junk.tar.gz');
  writeFileSync(file, 'not an archive at all');
  return file;
}

function changeSecret(entry: Stored): void {
  if (entry.path === 'secrets/secret-key') entry.content = Buffer.from('f'.repeat(entry.content.length));
}

function reachOut(entry: Stored): void {
  if (entry.path === 'secrets/secret-key') entry.path = 'secrets/../../evil';
}
