import { expect, it } from 'vitest';
import { SEED } from '../seed.ts';
import { RUN_FAULTS } from './runs-faults.ts';
import { runChaosOfRuns } from './runs.ts';

// The long version: npm run bench -- chaos-runs --minutes 3
it('ends every run, and runs nothing twice, while all kinds of processes are killed and answers are lost', async () => {
  const report = await runChaosOfRuns({
    seed: SEED,
    seconds: 20,
    leaseSeconds: 15,
    liveRuns: 10,
    longestFaultMs: 1_000,
  });
  expect(report.violations, `seed ${report.seed}`).toEqual([]);
  // Otherwise the run proves nothing: tasks have run, and something has befallen them.
  expect(report.attempts).toBeGreaterThan(50);
  expect(RUN_FAULTS.filter((fault) => report.faults[fault] > 0).length).toBeGreaterThan(1);
}, 400_000);
