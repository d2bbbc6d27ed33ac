import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimTaskAccount } from './task-accounts.ts';
import type { Machine } from './task-accounts.ts';

let folder: string;
let accounts: string;
let busy: Set<number>;
let machine: Machine;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-accounts-')));
  accounts = 'root:x:0:0::/root:/bin/sh\n';
  busy = new Set();
  let next = 900;
  const homeOf = (name: string): string => join(folder, 'homes', name);
  machine = {
    registry: join(folder, 'svc', 'task-users'),
    homeOf,
    accounts: () => accounts,
    isBusy: (uid) => busy.has(uid),
    makeAccount(name, uid = (next += 1)) {
      accounts += `${name}:x:${uid}:${uid}::${homeOf(name)}:/usr/sbin/nologin\n`;
    },
  };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function installation(name: string): string {
  const data = join(folder, name);
  mkdirSync(data, { recursive: true });
  return data;
}
const claim = (name: string): Promise<string> => claimTaskAccount(installation(name), machine);

it('each installation has an account of its own, the same at each start', async () => {
  expect(await claim('one')).toBe('svc-task');
  expect(await claim('two')).toBe('svc-task-2');
  expect(await claim('one')).toBe('svc-task');
});

it('installations that start at the same moment get different accounts', async () => {
  const names = await Promise.all(['one', 'two', 'three', 'four'].map(claim));
  expect(names.toSorted()).toEqual(['svc-task', 'svc-task-2', 'svc-task-3', 'svc-task-4']);
});

it('the account of a removed installation is used again, without its files, and not while its processes run', async () => {
  await claim('one');
  const treasure = join(machine.homeOf('svc-task'), 'treasure');
  mkdirSync(machine.homeOf('svc-task'), { recursive: true });
  writeFileSync(treasure, '');
  rmSync(join(folder, 'one'), { recursive: true });
  busy.add(901);
  expect(await claim('two')).toBe('svc-task-2');
  expect(existsSync(treasure)).toBe(true);
  busy.clear();
  expect(await claim('three')).toBe('svc-task');
  expect(existsSync(treasure)).toBe(false);
});

it('an account that belongs to somebody else, shares its uid, or runs processes that nobody has claimed is left alone', async () => {
  const homeOf = machine.homeOf;
  accounts += `svc-task:x:701:701::/home/somebody:/bin/sh\n`;
  accounts += `svc-task-2:x:702:702::${homeOf('svc-task-2')}:/bin/sh\nbackup:x:702:34::/var/backups:/bin/sh\n`;
  accounts += `svc-task-3:x:703:703::${homeOf('svc-task-3')}:/bin/sh\n`;
  busy.add(703);
  expect(await claim('one')).toBe('svc-task-4');
});

it('an account that is lost, as in a new container, is made again with its old uid', async () => {
  await claim('one');
  accounts = 'root:x:0:0::/root:/bin/sh\n';
  expect(await claim('one')).toBe('svc-task');
  expect(accounts).toContain('svc-task:x:901:901:');
});

it('a claimed account whose number somebody else has got meanwhile is refused, with what to do', async () => {
  await claim('one');
  accounts += 'backup:x:901:34::/var/backups:/bin/sh\n';
  await expect(claim('one')).rejects.toThrow('it shares its number with svc-task, backup');
});
