// How long one step of a cron schedule takes, amortised, in zones with and without clock changes:
//   node packages/spec/timetables/next-run.bench.ts
// Prints one JSON line per figure.

import { instant, instantFromIso } from './instant.ts';
import { nextRun } from './next-run.ts';
import type { TimetableSpec } from './schema.ts';
import type { DataInterval } from './types.ts';

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

/** Restarts every ten years of schedule, so that figures are about the years schedulers live in. */
const walk = (timetable: TimetableSpec, steps: number): number => {
  const latest = instantFromIso('2030-01-01T00:00:00Z');
  let lastInterval: DataInterval | null = null;
  const begin = process.hrtime.bigint();
  for (let step = 0; step < steps; step++) {
    const run = nextRun(timetable, { lastInterval, earliest: START, latest, catchup: true, now: START });
    lastInterval = run === null ? null : run.dataInterval;
  }
  return Number(process.hrtime.bigint() - begin) / 1_000 / steps;
};

for (const [expression, timezone] of CASES) {
  const timetable: TimetableSpec = { type: 'cron_trigger', expression, timezone };
  const cold = walk(timetable, 1);
  const micros = walk(timetable, STEPS);
  const figure = { figure: 'timetable_next_run_us', expression, timezone, cold_us: cold, value: micros, steps: STEPS };
  process.stdout.write(`${JSON.stringify(figure)}\n`);
}
