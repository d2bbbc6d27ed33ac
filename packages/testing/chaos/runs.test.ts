import { expect, it } from 'vitest';
import { IS_NIGHTLY } from '../nightly.ts';
import { SEED } from '../seed.ts';
import { RUN_FAULTS } from './runs-faults.ts';
import { runChaosOfRuns } from './runs.ts';

// By day each kind of fault comes about once. The long version: npm run bench -- chaos-runs --minutes 3
it('ends every run, and runs nothing twice, while all kinds of processes are killed and answers are lost', async () => {
  const report = await runChaosOfRuns({
    seed: SEED,
    seconds: IS_NIGHTLY ? 120 : 1, // and until each kind of fault came about
    leastRuns: 12,
    leaseSeconds: 15,
    liveRuns: IS_NIGHTLY ? 10 : 4,
    longestFaultMs: IS_NIGHTLY ? 1_000 : 600,
    ...(!IS_NIGHTLY && { faults: RUN_FAULTS }),
  });
  expect(report.violations, `seed ${report.seed}`).toEqual([]);
  // Otherwise the run proves nothing: tasks have run, and something has befallen them.
  expect(report.runs).toBeGreaterThanOrEqual(12);
  expect(report.attempts).toBeGreaterThanOrEqual(report.runs);
  expect(RUN_FAULTS.filter((fault) => report.faults[fault] > 0).length).toBeGreaterThan(1);
}, 600_000);

// The long version: npm run bench -- chaos-runs --roles split
it('loses nothing, and runs nothing twice, when two schedulers and two api processes are killed in turn', async () => {
  const report = await runChaosOfRuns({
    roles: 'split',
    seed: SEED,
    seconds: 1, // and until each of the four was killed
    leastRuns: 5,
    leaseSeconds: 15,
    liveRuns: 3,
    longestFaultMs: 300,
    faults: ['kill server', 'kill server', 'kill server', 'kill server'],
  });
  expect(report.violations, `seed ${report.seed}`).toEqual([]);
  expect(report.faults['kill server']).toBeGreaterThanOrEqual(4);
  expect(report.runs).toBeGreaterThanOrEqual(5);
  expect(report.attempts).toBeGreaterThanOrEqual(report.runs);
}, 600_000);
