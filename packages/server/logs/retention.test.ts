import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { createDiskLogStore } from './disk-store.ts';
import type { LogKey } from './log-key.ts';
import { createLogRetention } from './retention.ts';
import type { LogStore } from './store.ts';

const DAY = 86_400_000;
const logKey = (taskId: string): LogKey => ({
  tenantId: 't',
  dagId: 'd',
  runId: 'r',
  taskId,
  mapIndex: -1,
  tryNumber: 1,
});

let dir: string;
let logs: LogStore;
const told: string[] = [];
const log = {
  info: (_details: object, text: string) => told.push(text),
  warn: (_: object, text: string) => told.push(text),
};
beforeEach(async () => {
  told.length = 0;
  dir = await mkdtemp(join(tmpdir(), 'svc-logs-'));
  logs = createDiskLogStore({ dir });
  for (const taskId of ['old', 'new']) await logs.append(logKey(taskId), 0, Buffer.from('x\n'));
  const lastWeek = new Date(Date.now() - 7 * DAY);
  await utimes(join(dir, 't', 'd', 'r', 'old~1.log'), lastWeek, lastWeek);
});
afterEach(async () => {
  await logs.close();
  await rm(dir, { recursive: true, force: true });
});

it('log retention removes what is older, again and again, and keeps what is not', async () => {
  const retention = createLogRetention({ logs, retentionMs: DAY, everyMs: 10, log });
  retention.start();
  await eventually(async () => (await logs.size(logKey('old'))) === 0);
  await logs.append(logKey('old again'), 0, Buffer.from('x\n'));
  const lastWeek = new Date(Date.now() - 7 * DAY);
  await utimes(join(dir, 't', 'd', 'r', 'old%20again~1.log'), lastWeek, lastWeek);
  await eventually(async () => (await logs.size(logKey('old again'))) === 0);
  await retention.stop();
  expect(await logs.size(logKey('new'))).toBe(2);
  expect(told).toContain('task logs past their retention removed');
});

it('log retention that is off keeps everything', async () => {
  const retention = createLogRetention({ logs, retentionMs: 0, everyMs: 1, log });
  retention.start();
  await retention.stop();
  expect(await logs.size(logKey('old'))).toBe(2);
});

it('log retention goes on after a sweep that failed', async () => {
  let failures = 2;
  const flaky: Pick<LogStore, 'sweep'> = {
    sweep: async (input) => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk away');
      return logs.sweep(input);
    },
  };
  const retention = createLogRetention({ logs: flaky, retentionMs: DAY, everyMs: 5, log });
  retention.start();
  await eventually(async () => (await logs.size(logKey('old'))) === 0);
  await retention.stop();
  expect(told).toContain('old task logs could not be removed; tried again later');
});
