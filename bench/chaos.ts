// The long chaos test on a Postgres with fsync, with faults of up to 12 seconds and one outage of 60 seconds.

import { runChaos } from '@svc/testing/chaos/run-chaos.ts';
import type { BenchOptions } from './figure.ts';

export async function run(options: BenchOptions): Promise<void> {
  const minutes = options.number('minutes', 5);
  const seed = options.number('seed', Date.now() % 1_000_000);
  options.say(`chaos for ${minutes} minutes, seed ${seed}`);
  const report = await runChaos({
    seed,
    seconds: minutes * 60,
    leastWrites: 1,
    clients: 8,
    longestFaultMs: 12_000,
    outageMs: 60_000,
    settings: { fsync: 'on' },
    log: options.say,
  });
  for (const violation of report.violations) options.say(`VIOLATION ${violation}`);
  const conditions = { seed, minutes, faults: JSON.stringify(report.faults), answers: JSON.stringify(report.answers) };
  const figures = {
    'acknowledged writes': [report.acknowledgedWrites, 'writes'],
    violations: [report.violations.length, 'violations'],
    'recovery after the last fault': [report.recoveredAfterMs, 'ms'],
  } as const;
  for (const [figure, [value, unit]] of Object.entries(figures)) {
    options.print({ bench: 'chaos', figure, value, unit, ...conditions });
  }
  if (report.violations.length > 0) throw new Error(`${report.violations.length} violation(s), seed ${seed}`);
}
