import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { scheduleIntervalOnTheWire, summary } from './presentation.ts';
import { timetableFromSchedule } from './schedule-argument.ts';
import { TimetableSpec } from './schema.ts';
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
