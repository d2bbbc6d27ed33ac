// Walks a cron expression over wall time, with the calendar alone. cron-schedule.ts handles zones and clock changes.
//
// A search proceeds month by month. The days of a month are one 32-bit mask, so a step costs few operations, and even
// "29 February on a Monday" takes only a few hundred.

import { civilDate, daysInMonth, epochDay, weekday } from './civil.ts';
import { LAST_OF_MONTH } from './cron-expression.ts';
import type { CronExpression, DayRule } from './cron-expression.ts';
import { SECOND, wallTime } from './instant.ts';
import type { WallTime } from './instant.ts';

// The search range of Airflow. 29 February on a given weekday is at most 40 years away; anything later never comes.
const SEARCH_YEARS = 50;
const SECONDS_PER_DAY = 86_400;

interface Search {
  readonly cron: CronExpression;
  readonly rule: DayRule;
  /** Seconds of wall time since 1970-01-01. The answer may equal it. */
  readonly bound: number;
}

const nearestWorkday = ({ day, year, month }: { day: number; year: number; month: number }): number => {
  const last = daysInMonth(year, month);
  const target = Math.min(day, last);
  const dayOfWeek = weekday(epochDay({ year, month, day: target }));
  if (dayOfWeek === 6) return target === 1 ? 3 : target - 1;
  if (dayOfWeek === 0) return target === last ? target - 2 : target + 1;
  return target;
};

/** Returns a mask in which bit d is set if day d of that month matches. */
const daysMatching = (rule: DayRule, year: number, month: number): number => {
  const last = daysInMonth(year, month);
  const firstWeekday = weekday(epochDay({ year, month, day: 1 }));
  let mask = rule.daysOfMonth ?? -1;
  if (rule.lastDayOfMonth) mask |= 1 << last;
  if (rule.nearestWorkday !== null) mask &= 1 << nearestWorkday({ day: rule.nearestWorkday, year, month });
  let matching = 0;
  for (let day = 1; day <= last; day++) {
    if ((mask & (1 << day)) === 0) continue;
    const dayOfWeek = (firstWeekday + day - 1) % 7;
    if (rule.weekdays !== null && (rule.weekdays & (1 << dayOfWeek)) === 0) continue;
    if (rule.nthWeekdays !== null) {
      const wanted = rule.nthWeekdays.get(dayOfWeek) ?? [];
      const isLast = day + 7 > last && wanted.includes(LAST_OF_MONTH);
      if (!isLast && !wanted.includes(Math.ceil(day / 7))) continue;
    }
    matching |= 1 << day;
  }
  return matching;
};

const atLeast = (values: readonly number[], bound: number): number | undefined =>
  values.find((value) => value >= bound);
const atMost = (values: readonly number[], bound: number): number | undefined =>
  values.findLast((value) => value <= bound);

const firstOf = (values: readonly number[]): number => values[0] ?? 0;
const lastOf = (values: readonly number[]): number => values.at(-1) ?? 0;

const join = (hour: number, minute: number, second: number): number => hour * 3_600 + minute * 60 + second;

const timeAtLeast = ({ hours, minutes, seconds }: CronExpression, bound: number): number | null => {
  const hour = Math.floor(bound / 3_600);
  const minute = Math.floor(bound / 60) % 60;
  if (hours.includes(hour)) {
    const second = minutes.includes(minute) ? atLeast(seconds, bound % 60) : undefined;
    if (second !== undefined) return join(hour, minute, second);
    const nextMinute = atLeast(minutes, minute + 1);
    if (nextMinute !== undefined) return join(hour, nextMinute, firstOf(seconds));
  }
  const nextHour = atLeast(hours, hour + 1);
  return nextHour === undefined ? null : join(nextHour, firstOf(minutes), firstOf(seconds));
};

const timeAtMost = ({ hours, minutes, seconds }: CronExpression, bound: number): number | null => {
  const hour = Math.floor(bound / 3_600);
  const minute = Math.floor(bound / 60) % 60;
  if (hours.includes(hour)) {
    const second = minutes.includes(minute) ? atMost(seconds, bound % 60) : undefined;
    if (second !== undefined) return join(hour, minute, second);
    const previousMinute = atMost(minutes, minute - 1);
    if (previousMinute !== undefined) return join(hour, previousMinute, lastOf(seconds));
  }
  const previousHour = atMost(hours, hour - 1);
  return previousHour === undefined ? null : join(previousHour, lastOf(minutes), lastOf(seconds));
};

const monthMatches = ({ months, years }: CronExpression, year: number, month: number): boolean =>
  months.includes(month) && (years === null || years.includes(year));

const searchForward = ({ cron, rule, bound }: Search): number | null => {
  const startDay = Math.floor(bound / SECONDS_PER_DAY);
  const start = civilDate(startDay);
  const earliest = join(firstOf(cron.hours), firstOf(cron.minutes), firstOf(cron.seconds));
  for (let index = start.year * 12 + start.month - 1; index <= (start.year + SEARCH_YEARS) * 12 + 11; index++) {
    const year = Math.floor(index / 12);
    const month = (index % 12) + 1;
    if (!monthMatches(cron, year, month)) continue;
    let days = daysMatching(rule, year, month);
    const inStartMonth = year === start.year && month === start.month;
    if (inStartMonth) {
      if ((days & (1 << start.day)) !== 0) {
        const time = timeAtLeast(cron, bound - startDay * SECONDS_PER_DAY);
        if (time !== null) return startDay * SECONDS_PER_DAY + time;
      }
      days &= -2 << start.day;
    }
    if (days === 0) continue;
    const day = 31 - Math.clz32(days & -days);
    return epochDay({ year, month, day }) * SECONDS_PER_DAY + earliest;
  }
  return null;
};

const searchBackward = ({ cron, rule, bound }: Search): number | null => {
  const startDay = Math.floor(bound / SECONDS_PER_DAY);
  const start = civilDate(startDay);
  const latest = join(lastOf(cron.hours), lastOf(cron.minutes), lastOf(cron.seconds));
  for (let index = start.year * 12 + start.month - 1; index >= (start.year - SEARCH_YEARS) * 12; index--) {
    const year = Math.floor(index / 12);
    const month = (index % 12) + 1;
    if (!monthMatches(cron, year, month)) continue;
    let days = daysMatching(rule, year, month);
    const inStartMonth = year === start.year && month === start.month;
    if (inStartMonth) {
      if ((days & (1 << start.day)) !== 0) {
        const time = timeAtMost(cron, bound - startDay * SECONDS_PER_DAY);
        if (time !== null) return startDay * SECONDS_PER_DAY + time;
      }
      days &= (1 << start.day) - 1;
    }
    if (days === 0) continue;
    const day = 31 - Math.clz32(days);
    return epochDay({ year, month, day }) * SECONDS_PER_DAY + latest;
  }
  return null;
};

/**
 * Returns the nearest match, but only if every day rule matches at some time. Airflow raises an error otherwise, even
 * if one rule matches.
 */
const nearest = (found: readonly (number | null)[], choose: (...values: number[]) => number): WallTime | null => {
  const values = found.filter((value) => value !== null);
  return values.length < found.length ? null : wallTime(choose(...values) * SECOND);
};

/** Returns the first match after that wall time, or null if the next fifty years have none. */
export const nextMatch = (cron: CronExpression, after: WallTime): WallTime | null => {
  const bound = Math.floor(after / SECOND) + 1;
  return nearest(
    cron.dayRules.map((rule) => searchForward({ cron, rule, bound })),
    Math.min,
  );
};

/** Returns the last match before that wall time, or null if the past fifty years have none. */
export const previousMatch = (cron: CronExpression, before: WallTime): WallTime | null => {
  const bound = Math.ceil(before / SECOND) - 1;
  return nearest(
    cron.dayRules.map((rule) => searchBackward({ cron, rule, bound })),
    Math.max,
  );
};
