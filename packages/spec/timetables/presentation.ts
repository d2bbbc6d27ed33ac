// How users see a timetable: Airflow's summary and description, and the specification's schedule_interval.

import { cronDescription } from './cron-description.ts';
import { resolvePreset } from './cron-expression.ts';
import { deltaText, normalRelativedelta, normalTimedelta, timedeltaMicros } from './delta.ts';
import { DAY, HOUR, MINUTE, SECOND } from './instant.ts';
import type { DeltaSpec, EventsTimetable, TimetableSpec } from './schema.ts';
import { listedEvents } from './simple-runs.ts';

/** Returns `timetable_summary`. Null means "no schedule" to the web UI, which then hides schedule and backfill. */
export const summary = (timetable: TimetableSpec): string | null => {
  switch (timetable.type) {
    case 'null':
      return null;
    case 'once':
      return '@once';
    case 'continuous':
      return '@continuous';
    case 'asset':
      return timetable.summary ?? 'Asset';
    case 'partitioned_asset':
      return timetable.summary ?? 'Partitioned Asset';
    case 'cron_trigger':
    case 'cron_partition':
    case 'cron_data_interval':
      return resolvePreset(timetable.expression);
    case 'multiple_cron_trigger':
      return timetable.expressions.map(resolvePreset).join(', ');
    case 'delta_trigger':
    case 'delta_data_interval':
      return deltaText(timetable.delta);
    case 'events':
      return timetable.description ?? `${timetable.event_dates.length} events`;
    case 'custom':
      return timetable.summary;
    case 'asset_or_time':
      return timetable.summary ?? `Asset or ${summary(timetable.timetable) ?? 'None'}`;
  }
};

/** Returns `timetable_description`, which is empty where Airflow's is empty. */
export const description = (timetable: TimetableSpec): string => {
  switch (timetable.type) {
    case 'null':
      return 'Never, external triggers only';
    case 'once':
      return 'Once, as soon as possible';
    case 'continuous':
      return 'As frequently as possible, but only one run at a time.';
    case 'asset':
    case 'partitioned_asset':
      return timetable.description ?? 'Triggered by assets';
    case 'cron_trigger':
    case 'cron_partition':
    case 'cron_data_interval':
      return cronDescription(resolvePreset(timetable.expression));
    case 'multiple_cron_trigger':
      return timetable.expressions.map((expression) => cronDescription(resolvePreset(expression))).join(', ');
    case 'delta_trigger':
    case 'delta_data_interval':
      return '';
    case 'events':
      return timetable.description ?? eventsText(timetable);
    case 'custom':
      return timetable.description;
    case 'asset_or_time':
      return timetable.description ?? `Triggered by assets or ${description(timetable.timetable)}`;
  }
};

const eventsText = (timetable: EventsTimetable): string => {
  const events = listedEvents(timetable);
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined) return 'No events';
  return `${events.length} events between ${pythonIso(first.text)} and ${pythonIso(last.text)}`;
};

/** Formats an event in Python's notation. It keeps the offset that its author wrote. */
const pythonIso = (text: string): string => {
  const [, date = '', time = '', decimals = '', offset = ''] =
    /^(\S{10})[T ]([\d:]+)(?:[.,](\d+))?(.*)$/i.exec(text) ?? [];
  const micros = decimals.slice(0, 6).padEnd(6, '0');
  return `${date}T${time}${micros === '000000' ? '' : `.${micros}`}${offset.toUpperCase() === 'Z' ? '+00:00' : offset}`;
};

export type ScheduleInterval =
  | { readonly __type: 'CronExpression'; readonly value: string }
  | { readonly __type: 'TimeDelta'; readonly days: number; readonly seconds: number; readonly microseconds: number }
  | null;

const cronOnTheWire = (value: string): ScheduleInterval => ({ __type: 'CronExpression', value });

const deltaOnTheWire = (delta: DeltaSpec): ScheduleInterval => {
  const micros = fixedLength(delta);
  return micros === null ? null : { __type: 'TimeDelta', ...normalTimedelta(micros) };
};

/** Returns null for a delta without a fixed length: a month, "the first of the month". */
const fixedLength = (delta: DeltaSpec): number | null => {
  if (delta.kind === 'timedelta') return timedeltaMicros(delta);
  const { years, months, days, leapdays, hours, minutes, seconds, microseconds } = normalRelativedelta(delta);
  const onCalendar = [delta.year, delta.month, delta.day, delta.hour, delta.minute, delta.second, delta.microsecond];
  if (years !== 0 || months !== 0 || leapdays !== 0 || delta.weekday !== undefined) return null;
  if (onCalendar.some((value) => value !== undefined)) return null;
  return days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + microseconds;
};

/** Returns `schedule_interval`: the author's own text for cron, a length for fixed deltas, otherwise null. */
export const scheduleIntervalOnTheWire = (timetable: TimetableSpec): ScheduleInterval => {
  switch (timetable.type) {
    case 'once':
      return cronOnTheWire('@once');
    case 'continuous':
      return cronOnTheWire('@continuous');
    case 'cron_trigger':
    case 'cron_partition':
    case 'cron_data_interval':
      return cronOnTheWire(timetable.expression);
    case 'delta_trigger':
    case 'delta_data_interval':
      return deltaOnTheWire(timetable.delta);
    case 'asset_or_time':
      return scheduleIntervalOnTheWire(timetable.timetable);
    case 'null':
    case 'asset':
    case 'partitioned_asset':
    case 'events':
    case 'custom':
    case 'multiple_cron_trigger':
      return null;
  }
};
