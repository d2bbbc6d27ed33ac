// Every value in golden/ was answered by Airflow 3.2.2 itself (scripts/golden/timetables.py). Ours must be the same, to the
// microsecond; the one exception, where Airflow raises an error, is stated at `checkRaising`.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SECOND, instant } from './instant.ts';
import type { Instant } from './instant.ts';
import { inferManualInterval, iterRuns, nextRun } from './next-run.ts';
import { description, summary } from './presentation.ts';
import type { TimetableSpec } from './schema.ts';
import type { DataInterval } from './types.ts';
import { timetableProblems } from './validate.ts';

interface Runs {
  readonly end: readonly number[];
  readonly width: number | readonly number[];
}

interface ChainCase extends Runs {
  readonly t: TimetableSpec;
  readonly now: number;
  readonly catchup: boolean;
  readonly from: number | null;
  readonly to: number | null;
  readonly last?: readonly [number, number];
  readonly asked?: number;
  readonly raises?: string;
}

interface ManualCase {
  readonly t: TimetableSpec;
  readonly manual: readonly number[];
  readonly intervals: readonly (readonly [number, number] | null)[];
}

interface BackfillCase extends Runs {
  readonly t: TimetableSpec;
  readonly now: number;
  readonly backfill: readonly [number, number];
}

interface TextCase {
  readonly t: TimetableSpec;
  readonly summary: string;
  readonly description: string;
}

interface InvalidCase {
  readonly t: TimetableSpec;
  readonly invalid: true;
}

type GoldenCase = InvalidCase | ChainCase | ManualCase | BackfillCase | TextCase;

const DIRECTORY = join(import.meta.dirname, 'golden');
const CHAIN = 12;
const BACKFILL = 40;

const at = (seconds: number): Instant => instant(Math.round(seconds * SECOND));
const orNull = (seconds: number | null): Instant | null => (seconds === null ? null : at(seconds));

const expectedRuns = ({ end, width }: Runs): DataInterval[] => {
  let before = 0;
  return end.map((step, index) => {
    before += Math.round(step * SECOND);
    const length = typeof width === 'number' ? width : (width[index] ?? 0);
    return { start: instant(before - Math.round(length * SECOND)), end: instant(before) };
  });
};

const walk = ({ t, now, catchup, from, to, last }: ChainCase, count: number): DataInterval[] => {
  let lastInterval: DataInterval | null = last === undefined ? null : { start: at(last[0]), end: at(last[1]) };
  const query = { earliest: orNull(from), latest: orNull(to), catchup, now: at(now) };
  const runs: DataInterval[] = [];
  while (runs.length < count) {
    const run = nextRun(t, { lastInterval, ...query });
    if (run === null) break;
    expect(run.runAfter).toBe(run.dataInterval.end);
    expect(run.logicalDate).toBe(run.dataInterval.start);
    runs.push((lastInterval = run.dataInterval));
  }
  return runs;
};

/**
 * Where Airflow raises, its scheduler makes no run. We agree when there is nothing to run any more; where it only stumbles
 * over its own look backwards (no earlier match, or an hour that happened twice), the runs that exist are made, in order.
 */
const NOTHING_LEFT = 'failed to find next date';

const checkRaising = (item: ChainCase, expected: readonly DataInterval[]): void => {
  const ours = walk(item, expected.length + 2);
  expect(ours.slice(0, expected.length)).toEqual(expected);
  if (item.raises === NOTHING_LEFT) expect(ours).toHaveLength(expected.length);
  // With an end date there may be none left before it.
  else if (item.to === null) expect(ours.length).toBeGreaterThan(expected.length);
  expect(ours.every((run, index) => run.end > (ours[index - 1]?.end ?? -Infinity))).toBe(true);
};

const counts = new Map<string, { series: number; values: number; raised: number }>();

const count = (type: string, values: number, raised: boolean): void => {
  const row = counts.get(type) ?? { series: 0, values: 0, raised: 0 };
  counts.set(type, { series: row.series + 1, values: row.values + values, raised: row.raised + (raised ? 1 : 0) });
};

const checkChain = (item: ChainCase): void => {
  const expected = expectedRuns(item);
  if (item.raises === undefined) expect(walk(item, item.asked ?? CHAIN)).toEqual(expected);
  else checkRaising(item, expected);
  count(item.t.type, expected.length, item.raises !== undefined);
};

const checkManual = ({ t, manual, intervals }: ManualCase): void => {
  for (const [index, moment] of manual.entries()) {
    const interval = intervals[index] ?? null;
    if (interval === null) continue;
    expect(inferManualInterval(t, at(moment))).toEqual({ start: at(interval[0]), end: at(interval[1]) });
  }
  count(t.type, manual.length, false);
};

const checkBackfill = (item: BackfillCase): void => {
  const expected = expectedRuns(item);
  const [from, to] = item.backfill;
  const ours: DataInterval[] = [];
  for (const run of iterRuns(item.t, { from: at(from), to: at(to), now: at(item.now) })) {
    if (ours.push(run.dataInterval) === BACKFILL) break;
  }
  expect(ours).toEqual(expected);
  count(item.t.type, expected.length, false);
};

const checkTexts = (item: TextCase): void => {
  // "None" is what Airflow's object says; its API answers null, and so do we.
  expect(summary(item.t)).toBe(item.t.type === 'null' ? null : item.summary);
  expect(description(item.t)).toBe(item.description);
  count(item.t.type, 2, false);
};

const checkInvalid = ({ t }: InvalidCase): void => {
  expect(timetableProblems(t)).toHaveLength(1);
  count(t.type, 1, false);
};

const checkCase = (item: GoldenCase): void => {
  if ('manual' in item) checkManual(item);
  else if ('backfill' in item) checkBackfill(item);
  else if ('summary' in item) checkTexts(item);
  else if ('invalid' in item) checkInvalid(item);
  else checkChain(item);
};

const failureText = (item: GoldenCase, error: unknown): string =>
  `${JSON.stringify(item)}\n  ${error instanceof Error ? error.message : String(error)}`;

describe('Airflow 3.2.2 and this engine agree on', () => {
  for (const file of readdirSync(DIRECTORY).filter((name) => name.endsWith('.json'))) {
    it(`golden/${file}`, () => {
      const cases: GoldenCase[] = JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8'));
      const failures: string[] = [];
      for (const item of cases) {
        try {
          checkCase(item);
        } catch (error) {
          failures.push(failureText(item, error));
        }
      }
      expect(cases.length).toBeGreaterThan(0);
      // A few are enough to see the pattern; thousands would hide it.
      expect(failures.slice(0, 5).join('\n')).toBe('');
    });
  }

  afterAll(() => {
    const rows = [...counts].toSorted(([a], [b]) => a.localeCompare(b));
    console.table(Object.fromEntries(rows.map(([type, row]) => [type, row])));
  });
});
