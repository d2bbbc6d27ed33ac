import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { WAITS_VARIABLE, readWaits, reportWaits } from './slow-waits.ts';

let folder: string;
const before = process.env[WAITS_VARIABLE];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-waits-'));
  process.env[WAITS_VARIABLE] = folder;
});
afterEach(async () => {
  if (before === undefined) delete process.env[WAITS_VARIABLE];
  else process.env[WAITS_VARIABLE] = before;
  await rm(folder, { recursive: true, force: true });
});

const FILE = 'packages/testing/slow-waits.test.ts';

it('a wait that took long is recorded with its place, also when it was in vain, and a short one is not', async () => {
  const from = performance.now();
  await eventually(() => performance.now() - from > 150, { everyMs: 5 });
  await eventually(() => false, { everyMs: 5, withinMs: 120 }).catch(() => {});
  await eventually(() => true);
  const waits = readWaits(folder);
  expect(waits).toHaveLength(2);
  for (const { ms, place, file } of waits) {
    expect(ms).toBeGreaterThanOrEqual(100);
    expect(place).toMatch(new RegExp(`^${FILE}:\\d+$`));
    expect(file).toBe(FILE);
  }
});

it('nothing is recorded where nobody asks for it', async () => {
  delete process.env[WAITS_VARIABLE];
  const from = performance.now();
  await eventually(() => performance.now() - from > 120, { everyMs: 5 });
  expect(readWaits(folder)).toEqual([]);
});

it('the report names each place once, the longest wait first, and no wait within the limit', () => {
  const waits = [
    { ms: 5_200, place: 'packages/a.ts:1', file: 'packages/a.test.ts' },
    { ms: 7_900, place: 'packages/a.ts:1', file: 'packages/b.test.ts' },
    { ms: 9_000, place: 'packages/c.test.ts:7', file: 'packages/c.test.ts' },
    { ms: 5_000, place: 'packages/d.test.ts:7', file: 'packages/d.test.ts' },
  ];
  expect(reportWaits(waits, 5_000)).toEqual([
    '   9.0 s  1 ×  packages/c.test.ts:7',
    '   7.9 s  2 ×  packages/a.ts:1 from packages/a.test.ts, packages/b.test.ts',
  ]);
  expect(reportWaits(waits, 10_000)).toEqual([]);
});
