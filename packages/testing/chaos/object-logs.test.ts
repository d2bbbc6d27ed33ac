/** Whoever takes the lines of logs and brings them to the object store is killed at any moment, and the store has bad moments. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { eventually } from '../eventually.ts';
import { SCRIPT_ARGUMENTS } from '../node-arguments.ts';
import { SEED } from '../seed.ts';
import { startFaultProxy } from '../services/fault-proxy.ts';
import type { Fault, FaultProxy } from '../services/fault-proxy.ts';
import { TEST_PACE, TEST_PREFIX, keysOf, startLogPlant, textOf } from '../services/object-logs.ts';
import type { LogPlant } from '../services/object-logs.ts';
import { TEST_BUCKET, startS3 } from '../services/s3.ts';
import type { S3Server } from '../services/s3.ts';
import { CHAOS_LINE_BYTES, chaosLine } from './object-logs-writer.ts';
import type { WriterInput } from './object-logs-writer.ts';
import { createRandom } from './random.ts';

const LIVES = 3;
let plant: LogPlant;
let s3: S3Server;
let proxy: FaultProxy;
beforeAll(async () => {
  [plant, s3] = await Promise.all([startLogPlant(), startS3()]);
  proxy = await startFaultProxy(s3.port);
});
afterAll(async () => {
  await plant?.close();
  await proxy?.close();
  await s3?.stop();
});

it('no line that was acknowledged is lost, and none is there twice', async () => {
  const random = createRandom(SEED);
  const faults: readonly Fault[] = [
    { kind: 'status', status: 503 },
    { kind: 'reset' },
    { kind: 'lost-answer' },
    { kind: 'half-request' },
    { kind: 'half-answer' },
  ];
  proxy.faults = () => (random.below(4) === 0 ? random.pick(faults) : undefined);
  const logKeys = [await plant.begin(), await plant.begin(), await plant.begin()];
  const acknowledged = logKeys.map(() => 0);
  const input: WriterInput = {
    databaseUrl: plant.databaseUrl,
    endpoint: proxy.url,
    bucket: TEST_BUCKET,
    prefix: TEST_PREFIX,
    logKeys,
    pace: { ...TEST_PACE, leaseMs: 2_000 },
  };
  for (let life = 0; life < LIVES; life += 1) {
    const writer = spawn(
      process.execPath,
      [...SCRIPT_ARGUMENTS, join(import.meta.dirname, 'object-logs-writer.ts'), JSON.stringify(input)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    writer.once('exit', endsWithThisProcess({ pids: writer.pid === undefined ? [] : [writer.pid] }));
    const before = acknowledged.reduce((sum, length) => sum + length, 0);
    createInterface({ input: writer.stdout }).on('line', (line) => {
      const [index = 0, length = 0] = line.split(' ').map(Number);
      acknowledged[index] = Math.max(acknowledged[index] ?? 0, length);
    });
    // At some moment after it has got somewhere.
    await eventually(() =>
      expect(acknowledged.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(before + 30_000),
    );
    await sleep(random.below(300));
    const gone = once(writer, 'close');
    writer.kill('SIGKILL');
    await gone;
  }
  proxy.faults = () => undefined;
  const logs = plant.openLogs(s3.store());
  await Promise.all(logKeys.map((logKey) => plant.finish(logKey)));
  await eventually(async () => {
    expect(await plant.unfinished(), plant.messages.join('\n')).toBe(0);
  });
  for (const [index, logKey] of logKeys.entries()) {
    const text = await textOf(logs, logKey);
    expect(text.length).toBeGreaterThanOrEqual(acknowledged[index] ?? 0);
    expect(text).toBe(Array.from({ length: text.length / CHAOS_LINE_BYTES }, (_, line) => chaosLine(line)).join(''));
  }
  // What a killed one had uploaded and not recorded is a part that nobody knows, for the daily listing to find.
  const keys = await keysOf(s3.store(), `${TEST_PREFIX}/`);
  expect(keys.filter((key) => !key.includes('.log.parts/'))).toHaveLength(logKeys.length);
  expect(keys.length).toBeLessThanOrEqual(logKeys.length + LIVES);
});
