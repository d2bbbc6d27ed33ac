import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY, instant, instantFromIso, instantToIso } from './instant.ts';
import type { Instant } from './instant.ts';
import { inferManualInterval, iterRuns, nextRun } from './next-run.ts';
import type { TimetableSpec } from './schema.ts';
import { InvalidTimetableError } from './types.ts';
import type { DataInterval, RunQuery } from './types.ts';
import { timetableProblems } from './validate.ts';

const at = (text: string): Instant => instantFromIso(text) ?? instant(NaN);

const query = (changes: Partial<RunQuery>): RunQuery => ({
  lastInterval: null,
  earliest: null,
  latest: null,
  catchup: true,
  now: at('2026-06-10T10:20:30Z'),
  ...changes,
});

const cron = (expression: string, timezone: string): TimetableSpec => ({ type: 'cron_trigger', expression, timezone });

const firings = (timetable: TimetableSpec, from: string, to: string): string[] =>
  [...iterRuns(timetable, { from: at(from), to: at(to), now: at(to) })].map((run) =>
    instantToIso(run.runAfter).slice(5, 16),
  );

describe('on the day clocks change', () => {
  it('an hourly schedule runs every 60 minutes: the hour that happens twice runs twice', () => {
    const found = firings(cron('30 * * * *', 'America/New_York'), '2026-11-01T04:00:00Z', '2026-11-01T08:00:00Z');
    expect(found).toEqual(['11-01T04:30', '11-01T05:30', '11-01T06:30', '11-01T07:30']);
  });

  it('a daily schedule runs once, at the second occurrence', () => {
    const found = firings(cron('30 1 * * *', 'America/New_York'), '2026-10-31T00:00:00Z', '2026-11-03T00:00:00Z');
    expect(found).toEqual(['10-31T05:30', '11-01T06:30', '11-02T06:30']);
  });

  it('a time that is skipped runs an hour later, not a day', () => {
    const found = firings(cron('30 2 * * *', 'America/New_York'), '2026-03-07T00:00:00Z', '2026-03-10T00:00:00Z');
    expect(found).toEqual(['03-07T07:30', '03-08T07:30', '03-09T06:30']);
  });
});

const EXPRESSIONS = [
  '0 0 * * *',
  '30 2 * * *',
  '*/15 * * * *',
  '0 * * * *',
  '0 9 * * 1-5',
  '0 0 13 * 5',
  '0 0 L * *',
  '*/7 1-3 * * *',
];
const ZONES = ['UTC', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'America/Havana', '+05:45'];

const cronPair = fc.record({ expression: fc.constantFrom(...EXPRESSIONS), timezone: fc.constantFrom(...ZONES) });
const interval = fc.constantFrom(
  { kind: 'timedelta' as const, days: 1 },
  { kind: 'relativedelta' as const, months: 1 },
);
const delta = fc.oneof(
  fc.record({ kind: fc.constant('timedelta' as const), seconds: fc.integer({ min: 1, max: 500_000 }) }),
  fc.record({ kind: fc.constant('relativedelta' as const), months: fc.integer({ min: 1, max: 14 }) }),
);

const periodic: fc.Arbitrary<TimetableSpec> = fc.oneof(
  cronPair.map((pair) => ({ type: 'cron_trigger' as const, ...pair })),
  fc.tuple(cronPair, interval).map(([pair, length]) => ({ type: 'cron_trigger' as const, ...pair, interval: length })),
  cronPair.map((pair) => ({ type: 'cron_data_interval' as const, ...pair })),
  fc
    .record({ expressions: fc.subarray(EXPRESSIONS, { minLength: 1 }), timezone: fc.constantFrom(...ZONES) })
    .map((fields) => ({ type: 'multiple_cron_trigger' as const, ...fields })),
  delta.map((length) => ({ type: 'delta_trigger' as const, delta: length })),
  delta.map((length) => ({ type: 'delta_data_interval' as const, delta: length })),
);

const moment = fc
  .integer({ min: at('2015-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') })
  .map((micros) => instant(micros));

describe('whatever the timetable', () => {
  it('the next run is after the last, and so are its interval and its logical date', () => {
    fc.assert(
      fc.property(periodic, moment, moment, fc.boolean(), (timetable, earliest, now, catchup) => {
        let lastInterval: DataInterval | null = null;
        for (let step = 0; step < 6; step++) {
          const run = nextRun(timetable, query({ lastInterval, earliest, now, catchup }));
          if (run === null) throw new Error('a rhythm never ends');
          expect(run.dataInterval.start).toBeLessThanOrEqual(run.dataInterval.end);
          expect(run.runAfter).toBe(run.dataInterval.end);
          expect(run.logicalDate).toBe(run.dataInterval.start);
          expect(run.runAfter).toBeGreaterThan(lastInterval?.end ?? -Infinity);
          lastInterval = run.dataInterval;
        }
      }),
    );
  });

  it('no run happens before the start date or begins after the end date', () => {
    fc.assert(
      fc.property(
        periodic,
        moment,
        fc.integer({ min: 0, max: 40 }),
        fc.boolean(),
        (timetable, earliest, days, catchup) => {
          const latest = instant(earliest + days * DAY);
          const run = nextRun(timetable, query({ earliest, latest, now: earliest, catchup }));
          if (run === null) return;
          const isTrigger = timetable.type.endsWith('trigger');
          const decisive = isTrigger ? run.runAfter : run.dataInterval.start;
          expect(decisive).toBeGreaterThanOrEqual(earliest);
          expect(decisive).toBeLessThanOrEqual(latest);
        },
      ),
    );
  });

  it('without catchup at most one run is overdue', () => {
    fc.assert(
      fc.property(periodic, moment, fc.integer({ min: 0, max: 900 }), (timetable, earliest, days) => {
        const now = instant(earliest + days * DAY);
        const first = nextRun(timetable, query({ earliest, now, catchup: false }));
        if (first === null) throw new Error('a rhythm never ends');
        const second = nextRun(timetable, query({ lastInterval: first.dataInterval, earliest, now, catchup: false }));
        expect(second === null ? Infinity : second.runAfter).toBeGreaterThanOrEqual(now);
      }),
    );
  });

  it('a manual run stands for an interval that ends when it is triggered, or before', () => {
    fc.assert(
      fc.property(periodic, moment, (timetable, runAfter) => {
        const { start, end } = inferManualInterval(timetable, runAfter);
        expect(start).toBeLessThanOrEqual(end);
        expect(end).toBeLessThanOrEqual(runAfter);
      }),
    );
  });
});

describe('a backfill', () => {
  it('ends, also over a timetable that stands still', () => {
    const range = { from: at('2026-01-01T00:00:00Z'), to: at('2026-02-01T00:00:00Z'), now: at('2026-01-15T00:00:00Z') };
    expect([...iterRuns({ type: 'continuous' }, range)].length).toBeLessThan(3);
    expect([...iterRuns({ type: 'delta_trigger', delta: { kind: 'timedelta' } }, range)]).toHaveLength(1);
    expect([...iterRuns({ type: 'null' }, range)]).toHaveLength(0);
    expect([...iterRuns({ type: 'once' }, range)]).toHaveLength(1);
  });
});

describe('what cannot be evaluated', () => {
  it.each([
    [cron('61 * * * *', 'UTC'), 'expression', /minute field "61": 61 is not within 0-59/],
    [cron('* * * *', 'UTC'), 'expression', /expected 5 fields .* found 4/],
    [cron('H * * * *', 'UTC'), 'expression', /hashed \(H\) and random \(R\) values are not supported/],
    [cron('R * * * *', 'UTC'), 'expression', /random \(R\)/],
    [
      cron('0 0 * * tuesday', 'UTC'),
      'expression',
      /day of week field "tuesday": "tuesday" is not a number or a known name/,
    ],
    [cron('*/0 * * * *', 'UTC'), 'expression', /the step "0" must be a number above 0/],
    [cron('0 0 * * *', 'Mars/Olympus'), 'timezone', /"Mars\/Olympus" is not known\. Use an IANA name/],
    [{ type: 'events', event_dates: ['2026-01-01T00:00:00'] }, 'event_dates[0]', /ISO 8601 date with an offset/],
  ] satisfies [TimetableSpec, string, RegExp][])(
    '%j is refused with its reason, and throws it',
    (timetable, path, reason) => {
      expect(timetableProblems(timetable)).toEqual([{ path, message: expect.stringMatching(reason) }]);
      expect(() => nextRun(timetable, query({}))).toThrow(InvalidTimetableError);
      expect(() => nextRun(timetable, query({}))).toThrow(reason);
    },
  );

  it('a delta that does not move forward is refused', () => {
    const backwards: TimetableSpec = { type: 'delta_trigger', delta: { kind: 'timedelta', days: -1 } };
    expect(timetableProblems(backwards)[0]?.message).toContain('must be positive, not -1 day, 0:00:00');
    const nowhere: TimetableSpec = { type: 'delta_data_interval', delta: { kind: 'relativedelta', day: 31 } };
    expect(timetableProblems(nowhere)[0]?.path).toBe('delta');
    expect(timetableProblems({ type: 'delta_trigger', delta: { kind: 'timedelta', microseconds: 1 } })).toEqual([]);
  });

  it('every broken expression of several is named, inside asset_or_time too', () => {
    const several: TimetableSpec = {
      type: 'multiple_cron_trigger',
      expressions: ['0 0 * * *', 'x', 'y'],
      timezone: 'Nowhere',
    };
    const timetable: TimetableSpec = {
      type: 'asset_or_time',
      timetable: several,
      assets: { type: 'asset_all', objects: [] },
    };
    expect(timetableProblems(timetable).map(({ path }) => path)).toEqual([
      'timetable.expressions[1]',
      'timetable.expressions[2]',
      'timetable.timezone',
    ]);
  });
});

describe('a schedule with an end', () => {
  it('of one run has none after its end date, and one at it', () => {
    const now = at('2026-06-10T00:00:00Z');
    const once: TimetableSpec = { type: 'once' };
    expect(nextRun(once, query({ now, latest: at('2026-06-09T23:59:59Z') }))).toBeNull();
    expect(nextRun(once, query({ now, latest: now }))?.runAfter).toBe(now);
  });

  it('of continuous runs has none whose interval ends after the end date', () => {
    const now = at('2026-06-10T00:00:00Z');
    const continuous: TimetableSpec = { type: 'continuous' };
    expect(nextRun(continuous, query({ now, latest: at('2026-06-09T23:59:59Z') }))).toBeNull();
    expect(nextRun(continuous, query({ now, latest: now }))).not.toBeNull();
  });

  it('in a year that is over has no next run, although its last point is recent', () => {
    const ended = cron('0 0 1 6 * 0 2026', 'UTC');
    const last = at('2026-06-01T00:00:00Z');
    const without = query({ catchup: false, lastInterval: { start: last, end: last } });
    expect(nextRun(ended, without)).toBeNull();
  });
});

it('a question mark in a field of days means every day', () => {
  const range = ['2026-06-01T00:00:00Z', '2026-06-16T00:00:00Z'] as const;
  expect(firings(cron('0 9 ? * 1', 'UTC'), ...range)).toEqual(firings(cron('0 9 * * 1', 'UTC'), ...range));
  expect(firings(cron('0 9 5 * ?', 'UTC'), ...range)).toEqual(['06-05T09:00']);
});
