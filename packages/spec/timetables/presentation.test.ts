import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { deltaText } from './delta.ts';
import { description, scheduleIntervalOnTheWire, summary } from './presentation.ts';
import { timetableFromSchedule } from './schedule-argument.ts';
import { TimetableSpec } from './schema.ts';
import type { DeltaSpec } from './schema.ts';
import { activeRunsLimit, canBeScheduled, isPeriodic } from './traits.ts';

const assets = { type: 'asset_all' as const, objects: [] };
const daily: TimetableSpec = { type: 'cron_trigger', expression: '@daily', timezone: 'UTC' };

describe('schedule_interval on the wire', () => {
  it.each([
    [daily, { __type: 'CronExpression', value: '@daily' }],
    [{ type: 'once' }, { __type: 'CronExpression', value: '@once' }],
    [{ type: 'continuous' }, { __type: 'CronExpression', value: '@continuous' }],
    [
      { type: 'asset_or_time', timetable: daily, assets },
      { __type: 'CronExpression', value: '@daily' },
    ],
    [
      { type: 'delta_trigger', delta: { kind: 'timedelta', seconds: 90_000, microseconds: 5 } },
      { __type: 'TimeDelta', days: 1, seconds: 3_600, microseconds: 5 },
    ],
    [
      { type: 'delta_data_interval', delta: { kind: 'relativedelta', weeks: 1, hours: 25 } },
      { __type: 'TimeDelta', days: 8, seconds: 3_600, microseconds: 0 },
    ],
    [
      { type: 'cron_data_interval', expression: '@weekly', timezone: 'UTC' },
      { __type: 'CronExpression', value: '@weekly' },
    ],
    [
      { type: 'cron_partition', expression: '@daily', timezone: 'UTC', run_offset: null, key_format: '%Y' },
      { __type: 'CronExpression', value: '@daily' },
    ],
    [{ type: 'delta_trigger', delta: { kind: 'relativedelta', months: 1 } }, null],
    [{ type: 'delta_trigger', delta: { kind: 'relativedelta', days: 1, hour: 6 } }, null],
    [{ type: 'multiple_cron_trigger', expressions: ['@daily'], timezone: 'UTC' }, null],
    [{ type: 'events', event_dates: [] }, null],
    [{ type: 'asset', assets }, null],
    [{ type: 'null' }, null],
  ] satisfies [TimetableSpec, unknown][])('%j', (timetable, expected) => {
    expect(scheduleIntervalOnTheWire(timetable)).toEqual(expected);
  });
});

describe('a schedule argument', () => {
  it.each([
    [null, { type: 'null' }],
    ['@once', { type: 'once' }],
    ['@continuous', { type: 'continuous' }],
    ['@daily', { type: 'cron_trigger', expression: '@daily', timezone: 'Europe/Paris' }],
    ['0 6 * * *', { type: 'cron_trigger', expression: '0 6 * * *', timezone: 'Europe/Paris' }],
  ])('%s is a timetable', (schedule, expected) => {
    expect(timetableFromSchedule({ schedule, timezone: 'Europe/Paris' })).toEqual(expected);
  });
});

describe('summary', () => {
  it('is null only without any schedule, because the web UI hides schedules by it', () => {
    expect(summary({ type: 'null' })).toBeNull();
    expect(summary({ type: 'asset_or_time', timetable: { type: 'null' }, assets })).toBe('Asset or None');
  });

  it('and description of a schedule without a text of its author say what starts runs', () => {
    const found = (
      [
        { type: 'once' },
        { type: 'continuous' },
        { type: 'asset', assets },
        { type: 'multiple_cron_trigger', expressions: ['@daily', '0 6 * * 1'], timezone: 'UTC' },
        { type: 'events', event_dates: [] },
        { type: 'events', event_dates: ['2026-03-01 06:00:00.5z', '2026-01-01T00:00:00+01:00'] },
        { type: 'delta_trigger', delta: { kind: 'timedelta', days: 2 } },
      ] satisfies TimetableSpec[]
    ).map((timetable) => [summary(timetable), description(timetable)]);
    expect(found).toEqual([
      ['@once', 'Once, as soon as possible'],
      ['@continuous', 'As frequently as possible, but only one run at a time.'],
      ['Asset', 'Triggered by assets'],
      ['0 0 * * *, 0 6 * * 1', 'At 00:00, At 06:00, only on Monday'],
      ['0 events', 'No events'],
      ['2 events', '2 events between 2026-01-01T00:00:00+01:00 and 2026-03-01T06:00:00.500000+00:00'],
      ['2 days, 0:00:00', ''],
    ]);
  });

  it.each([
    [{ kind: 'timedelta', days: -1, seconds: 3_661, microseconds: 5 }, '-1 day, 1:01:01.000005'],
    [
      { kind: 'relativedelta', minutes: 59, seconds: 90, microseconds: -1 },
      'relativedelta(hours=+1, seconds=+30, microseconds=-1)',
    ],
    [
      { kind: 'relativedelta', months: 14, day: 31, weekday: [4, -1] },
      'relativedelta(years=+1, months=+2, day=31, weekday=FR(-1))',
    ],
    [{ kind: 'relativedelta', hour: 0, weekday: [0, 2] }, 'relativedelta(weekday=MO(+2), hour=0)'],
    [{ kind: 'relativedelta', weekday: [0] }, 'relativedelta(weekday=MO)'],
  ] satisfies [DeltaSpec, string][])('of the delta %j is what Python writes', (delta, text) => {
    expect(deltaText(delta)).toBe(text);
  });
});

describe('traits', () => {
  it('look through asset_or_time', () => {
    const around = (timetable: Parameters<typeof wrap>[0]): TimetableSpec => wrap(timetable);
    expect(activeRunsLimit(around({ type: 'continuous' }))).toBe(1);
    expect(activeRunsLimit(around({ type: 'once' }))).toBeNull();
    expect(isPeriodic(around({ type: 'events', event_dates: [] }))).toBe(true);
    expect(isPeriodic(around({ type: 'continuous' }))).toBe(false);
    expect(canBeScheduled(around({ type: 'null' }))).toBe(false);
    expect(canBeScheduled({ type: 'asset', assets })).toBe(true);
  });
});

const wrap = (timetable: Extract<TimetableSpec, { type: 'asset_or_time' }>['timetable']): TimetableSpec => ({
  type: 'asset_or_time',
  timetable,
  assets,
});

describe('the schema', () => {
  it('takes every timetable that Airflow answered for', () => {
    const directory = join(import.meta.dirname, 'golden');
    const refused: unknown[] = [];
    for (const file of readdirSync(directory)) {
      const cases: { t: unknown }[] = JSON.parse(readFileSync(join(directory, file), 'utf8'));
      refused.push(...cases.map(({ t }) => t).filter((timetable) => !Value.Check(TimetableSpec, timetable)));
    }
    expect(refused.slice(0, 3)).toEqual([]);
  });

  it.each([
    { type: 'cron_trigger', expression: '@daily' },
    { type: 'cron_trigger', expression: '@daily', timezone: 'UTC', intervall: {} },
    { type: 'multiple_cron_trigger', expressions: [], timezone: 'UTC' },
    { type: 'delta_trigger', delta: { kind: 'timedelta', days: 1.5 } },
    { type: 'delta_trigger', delta: { days: 1 } },
    { type: 'asset', assets: { type: 'asset_all', objects: [{ type: 'asset_any', objects: [{ type: 'nothing' }] }] } },
    { type: 'asset_or_time', timetable: { type: 'asset', assets }, assets },
    { type: 'weekly' },
  ])('refuses %j', (timetable) => {
    expect(Value.Check(TimetableSpec, timetable)).toBe(false);
  });
});
