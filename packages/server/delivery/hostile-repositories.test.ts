/** Repositories that try to get out of their folder, to run something, or to stop the control plane. */
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { dagText } from '@svc/testing/compiler/workspace.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startBundleServer } from '@svc/testing/server/bundle-server.ts';
import type { BundleServer } from '@svc/testing/server/bundle-server.ts';
import { createGitRepository } from '@svc/testing/server/git-repository.ts';
import type { GitRepository } from '@svc/testing/server/git-repository.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const LARGEST = 64 * 1024;

let server: BundleServer;
let repository: GitRepository;
let good: string;

beforeAll(async () => {
  repository = createGitRepository();
  server = await startBundleServer({ 'bundles.max-file-bytes': String(LARGEST), 'bundles.max-files': '50' });
  good = repository.push({ 'dags/a.py': dagText('hostile_a') });
  await server.addBundle('etl', repository.url);
});
afterAll(async () => {
  await server?.close();
  repository?.[Symbol.dispose]();
});

/** Pushes a commit on top of the good one. */
function pushHostile(change: () => void): void {
  repository.git('reset', '--quiet', '--hard', good);
  repository.git('clean', '-ffdxq');
  change();
  repository.push({ 'dags/a.py': dagText('hostile_a', ['changed']) });
}

const link = (name: string, target: string): void => {
  mkdirSync(dirname(join(repository.checkout, name)), { recursive: true });
  symlinkSync(target, join(repository.checkout, name));
};
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(repository.checkout, name)), { recursive: true });
  writeFileSync(join(repository.checkout, name), text);
};

/** Pushes a commit with a folder `..`, which git itself does not make. */
function pushPathOut(): void {
  const id = (name: string): Buffer => Buffer.from(repository.git('rev-parse', `${good}:${name}`), 'hex');
  const tree = Buffer.concat([Buffer.from('40000 ..\0'), id('dags'), Buffer.from('100644 a.py\0'), id('dags/a.py')]);
  writeFileSync(join(repository.checkout, 'tree.bin'), tree);
  const written = repository.git('hash-object', '-t', 'tree', '-w', '--literally', 'tree.bin');
  const commit = repository.git('commit-tree', written, '-m', 'Lead out');
  repository.git('push', '--quiet', '--force', 'origin', `${commit}:refs/heads/main`);
}

describe('a hostile commit', () => {
  it.each<[string, () => void, RegExp]>([
    ['a link to a file of the host', () => link('dags/b.py', '/etc/passwd'), /dags\/b\.py.*leads out/],
    ['a link to a folder above', () => link('dags/up', '../../..'), /dags\/up.*leads out/],
    [
      'a link that leads out only through another link',
      () => (link('deep/up', '..'), link('b', 'deep/up/../x')),
      /(b|deep\/up).*leads out/,
    ],
    ['a huge file', () => write('big.bin', 'x'.repeat(LARGEST + 1)), /big\.bin.*larger than/],
    [
      'more files than are allowed',
      () => {
        for (let number = 0; number < 60; number += 1) write(`many/${number}`, '');
      },
      /has 6\d files/,
    ],
  ])('with %s is refused, and changes nothing', async (_what, change, reason) => {
    const before = { dags: await server.dags(), files: outside() };
    pushHostile(change);
    const { sync, current } = await server.sync('etl');
    expect({ state: sync.state, text: sync.text }).toEqual({
      state: 'refused',
      text: expect.stringMatching(reason) as string,
    });
    expect(current?.version).toBe(good);
    expect({ dags: await server.dags(), files: outside() }).toEqual(before);
  });

  it('with values that cannot be stored is refused with its files, and the control plane works on', async () => {
    const withParam = (value: string): string =>
      dagText('hostile_b').replace(', schedule', `, params={"x": ${value}}, schedule`);
    pushHostile(() => {
      write('dags/b.py', withParam(String.raw`"\u0000"`));
      write('dags/c.py', withParam('__import__("functools").reduce(lambda inner, _: [inner], range(300), 1)'));
    });
    const { sync, current } = await server.sync('etl');
    const reasons = sync.problems.map(({ file, message }) => [file, /U\+0000|levels/.exec(message)?.[0]]);
    expect([sync.state, Object.fromEntries(reasons)]).toEqual([
      'refused',
      { 'dags/b.py': 'U+0000', 'dags/c.py': 'levels' },
    ]);
    expect(current?.version).toBe(good);
  });

  it('with a folder that leads out is refused, and changes nothing', async () => {
    const before = outside();
    pushPathOut();
    const { sync, current } = await server.sync('etl');
    expect(sync).toMatchObject({ state: 'refused', text: expect.stringContaining('a path with this name') as string });
    expect({ version: current?.version, files: outside() }).toEqual({ version: good, files: before });
  });

  it('with filters, settings of git and a submodule that name a program runs none of them', async () => {
    const marker = join(dirname(repository.url), 'was-run');
    pushHostile(() => {
      write('.gitattributes', '* filter=evil diff=evil merge=evil\n');
      write('.gitconfig', `[filter "evil"]\n\tsmudge = touch ${marker}\n[core]\n\tfsmonitor = touch ${marker}\n`);
      write(
        '.gitmodules',
        `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c 'touch% ${marker}'\n\tupdate = !touch ${marker}\n`,
      );
      repository.git('update-index', '--add', '--cacheinfo', `160000,${good},x`);
    });
    const after = await server.sync('etl');
    expect(after.sync.state).toBe('done');
    expect(await server.dags()).toEqual({ hostile_a: 2 });
    expect(existsSync(marker)).toBe(false);
  });
});

/** Everything beside the bundles' own folders. */
const outside = (): string[] => readdirSync(dirname(server.cache)).sort();

const versionOf = async (name: string): Promise<string | undefined> =>
  (await server.api<{ current: { version: string } | null }>('GET', `/bundles/${name}`)).current?.version;

describe('a process that syncs', () => {
  it('that is killed at any point leaves the old deployment current, and the next sync deploys', async () => {
    const before = await server.api<{ current: { deployment: number } }>('GET', '/bundles/etl');
    const pushed = repository.push({ 'dags/a.py': dagText('hostile_a', ['newest']) });
    for (const pauseMs of [0, 400, 900]) {
      await server.api('POST', '/bundles/etl/sync');
      // It may begin and end between two looks of a busy machine.
      const pid = await eventually(
        async () => processOf('sync-bundle') ?? ((await versionOf('etl')) === pushed && 'it has ended'),
        { everyMs: 10 },
      );
      if (pid === 'it has ended') break;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      kill(pid);
      const { sync, current } = await server.settled('etl');
      if (current?.version === pushed) break; // it was faster
      expect(sync.state).toBe('failed');
      expect(current?.deployment).toBe(before.current.deployment);
    }
    expect((await server.sync('etl')).current?.version).toBe(pushed);
    const [tenant = ''] = readdirSync(server.cache);
    expect(readdirSync(join(server.cache, tenant, 'etl'))).not.toContain('home'); // with the keys of git
  });

  it('whose source never answers holds up no bundle of another tenant', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    try {
      await eventually(() => silent.listening);
      const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/dags.git`;
      const names = ['silent1', 'silent2', 'silent3', 'silent4'];
      for (const name of names) await server.api('POST', '/bundles', { name, kind: 'git', url, poll_seconds: 0 });
      const stateOf = async (name: string) =>
        (await server.api<{ sync: { state: string } }>('GET', `/bundles/${name}`)).sync.state;
      await eventually(async () => {
        const states = await Promise.all(names.map(stateOf));
        return states.filter((state) => state === 'running').length === 2;
      });
      await server.addUser({ email: 'else@example.com', roles: ['admin'], tenant: 'elsewhere' });
      const token = await server.login('else@example.com', 'elsewhere');
      const body = { name: 'theirs', kind: 'git', url: repository.url, poll_seconds: 0 };
      expect((await server.call('/api/v2/bundles', { method: 'POST', token, body })).status).toBe(201);
      await eventually(async () => {
        const { sync } = (await server.call('/api/v2/bundles/theirs', { token })).json<{ sync: { state: string } }>();
        return sync.state === 'done';
      });
      expect(await stateOf('silent1')).toBe('running');
      for (const name of names) await server.api('DELETE', `/bundles/${name}`);
    } finally {
      silent.close();
    }
  });

  it('that compiles a file without an end holds up no other bundle, and ends with the control plane', async () => {
    using looping = createGitRepository();
    looping.push({ 'dags/a.py': `${dagText('loops')}\nwhile True: pass\n` });
    await server.api('POST', '/bundles', { name: 'loops', kind: 'git', url: looping.url, poll_seconds: 0 });
    await eventually(async () => {
      const { sync } = await server.api<{ sync: { state: string } }>('GET', '/bundles/loops');
      return sync.state === 'running';
    });
    const pushed = repository.push({ 'dags/a.py': dagText('hostile_a', ['meanwhile']) });
    expect((await server.sync('etl')).current?.version).toBe(pushed);
    await server.close();
    expect(processOf('sync-bundle')).toBeUndefined();
    server = await startBundleServer();
  });
});

/** The child of this process with this word among its arguments. */
function processOf(word: string): number | undefined {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
      if (Number(parent) === process.pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word))
        return Number(name);
    } catch {
      // it has ended
    }
  }
  return undefined;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}
