// Measures the amortised time of one step of a cron schedule, in zones with and without clock changes.

import { instant, instantFromIso } from '@svc/spec/timetables/instant.ts';
import { nextRun } from '@svc/spec/timetables/next-run.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { DataInterval } from '@svc/spec/timetables/types.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const STEPS = 200_000;
const CASES: readonly (readonly [string, string])[] = [
  ['30 2 * * *', 'America/New_York'],
  ['*/15 * * * *', 'America/New_York'],
  ['30 2 * * *', 'Australia/Lord_Howe'],
  ['0 9 * * mon-fri', 'Europe/London'],
  ['0 0 13 * 5', 'Africa/Casablanca'],
  ['0 0 29 2 *', 'Europe/Paris'],
  ['0 0 * * *', 'UTC'],
];

const START = instantFromIso('2020-01-01T00:00:00Z') ?? instant(0);
const LATEST = instantFromIso('2030-01-01T00:00:00Z');

/**
 * Returns microseconds per step. It starts again after ten years of the schedule, so that figures cover realistic
 * years.
 */
function walk(timetable: TimetableSpec, steps: number): number {
  let lastInterval: DataInterval | null = null;
  const begin = process.hrtime.bigint();
  for (let step = 0; step < steps; step += 1) {
    const run = nextRun(timetable, { lastInterval, earliest: START, latest: LATEST, catchup: true, now: START });
    lastInterval = run === null ? null : run.dataInterval;
  }
  return Number(process.hrtime.bigint() - begin) / 1_000 / steps;
}

export async function run({ print }: BenchOptions): Promise<void> {
  for (const [expression, timezone] of CASES) {
    const timetable: TimetableSpec = { type: 'cron_trigger', expression, timezone };
    const first = walk(timetable, 1);
    const value = rounded(walk(timetable, STEPS));
    print({
      bench: 'timetables',
      figure: 'next_run',
      value,
      unit: 'us',
      first_us: rounded(first),
      expression,
      timezone,
      steps: STEPS,
    });
  }
}
