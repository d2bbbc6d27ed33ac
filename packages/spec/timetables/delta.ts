// Python's durations: timedelta with a fixed length, and dateutil's relativedelta, which moves on the calendar (in
// UTC).

import { civilDate, daysInMonth, epochDay, isLeapYear, weekday } from './civil.ts';
import { DAY, HOUR, MINUTE, SECOND, instant } from './instant.ts';
import type { Instant } from './instant.ts';
import type { DeltaSpec, RelativedeltaSpec, TimedeltaSpec } from './schema.ts';

export const timedeltaMicros = ({ days = 0, seconds = 0, microseconds = 0 }: TimedeltaSpec): number =>
  days * DAY + seconds * SECOND + microseconds;

/** Returns Python's normal form, in which only the days may be negative. */
export const normalTimedelta = (micros: number): { days: number; seconds: number; microseconds: number } => {
  const days = Math.floor(micros / DAY);
  const rest = micros - days * DAY;
  const seconds = Math.floor(rest / SECOND);
  return { days, seconds, microseconds: rest - seconds * SECOND };
};

interface NormalRelativedelta {
  years: number;
  months: number;
  days: number;
  leapdays: number;
  hours: number;
  minutes: number;
  seconds: number;
  microseconds: number;
}

// Adding 0 turns the -0 of a truncation into 0.
const carry = (value: number, size: number): [number, number] => [Math.trunc(value / size) + 0, (value % size) + 0];

/**
 * Normalises as relativedelta does. Every part is carried into the next larger one, with its sign. Months stop at
 * years, hours at days.
 */
export const normalRelativedelta = (delta: RelativedeltaSpec): NormalRelativedelta => {
  const [extraSeconds, microseconds] = carry(delta.microseconds ?? 0, SECOND);
  const [extraMinutes, seconds] = carry((delta.seconds ?? 0) + extraSeconds, 60);
  const [extraHours, minutes] = carry((delta.minutes ?? 0) + extraMinutes, 60);
  const [extraDays, hours] = carry((delta.hours ?? 0) + extraHours, 24);
  const [extraYears, months] = carry(delta.months ?? 0, 12);
  return {
    years: (delta.years ?? 0) + extraYears,
    months,
    days: (delta.days ?? 0) + 7 * (delta.weeks ?? 0) + extraDays,
    leapdays: delta.leapdays ?? 0,
    hours,
    minutes,
    seconds,
    microseconds,
  };
};

/**
 * Returns the approximate length with 30-day months and 365-day years, as Airflow measures a relativedelta.
 * Microseconds are omitted.
 */
export const roughSeconds = (delta: DeltaSpec): number => {
  if (delta.kind === 'timedelta') return timedeltaMicros(delta) / SECOND;
  const { years, months, days, hours, minutes, seconds } = normalRelativedelta(delta);
  return ((years * 365 + months * 30 + days) * 24 + hours) * 3_600 + minutes * 60 + seconds;
};

/** relativedelta counts weekdays from Monday. */
const jumpToWeekday = (epochDays: number, [wanted = 0, nth = 1]: readonly number[]): number => {
  const current = (weekday(epochDays) + 6) % 7;
  const weeks = (Math.abs(nth || 1) - 1) * 7;
  return nth < 0 ? epochDays - weeks - ((current - wanted + 7) % 7) : epochDays + weeks + ((7 - current + wanted) % 7);
};

const moveOnCalendar = (at: Instant, delta: RelativedeltaSpec, sign: 1 | -1): Instant => {
  const startDay = Math.floor(at / DAY);
  const from = civilDate(startDay);
  const by = normalRelativedelta(delta);
  const monthIndex =
    ((delta.year ?? from.year) + sign * by.years) * 12 + (delta.month ?? from.month) - 1 + sign * by.months;
  const year = Math.floor(monthIndex / 12);
  const month = monthIndex - year * 12 + 1;
  const day = Math.min(delta.day ?? from.day, daysInMonth(year, month));
  const { seconds: secondOfDay, microseconds } = normalTimedelta(at - startDay * DAY);
  const hour = delta.hour ?? Math.floor(secondOfDay / 3_600);
  const minute = delta.minute ?? Math.floor(secondOfDay / 60) % 60;
  const second = delta.second ?? secondOfDay % 60;
  // Leap days are added in both directions.
  const leapdays = month > 2 && isLeapYear(year) ? by.leapdays : 0;
  const moved =
    epochDay({ year, month, day }) * DAY +
    ((hour * 60 + minute) * 60 + second) * SECOND +
    (delta.microsecond ?? microseconds) +
    leapdays * DAY +
    sign * (by.days * DAY + by.hours * HOUR + by.minutes * MINUTE + by.seconds * SECOND + by.microseconds);
  if (delta.weekday === undefined) return instant(moved);
  const movedDay = Math.floor(moved / DAY);
  return instant(moved + (jumpToWeekday(movedDay, delta.weekday) - movedDay) * DAY);
};

export const addDelta = (at: Instant, delta: DeltaSpec): Instant =>
  delta.kind === 'timedelta' ? instant(at + timedeltaMicros(delta)) : moveOnCalendar(at, delta, 1);

export const subtractDelta = (at: Instant, delta: DeltaSpec): Instant =>
  delta.kind === 'timedelta' ? instant(at - timedeltaMicros(delta)) : moveOnCalendar(at, delta, -1);

const two = (value: number): string => String(value).padStart(2, '0');

const timedeltaText = (delta: TimedeltaSpec): string => {
  const { days, seconds, microseconds } = normalTimedelta(timedeltaMicros(delta));
  const clock = `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const decimals = microseconds === 0 ? '' : `.${String(microseconds).padStart(6, '0')}`;
  const dayText = days === 0 ? '' : `${days} day${Math.abs(days) === 1 ? '' : 's'}, `;
  return `${dayText}${clock}${decimals}`;
};

const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

const relativedeltaText = (delta: RelativedeltaSpec): string => {
  const { years, months, days, leapdays, hours, minutes, seconds, microseconds } = normalRelativedelta(delta);
  const relative = Object.entries({ years, months, days, leapdays, hours, minutes, seconds, microseconds })
    .filter(([, value]) => value !== 0)
    .map(([key, value]) => `${key}=${value > 0 ? '+' : ''}${value}`);
  const { year, month, day, hour, minute, second, microsecond } = delta;
  const [name, nth] = delta.weekday ?? [];
  const weekdayName = name === undefined ? undefined : WEEKDAYS[name];
  const weekdayText = nth === undefined ? weekdayName : `${weekdayName}(${nth > 0 ? '+' : ''}${nth})`;
  const absolute = Object.entries({ year, month, day, weekday: weekdayText, hour, minute, second, microsecond })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${value}`);
  return `relativedelta(${[...relative, ...absolute].join(', ')})`;
};

/** Returns Python's str(), which Airflow shows as the summary of a delta timetable. */
export const deltaText = (delta: DeltaSpec): string =>
  delta.kind === 'timedelta' ? timedeltaText(delta) : relativedeltaText(delta);
