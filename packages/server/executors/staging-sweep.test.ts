import { expect, it } from 'vitest';
import { createStagingSweep, isDue } from './staging-sweep.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

it.each([
  ['of a run that waits', { state: 'queued', endedForMs: 9 * DAY }, false],
  ['of a run that goes on', { state: 'running', endedForMs: 9 * DAY }, false],
  ['of a run that succeeded', { state: 'success', endedForMs: 0 }, true],
  ['of a run that was deleted', { state: null, endedForMs: 0 }, true],
  ['of a run that has just failed', { state: 'failed', endedForMs: DAY - 1 }, false],
  ['of a run that failed long ago', { state: 'failed', endedForMs: DAY }, true],
  ["of another installation's run", undefined, false],
] as const)('what was staged %s', (_what, end, expected) => {
  expect(isDue(end, DAY)).toBe(expected);
});

it('one that cannot be removed, and one look that fails, keep nothing else from being removed', async () => {
  const warnings: string[] = [];
  const removed: number[] = [];
  let looks = 0;
  const sweep = createStagingSweep({
    list: async () => [1, 2].map((run) => ({ tenantId: 't', run })),
    async findRunEnds(runs) {
      looks += 1;
      if (looks === 1) throw new Error('no database');
      return new Map(runs.map(({ run }) => [`t/${run}`, { state: 'success' as const, endedForMs: 0 }]));
    },
    async remove({ run }) {
      if (run === 1) throw new Error('busy');
      removed.push(run);
      return true;
    },
    retentionMs: DAY,
    everyMs: 1,
    log: { debug() {}, info() {}, warn: (_details, message) => void warnings.push(message), error() {} },
  });
  sweep.start();
  await expect.poll(() => removed.length).toBeGreaterThan(1);
  await sweep.stop();
  expect(new Set(removed)).toEqual(new Set([2]));
  expect(warnings.length).toBeGreaterThan(1);
});
