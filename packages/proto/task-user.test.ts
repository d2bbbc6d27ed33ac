import { expect, test } from 'vitest';
import { findAccount, taskUserOf } from './task-user.ts';

const ROOT = 0;

test('an account is found by its whole name, with its home', () => {
  const accounts = 'svc-task2:x:1:1::/a:/b\nsvc-task:x:999:995::/var/lib/svc-task:/usr/sbin/nologin\n';
  expect(findAccount('svc-task', accounts)).toEqual({
    name: 'svc-task',
    uid: 999,
    gid: 995,
    home: '/var/lib/svc-task',
  });
  expect(findAccount('svc', accounts)).toBeUndefined();
});

test('tasks run as ourselves when nobody is named, or we are', () => {
  expect(taskUserOf('', ROOT)).toBeUndefined();
  expect(taskUserOf('root', ROOT)).toBeUndefined();
  expect(taskUserOf('nobody', findAccount('nobody')?.uid)).toBeUndefined();
});

test('root may name another; who is not root may not, and is told', () => {
  expect(taskUserOf('nobody', ROOT)).toEqual(findAccount('nobody'));
  expect(() => taskUserOf('nobody', 4_711)).toThrow('only root can run tasks as another user');
});

test('accounts that tasks must not run as are refused: unknown, all-powerful', () => {
  expect(() => taskUserOf('no-such-account', ROOT)).toThrow('this machine has no such account');
  expect(() => taskUserOf('root', 4_711)).toThrow('executor.task_user is "root"');
});
