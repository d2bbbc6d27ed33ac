// Windows of partitions: the parts of a period, such as the days of a month. A rollup waits for the keys of all parts
// before the run of the period starts. A fan-out starts a run for each part. They work like Airflow's classes of the
// same names (airflow.sdk).

import { Type, type Static } from 'typebox';
import { civilDate, daysInMonth, epochDay } from './civil.ts';
import { DAY, HOUR, MINUTE, wallTime } from './instant.ts';
import type { WallTime } from './instant.ts';

const closed = { additionalProperties: false } as const;

export const PartitionWindow = Type.Union([
  Type.Object(
    {
      window: Type.Union([
        Type.Literal('hour'),
        Type.Literal('day'),
        Type.Literal('week'),
        Type.Literal('month'),
        Type.Literal('quarter'),
        Type.Literal('year'),
      ]),
      /** The period that starts with the key, or the one that ends with it. */
      direction: Type.Union([Type.Literal('forward'), Type.Literal('backward')]),
    },
    closed,
  ),
  Type.Object(
    { window: Type.Literal('segments'), segments: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }) },
    closed,
  ),
]);
export type PartitionWindow = Static<typeof PartitionWindow>;
export type PeriodWindow = Exclude<PartitionWindow, { window: 'segments' }>;

/**
 * All keys, or a number of them. A negative number is how many may be missing. A table has what an author's own policy
 * said when the file was compiled: for each size of the window, the least number of keys that is enough.
 */
export const WaitPolicy = Type.Union([
  Type.Object({ wait: Type.Literal('all') }, closed),
  Type.Object({ wait: Type.Literal('minimum'), count: Type.Integer() }, closed),
  Type.Object(
    {
      wait: Type.Literal('table'),
      counts: Type.Array(
        Type.Object({ expected: Type.Integer({ minimum: 1 }), count: Type.Integer({ minimum: 0 }) }, closed),
        { minItems: 1 },
      ),
    },
    closed,
  ),
]);
export type WaitPolicy = Static<typeof WaitPolicy>;

export function isEnough(policy: WaitPolicy, { received, expected }: { received: number; expected: number }): boolean {
  return received >= enoughOf(policy, expected);
}

/** Returns how many of the expected keys are enough. */
export function enoughOf(policy: WaitPolicy, expected: number): number {
  if (policy.wait === 'all') return expected;
  if (policy.wait === 'table') return policy.counts.find((row) => row.expected === expected)?.count ?? expected;
  return policy.count > 0 ? policy.count : Math.max(0, expected + policy.count);
}

const MONTHS = { quarter: 3, year: 12 } as const;

/** Returns the parts of the period in their order, or null when the start is no start of such a period. */
export function partsOf({ window, direction }: PeriodWindow, start: WallTime): WallTime[] | null {
  const isBackward = direction === 'backward';
  const steps = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => wallTime(start + (isBackward ? index - count + 1 : index) * length));
  switch (window) {
    case 'hour':
      return steps(60, MINUTE);
    case 'day':
      return steps(24, HOUR);
    case 'week':
      return steps(7, DAY);
    case 'month': {
      const { year, month, day } = civilDate(Math.floor(start / DAY));
      if (day !== 1) return null;
      const before = month === 1 ? { year: year - 1, month: 12 } : { year, month: month - 1 };
      return steps(isBackward ? daysInMonth(before.year, before.month) : daysInMonth(year, month), DAY);
    }
    case 'quarter':
    case 'year':
      return months(start, { count: MONTHS[window], isBackward });
  }
}

function months(start: WallTime, { count, isBackward }: { count: number; isBackward: boolean }): WallTime[] | null {
  const days = Math.floor(start / DAY);
  const { year, month, day } = civilDate(days);
  if (day !== 1) return null;
  return Array.from({ length: count }, (_, index) => {
    const since = year * 12 + month - 1 + (isBackward ? index - count + 1 : index);
    const first = epochDay({ year: Math.floor(since / 12), month: (since % 12) + 1, day });
    return wallTime(first * DAY + (start - days * DAY));
  });
}
