import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { lookAround } from './left-behind.ts';

it('a process that a file leaves running is found, until it has ended', async () => {
  const around = lookAround();
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  expect(around.problems()).toEqual(['this file left 1 processes running']);
  child.kill();
  await once(child, 'exit');
  await eventually(() => expect(around.problems()).toEqual([]));
});

it('what a file did to the environment is undone, also what it took away', () => {
  process.env['SVC_TEST_STAYS'] = 'before';
  process.env['SVC_TEST_GOES'] = 'before';
  const around = lookAround();
  process.env['SVC_TEST_STAYS'] = 'changed';
  process.env['SVC_TEST_NEW'] = 'new';
  delete process.env['SVC_TEST_GOES'];
  around.restoreEnvironment();
  const { SVC_TEST_STAYS: stays, SVC_TEST_GOES: goes, SVC_TEST_NEW: fresh } = process.env;
  expect([stays, goes, fresh]).toEqual(['before', 'before', undefined]);
});

it('another directory is found', () => {
  const around = lookAround();
  const directory = process.cwd();
  process.chdir(tmpdir());
  expect(around.problems()).toEqual([expect.stringContaining('changed the directory to')]);
  process.chdir(directory);
  expect(around.problems()).toEqual([]);
});
