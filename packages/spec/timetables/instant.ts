// Time in this engine is a whole number of microseconds since 1970-01-01T00:00Z.
//
// The unit is a microsecond, because Airflow's dates have microseconds that matter: a start date or an event at .000001
// decides data intervals, run ids and uniqueness. The type is a plain number, because 2^53 microseconds reach the year
// 2255 exactly. Later dates, such as end_date=9999-12-31, are exact to 32 microseconds, which is enough for
// comparisons. The type is branded, because `Date.now()` is also a number and would otherwise be read as a moment in
// 1970.

declare const unit: unique symbol;

/** A point in time: microseconds since the epoch. */
export type Instant = number & { readonly [unit]: 'instant' };

/** The time on a wall clock: microseconds since 1970-01-01T00:00 on that clock, without a zone. */
export type WallTime = number & { readonly [unit]: 'wall time' };

export const MILLISECOND = 1_000;
export const SECOND = 1_000_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const instant = (microseconds: number): Instant => microseconds as Instant;
export const wallTime = (microseconds: number): WallTime => microseconds as WallTime;

export const instantFromDate = (date: Date): Instant => instant(date.getTime() * MILLISECOND);

/** Drops the microseconds below the millisecond, which a Date cannot hold. */
export const instantToDate = (at: Instant): Date => new Date(Math.floor(at / MILLISECOND));

const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?(Z|[+-]\d\d(?::?\d\d)?(?::?(\d\d))?)$/i;

/**
 * Parses ISO 8601 and Postgres' format of timestamptz (`2026-01-01 00:00:00.5+00`). Returns null if the text is not a
 * date or has no offset, because a naive date means a different instant on every machine.
 */
export const instantFromIso = (text: string): Instant | null => {
  const [, date, time = '', decimals = '', offset = '', offsetSeconds = '00'] = ISO.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  const millis = Date.parse(`${date}T${time}Z`);
  // Date.parse turns 31 February into a day in March. The round trip detects this.
  if (Number.isNaN(millis) || new Date(millis).toISOString().slice(0, 10) !== date) return null;
  const micros = Number(decimals.slice(0, 6).padEnd(6, '0'));
  return instant(millis * MILLISECOND + micros - offsetMicros(offset, offsetSeconds));
};

const offsetMicros = (offset: string, seconds: string): number => {
  if (offset.toUpperCase() === 'Z') return 0;
  const digits = offset.slice(1).replaceAll(':', '');
  const size = Number(digits.slice(0, 2)) * HOUR + Number(digits.slice(2, 4)) * MINUTE + Number(seconds) * SECOND;
  return offset.startsWith('-') ? -size : size;
};

/**
 * Returns Python's isoformat() in UTC, which run ids and API answers use. It has decimals only if they are not zero.
 */
export const instantToIso = (at: Instant): string => {
  const micros = ((at % SECOND) + SECOND) % SECOND;
  const whole = new Date((at - micros) / MILLISECOND).toISOString().slice(0, 19);
  return micros === 0 ? `${whole}+00:00` : `${whole}.${String(micros).padStart(6, '0')}+00:00`;
};
