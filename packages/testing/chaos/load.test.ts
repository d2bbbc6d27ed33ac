import { expect, it } from 'vitest';
import { SEED } from '../seed.ts';
import { runChaos } from './run-chaos.ts';

// The long version: npm run bench -- chaos --minutes 5
it('loses no acknowledged write and no process while Postgres is restarted, killed and paused under load', async () => {
  const report = await runChaos({
    seed: SEED,
    seconds: 10,
    leastWrites: 50,
    clients: 6,
  });
  expect(report.violations, `seed ${report.seed}`).toEqual([]);
  // Otherwise the run proves nothing: there was load, and there were faults it noticed.
  expect(report.acknowledgedWrites).toBeGreaterThanOrEqual(50);
  expect(report.answers).toMatchObject({ 201: expect.any(Number), 503: expect.any(Number) });
}, 180_000);
