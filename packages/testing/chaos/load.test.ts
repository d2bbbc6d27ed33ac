import { expect, it } from 'vitest';
import { IS_NIGHTLY } from '../nightly.ts';
import { SEED } from '../seed.ts';
import { runChaos } from './run-chaos.ts';

// By day the seed cuts connections, kills Postgres and pauses it. The long version: npm run bench -- chaos --minutes 5
it('loses no acknowledged write and no process while Postgres is restarted, killed and paused under load', async () => {
  const report = await runChaos({
    seed: SEED,
    seconds: IS_NIGHTLY ? 60 : 8,
    leastWrites: 50,
    clients: IS_NIGHTLY ? 6 : 2,
  });
  expect(report.violations, `seed ${report.seed}`).toEqual([]);
  // Otherwise the run proves nothing: there was load, and there were faults it noticed.
  expect(report.acknowledgedWrites).toBeGreaterThanOrEqual(50);
  expect(report.answers).toMatchObject({ 201: expect.any(Number), 503: expect.any(Number) });
}, 400_000);
