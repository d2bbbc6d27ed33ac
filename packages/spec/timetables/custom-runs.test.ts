import { describe, expect, it } from 'vitest';
import { lookUpCustomRun, storedCustomRun, wantsAnswers, withTable } from './custom-runs.ts';
import { instantFromIso, instantToIso } from './instant.ts';
import type { Instant } from './instant.ts';
import { inferManualInterval, nextRun } from './next-run.ts';
import { description, scheduleIntervalOnTheWire, summary } from './presentation.ts';
import type { CustomTable, CustomTimetable } from './schema.ts';
import { activeRunsLimit, canBeScheduled, isPeriodic } from './traits.ts';
import { timetableProblems } from './validate.ts';

const at = (text: string): Instant => {
  const found = instantFromIso(text);
  if (found === null) throw new Error(text);
  return found;
};
const day = (number: number, hour = 0) =>
  `2026-01-${String(number).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00+00:00`;
const runOf = (number: number) => ({ start: day(number), end: day(number + 1), run_after: day(number + 1, 2) });
const interval = (number: number) => ({ start: at(day(number)), end: at(day(number + 1)) });
const table = (first: number, count: number, more: Partial<CustomTable> = {}): CustomTable => ({
  after: null,
  asked_at: day(1),
  runs: Array.from({ length: count }, (_, index) => runOf(first + index)),
  complete: false,
  ...more,
});
const own = (given?: CustomTable, more: Partial<CustomTimetable> = {}): CustomTimetable => ({
  type: 'custom',
  class: 'mine.Own',
  arguments: {},
  summary: 'my own',
  description: 'As I like it',
  periodic: true,
  can_be_scheduled: true,
  active_runs_limit: null,
  ...(given && { table: given }),
  ...more,
});
const query = (last: number | null, now = day(1), catchup = true) => ({
  lastInterval: last === null ? null : interval(last),
  earliest: null,
  latest: null,
  catchup,
  now: at(now),
});

describe('the table of an own timetable', () => {
  it('answers what was asked, with the moment the author chose, and nothing else', () => {
    const known = own(table(1, 3));
    expect(nextRun(known, query(null))).toMatchObject({ logicalDate: at(day(1)), runAfter: at(day(2, 2)) });
    expect(nextRun(known, query(2))).toMatchObject({ logicalDate: at(day(3)) });
    expect(lookUpCustomRun(known, query(3))).toEqual({ kind: 'ask' }); // behind its end
    expect(lookUpCustomRun(known, query(9))).toEqual({ kind: 'ask' }); // a run it never named
    expect(lookUpCustomRun(own(), query(null))).toEqual({ kind: 'ask' });
    expect(lookUpCustomRun(own(table(5, 1, { after: { start: day(4), end: day(5) } })), query(null)).kind).toBe('ask');
    expect(nextRun(own(table(5, 1, { after: { start: day(4), end: day(5) } })), query(4))?.logicalDate).toBe(
      at(day(5)),
    );
  });

  it('that is complete has an end; one that cannot be scheduled never begins', () => {
    expect(lookUpCustomRun(own(table(1, 2, { complete: true })), query(2))).toEqual({ kind: 'none' });
    expect(lookUpCustomRun(own(undefined, { can_be_scheduled: false }), query(null))).toEqual({ kind: 'none' });
  });

  it('is asked again when runs were missed without catchup, but not twice for the same answer', () => {
    const known = own(table(1, 5));
    expect(lookUpCustomRun(known, query(null, day(8), true)).kind).toBe('run');
    expect(lookUpCustomRun(known, query(null, day(8), false)).kind).toBe('ask');
    expect(lookUpCustomRun(own(table(1, 5, { asked_at: day(8) })), query(null, day(8), false)).kind).toBe('run');
    expect(lookUpCustomRun(known, query(null, day(2, 3), false)).kind).toBe('run'); // only one is due
  });

  it('wants more before it has run out', () => {
    expect(wantsAnswers(own(table(1, 28)), query(null))).toBe(false);
    expect(wantsAnswers(own(table(1, 28)), query(6))).toBe(true);
    expect(wantsAnswers(own(table(1, 2, { complete: true })), query(1))).toBe(false);
    expect(wantsAnswers({ type: 'once' }, query(null))).toBe(false);
    const either = {
      type: 'asset_or_time' as const,
      timetable: own(),
      assets: { type: 'asset_any' as const, objects: [] },
    };
    expect(wantsAnswers(either, query(null))).toBe(true);
    expect(withTable(either, table(1, 30)).timetable).toEqual(own(table(1, 30)));
  });

  it('knows the run of an interval; one it has forgotten is what the row says', () => {
    expect(instantToIso(storedCustomRun(own(table(1, 2)), interval(2), at(day(9))).runAfter)).toBe(day(3, 2));
    expect(instantToIso(storedCustomRun(own(), interval(2), at(day(9))).runAfter)).toBe(day(9));
  });
});

describe('an own timetable', () => {
  it('is shown as its author describes it', () => {
    expect([summary(own()), description(own()), scheduleIntervalOnTheWire(own())]).toEqual([
      'my own',
      'As I like it',
      null,
    ]);
    expect([
      isPeriodic(own()),
      canBeScheduled(own()),
      activeRunsLimit(own(undefined, { active_runs_limit: 2 })),
    ]).toEqual([true, true, 2]);
    expect(inferManualInterval(own(), at(day(1)))).toEqual({ start: at(day(1)), end: at(day(1)) });
  });

  it('with a table that has no dates is refused', () => {
    const wrong = own(table(1, 1, { runs: [{ start: 'x', end: day(2), run_after: day(2) }] }));
    expect(timetableProblems(wrong)).toMatchObject([{ path: 'table.runs[0]' }]);
  });
});
