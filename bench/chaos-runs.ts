// The long chaos test of runs: processes of every kind are killed, Postgres restarts and pauses, answers and
// notifications get lost.

import { runChaosOfRuns } from '@svc/testing/chaos/runs.ts';
import type { BenchOptions } from './figure.ts';

export async function run(options: BenchOptions): Promise<void> {
  const minutes = options.number('minutes', 3);
  const seed = options.number('seed', Date.now() % 1_000_000);
  const roles = options.text('roles') === 'split' ? 'split' : 'all';
  options.say(`chaos of runs for ${minutes} minutes, seed ${seed}, roles ${roles}`);
  const report = await runChaosOfRuns({
    roles,
    seed,
    seconds: minutes * 60,
    leaseSeconds: 30,
    liveRuns: 40,
    leastRuns: 1,
    longestFaultMs: 4_000,
    settings: { fsync: 'on' },
    log: options.say,
  });
  for (const violation of report.violations) options.say(`VIOLATION ${violation}`);
  const conditions = { roles, seed, minutes, faults: JSON.stringify(report.faults) };
  const figures = {
    attempts: [report.attempts, 'attempts'],
    'attempts cut short': [report.cutShort, 'attempts'],
    runs: [report.runs, 'runs'],
    'triggers not waited for': [report.walkedAway, 'requests'],
    'log lines read meanwhile': [report.logLinesSeen, 'lines'],
    violations: [report.violations.length, 'violations'],
    'all runs ended after the last fault': [report.endedAfterMs, 'ms'],
  } as const;
  for (const [figure, [value, unit]] of Object.entries(figures)) {
    options.print({ bench: 'chaos-runs', figure, value, unit, ...conditions });
  }
  if (report.violations.length > 0) throw new Error(`${report.violations.length} violation(s), seed ${seed}`);
}
