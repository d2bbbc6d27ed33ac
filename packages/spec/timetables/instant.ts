// Time in this engine is a whole number of microseconds since 1970-01-01T00:00Z.
//
// Microseconds, because Airflow's dates carry them and they show: a start date or an event at .000001 decides data intervals,
// run ids and uniqueness. A plain number, because 2^53 microseconds reach the year 2255 exactly; beyond that (people write
// end_date=9999-12-31) a value is still within 32 microseconds of the truth, which a comparison does not feel.
// Branded, because `Date.now()` is a number too and would silently be read as 1970.

declare const unit: unique symbol;

/** A point in time: microseconds since the epoch. */
export type Instant = number & { readonly [unit]: 'instant' };

/** What a clock on a wall shows: microseconds since 1970-01-01T00:00 on that wall, in no zone. */
export type WallTime = number & { readonly [unit]: 'wall time' };

export const MILLISECOND = 1_000;
export const SECOND = 1_000_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const instant = (microseconds: number): Instant => microseconds as Instant;
export const wallTime = (microseconds: number): WallTime => microseconds as WallTime;

export const instantFromDate = (date: Date): Instant => instant(date.getTime() * MILLISECOND);

/** Drops what a Date cannot hold: the microseconds below the millisecond. */
export const instantToDate = (at: Instant): Date => new Date(Math.floor(at / MILLISECOND));

const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?(Z|[+-]\d\d(?::?\d\d)?(?::?(\d\d))?)$/i;

/**
 * Reads ISO 8601 and what Postgres prints for timestamptz (`2026-01-01 00:00:00.5+00`). Null when the text is not a date or
 * has no offset: a naive date means a different instant on every machine.
 */
export const instantFromIso = (text: string): Instant | null => {
  const [, date, time = '', decimals = '', offset = '', offsetSeconds = '00'] = ISO.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  const millis = Date.parse(`${date}T${time}Z`);
  // Date.parse rolls 31 February over to March; the round trip catches it.
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

/** Python's isoformat() in UTC, which run ids and API answers use: decimals only when there are any. */
export const instantToIso = (at: Instant): string => {
  const micros = ((at % SECOND) + SECOND) % SECOND;
  const whole = new Date((at - micros) / MILLISECOND).toISOString().slice(0, 19);
  return micros === 0 ? `${whole}+00:00` : `${whole}.${String(micros).padStart(6, '0')}+00:00`;
};
