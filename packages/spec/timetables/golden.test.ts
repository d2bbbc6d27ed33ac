// Every value in golden/ was answered by Airflow 3.2.2 itself (scripts/golden/timetables.py). Ours must be the same, to the
// microsecond; the one exception, where Airflow raises an error, is stated at `agreesUpToError`.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SECOND, instant } from './instant.ts';
import type { Instant } from './instant.ts';
import { inferManualInterval, iterRuns, nextRun } from './next-run.ts';
import { description, summary } from './presentation.ts';
import type { TimetableSpec } from './schema.ts';
import type { DataInterval } from './types.ts';

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

type GoldenCase = ChainCase | ManualCase | BackfillCase | TextCase;

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

/** Airflow raises where it looks for a point that does not exist; a scheduler that shrugs must at least not go backwards. */
const agreesUpToError = (expected: readonly DataInterval[], ours: readonly DataInterval[]): boolean =>
  JSON.stringify(ours.slice(0, expected.length)) === JSON.stringify(expected) &&
  ours.every((run, index) => index === 0 || run.end > (ours[index - 1]?.end ?? 0));

const counts = new Map<string, { series: number; values: number; raised: number }>();

const count = (type: string, values: number, raised: boolean): void => {
  const row = counts.get(type) ?? { series: 0, values: 0, raised: 0 };
  counts.set(type, { series: row.series + 1, values: row.values + values, raised: row.raised + (raised ? 1 : 0) });
};

const checkChain = (item: ChainCase): void => {
  const expected = expectedRuns(item);
  if (item.raises === undefined) expect(walk(item, item.asked ?? CHAIN)).toEqual(expected);
  else expect(agreesUpToError(expected, walk(item, expected.length + 2))).toBe(true);
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

const checkCase = (item: GoldenCase): void => {
  if ('manual' in item) checkManual(item);
  else if ('backfill' in item) checkBackfill(item);
  else if ('summary' in item) checkTexts(item);
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
