import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusedLink, refusedSource } from './source-rules.ts';

let root: string;
let allowed: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-source-rules-'));
  allowed = join(root, 'allowed');
  mkdirSync(join(allowed, 'inner'), { recursive: true });
  mkdirSync(join(root, 'private'));
  symlinkSync(join(root, 'private'), join(allowed, 'out'));
  symlinkSync('inner', join(allowed, 'in'));
  symlinkSync(allowed, join(root, 'alias'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it.each([
  'https://user:token@host/x.git',
  'https://token@host/x.git',
  'http://host/x.git',
  'ext::sh -c touch% /tmp/x',
  'git://host/x.git',
  'ssh://-oProxyCommand=touch/x.git',
  '-oProxyCommand=touch@host:x',
  '--upload-pack=touch',
  '-u./payload',
  '/etc',
  '/allowed/../etc',
  'file:///etc',
  'FILE:///allowed/%2e%2e/etc',
  'https://host/x.git\n--upload-pack=touch',
])('the source %j of a repository is refused', (url) => {
  expect(refusedSource({ kind: 'git', url }, ['/allowed'])).toMatch(/^url: /);
});

it.each(['https://host/x.git', 'ssh://git@host:22/x.git', 'git@host:team/x.git', '/allowed/x.git'])(
  'the source %j of a repository is taken',
  (url) => {
    expect(refusedSource({ kind: 'git', url }, ['/allowed'])).toBeUndefined();
  },
);

it('a link in an allowed folder does not make a bundle of a folder outside', async () => {
  const outside = [
    { kind: 'folder', url: join(allowed, 'out'), folder: '' },
    { kind: 'folder', url: allowed, folder: 'out' },
    { kind: 'git', url: join(allowed, 'out'), folder: '' },
    { kind: 'git', url: `file://${join(allowed, 'out')}`, folder: '' },
  ] as const;
  for (const source of outside) expect(await refusedLink(source, [allowed])).toContain('leads out of the folders');
  const inside = [
    { kind: 'folder', url: join(allowed, 'in'), folder: '' },
    { kind: 'folder', url: join(root, 'alias', 'inner'), folder: '' },
    { kind: 'git', url: 'https://host/x.git', folder: 'out' },
  ] as const;
  for (const source of inside) expect(await refusedLink(source, [join(root, 'alias')])).toBeUndefined();
});
