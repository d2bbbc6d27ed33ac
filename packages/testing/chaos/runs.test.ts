import { expect, it } from 'vitest';
import { IS_NIGHTLY } from '../nightly.ts';
import { SEED } from '../seed.ts';
import { RUN_FAULTS } from './runs-faults.ts';
import { runChaosOfRuns } from './runs.ts';
import type { RunChaosOptions } from './runs.ts';

const BY_DAY = {
  roles: 'split',
  seconds: 1, // and until each fault came about
  liveRuns: 4,
  longestFaultMs: 600,
  // Each of the four processes is killed once.
  faults: [...RUN_FAULTS, 'kill server', 'kill server', 'kill server'],
} satisfies Partial<RunChaosOptions>;
const AT_NIGHT = { seconds: 120, liveRuns: 10, longestFaultMs: 1_000 };

// By day one plant with split roles meets each kind of fault. The long version: npm run bench -- chaos-runs --minutes 3
it('ends every run, and runs nothing twice, while all kinds of processes are killed and answers are lost', async () => {
  const report = await runChaosOfRuns({
    seed: SEED,
    leastRuns: 12,
    leaseSeconds: 15,
    ...(IS_NIGHTLY ? AT_NIGHT : BY_DAY),
  });
  expect(report.violations, `seed ${report.seed}`).toEqual([]);
  // Otherwise the run proves nothing: tasks have run, and something has befallen them.
  expect(report.runs).toBeGreaterThanOrEqual(12);
  expect(report.attempts).toBeGreaterThanOrEqual(report.runs);
  expect(RUN_FAULTS.filter((fault) => report.faults[fault] > 0).length).toBeGreaterThan(1);
  expect(report.faults['kill server']).toBeGreaterThanOrEqual(IS_NIGHTLY ? 1 : 4);
}, 600_000);

if (IS_NIGHTLY) {
  // The long version: npm run bench -- chaos-runs --roles split
  it('loses nothing, and runs nothing twice, when two schedulers and two api processes are killed in turn', async () => {
    const report = await runChaosOfRuns({
      roles: 'split',
      seed: SEED,
      seconds: 60, // and until each of the four was killed
      leastRuns: 5,
      leaseSeconds: 10,
      liveRuns: 3,
      longestFaultMs: 300,
      faults: ['kill server', 'kill server', 'kill server', 'kill server'],
    });
    expect(report.violations, `seed ${report.seed}`).toEqual([]);
    expect(report.faults['kill server']).toBeGreaterThanOrEqual(4);
    expect(report.runs).toBeGreaterThanOrEqual(5);
    expect(report.attempts).toBeGreaterThanOrEqual(report.runs);
  }, 800_000);
}
