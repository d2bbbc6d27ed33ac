import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStagingFolders } from './staging-folders.ts';
import type { StagingFolders } from './staging-folders.ts';

const TENANT = '0f0e0d0c-0b0a-4908-8706-050403020100';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-staging-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const root = (): string => join(directory, 'data', 'staging');
const create = (more: Partial<Parameters<typeof createStagingFolders>[0]> = {}): StagingFolders =>
  createStagingFolders({
    root: root(),
    user: undefined,
    findRunEnds: async () => new Map(),
    retentionMs: 1_000,
    sweepEveryMs: 1,
    log: silent,
    ...more,
  });
const succeeded = new Map([1, 2].map((run) => [`${TENANT}/${run}`, { state: 'success' as const, endedForMs: 0 }]));

describe('the directory of a run', () => {
  it('is the same for all its tasks, another for each run, and for nobody else', () => {
    const folders = create();
    const first = folders.ensure({ tenantId: TENANT, run: 1 });
    expect(folders.ensure({ tenantId: TENANT, run: 1 })).toBe(first);
    expect(folders.ensure({ tenantId: TENANT, run: 2 })).not.toBe(first);
    expect([root(), first].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it.runIf(process.getuid?.() === 0)('belongs to the user of tasks, who passes through the one above it', () => {
    const user = { name: 'nobody', uid: 65_534, gid: 65_534, home: '/' };
    const folder = create({ user }).ensure({ tenantId: TENANT, run: 1 });
    expect(statSync(folder)).toMatchObject({ uid: 65_534, gid: 65_534 });
    expect([root(), folder].map((path) => statSync(path).mode & 0o777)).toEqual([0o711, 0o700]);
  });

  it('is not made where others could have put something in its place', () => {
    mkdirSync(root(), { recursive: true });
    chmodSync(root(), 0o777);
    expect(() => create().ensure({ tenantId: TENANT, run: 1 })).toThrow(/executor\.staging_dir.*nobody else may write/);
  });
});

describe('the removal', () => {
  it('takes everything below, whatever its mode, and nothing that links lead to', async () => {
    const folders = create({ findRunEnds: async () => succeeded });
    const folder = folders.ensure({ tenantId: TENANT, run: 1 });
    const outside = join(directory, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'kept'), '');
    mkdirSync(join(folder, 'closed', 'deeper'), { recursive: true });
    writeFileSync(join(folder, 'closed', 'deeper', 'file'), '');
    symlinkSync(outside, join(folder, 'closed', 'link'));
    chmodSync(join(folder, 'closed'), 0o000);
    mkdirSync(join(root(), 'removed-by-a-process-that-died'));
    mkdirSync(join(root(), "somebody's"));
    folders.start();
    await expect.poll(() => readdirSync(root())).toEqual(["somebody's"]);
    await folders.stop();
    expect(existsSync(join(outside, 'kept'))).toBe(true);
  });

  it('leaves one that a cleared run took up after the look at the run', async () => {
    let looks = 0;
    const folders = create({
      async findRunEnds() {
        looks += 1;
        if (looks === 1) folders.ensure({ tenantId: TENANT, run: 1 });
        return looks === 1 ? succeeded : new Map();
      },
    });
    const used = folders.ensure({ tenantId: TENANT, run: 1 });
    const unused = folders.ensure({ tenantId: TENANT, run: 2 });
    folders.start();
    await expect.poll(() => looks).toBeGreaterThan(1);
    await folders.stop();
    expect([used, unused].map((folder) => existsSync(folder))).toEqual([true, false]);
  });

  it('has nothing to say where nothing was ever staged', async () => {
    const warned: string[] = [];
    const warnAs = (who: string) => ({ ...silent, warn: () => void warned.push(who) });
    writeFileSync(join(directory, 'file'), '');
    const all = [
      create({ log: warnAs('nothing staged') }),
      create({ log: warnAs('no directory'), root: join(directory, 'file') }),
    ];
    all.forEach((folders) => folders.start());
    await expect.poll(() => warned.length).toBeGreaterThan(3);
    for (const folders of all) await folders.stop();
    expect(new Set(warned)).toEqual(new Set(['no directory']));
    expect(existsSync(root())).toBe(false);
  });
});
