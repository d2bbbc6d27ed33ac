import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { startRedis } from '@svc/testing/services/redis.ts';
import type { TestRedis } from '@svc/testing/services/redis.ts';
import { openRedis } from '../redis/redis.ts';
import { createDiskLogStore } from './disk-store.ts';
import { LOGS_CHANNEL } from './shared-watchers.ts';

let server: TestRedis;
let dir: string;
const open: { close(): unknown }[] = [];

beforeAll(async () => {
  server = await startRedis();
  dir = mkdtempSync(join(tmpdir(), 'svc-shared-logs-'));
});
afterAll(async () => {
  for (const each of open) await each.close();
  await server.close();
  rmSync(dir, { recursive: true, force: true });
});

/** As another process has it. */
async function processOf() {
  const redis = openRedis({
    settings: { url: server.url(), caFile: '', answerWithinMs: 10_000 },
    log: { info: () => {}, warn: () => {} },
  });
  const logs = createDiskLogStore({ dir, carrier: redis });
  open.push(logs, redis);
  await eventually(() => expect(redis.isUp()).toBe(true));
  return logs;
}

const KEY = { tenantId: 't', dagId: 'd', runId: 'r', taskId: 'x', mapIndex: -1, tryNumber: 1 };
const subscribers = () => Number(server.cli('PUBSUB', 'NUMSUB', LOGS_CHANNEL).split('\n').at(-1));

it('a line that another process wrote wakes who follows it, and Redis lost and found again wakes everybody', async () => {
  const [writer, reader] = [await processOf(), await processOf()];
  const never = { withinMs: 2 ** 31 - 1 }; // without word this test would run into its own limit
  const watch = reader.watch(KEY);
  await watch.next(never); // word may have been lost before it listened: it looks once
  await eventually(() => expect(subscribers()).toBe(1));
  const woken = watch.next(never);
  await writer.append({ ...KEY, taskId: 'other' }, 0, Buffer.from('not this one\n'));
  await writer.append(KEY, 0, Buffer.from('line\n'));
  await woken;
  const again = watch.next(never);
  await server.stop();
  await server.start();
  await again;
  watch.close();
});
