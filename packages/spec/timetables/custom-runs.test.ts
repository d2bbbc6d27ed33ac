import { describe, expect, it } from 'vitest';
import { isMissed, lookUpCustomRun, storedCustomRun, wantsAnswers, withTable } from './custom-runs.ts';
import { instantFromIso, instantToIso } from './instant.ts';
import type { Instant } from './instant.ts';
import { inferManualInterval, nextRun } from './next-run.ts';
import { isPartitioned } from './partition-runs.ts';
import { description, scheduleIntervalOnTheWire, summary } from './presentation.ts';
import type { CustomTable, CustomTimetable, TimetableSpec } from './schema.ts';
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

describe('runs of partitions that an own timetable gives', () => {
  const moment = (number: number) => ({ start: day(number), end: day(number), run_after: day(number) });
  const partition = (number: number) => ({
    ...moment(number),
    undated: true as const,
    partition_key: `key ${number}`,
    partition_date: day(number - 1),
  });
  const known = own(table(1, 0, { runs: [partition(2), partition(3)] }), { partitioned: true });
  const last = { start: at(day(2)), end: at(day(2)) };

  it('have their key and no dates, and the one after the last is found by its moment', () => {
    expect(nextRun(known, { ...query(null), lastInterval: last })).toMatchObject({
      runAfter: at(day(3)),
      partitionKey: 'key 3',
      partitionDate: at(day(2)),
      isUndated: true,
    });
    expect(isPartitioned(known)).toBe(true);
    expect(isPartitioned(own())).toBe(false);
  });

  it('are not made of what the row remembers when the table does not know them: the key is nowhere else', () => {
    const forgotten = { start: at(day(9)), end: at(day(9)) };
    expect(isMissed(known, forgotten, query(null))).toBe(true);
    expect(isMissed(known, last, query(null))).toBe(false);
    expect(isMissed(own(table(1, 3)), forgotten, query(null))).toBe(false);
  });

  it('with dates that cannot be read are refused', () => {
    const broken = own(table(1, 0, { runs: [{ ...partition(2), partition_date: 'soon' }] }));
    expect(timetableProblems(broken)).toHaveLength(1);
  });
});

describe('a schedule by assets that an author inherits', () => {
  it('is called what the author calls it', () => {
    const assets = { type: 'asset', name: 'a', uri: 'a' } as const;
    const texts = { summary: 'mine', description: 'my own' };
    const timetables: TimetableSpec[] = [
      { type: 'asset', assets, ...texts },
      { type: 'asset_or_time', assets, timetable: own(), ...texts },
      { type: 'partitioned_asset', assets, mappers: [], default_mapper: { mapper: 'identity' }, ...texts },
    ];
    for (const timetable of timetables) {
      expect([summary(timetable), description(timetable)]).toEqual(['mine', 'my own']);
    }
  });
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
