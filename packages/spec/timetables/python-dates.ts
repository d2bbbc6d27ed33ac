// Parses and formats dates with Python's format codes (strptime, strftime). Codes that depend on the locale (%c, %x,
// %X) or the zone names (%Z) of a machine are refused where the format is given.

import { civilDate, daysInMonth, epochDay, weekday } from './civil.ts';
import { DAY, HOUR, MINUTE, SECOND, wallTime } from './instant.ts';
import type { WallTime } from './instant.ts';

export type ParsedDate = {
  readonly wall: WallTime;
  /** Microseconds east of UTC, if the text has an offset. */ readonly offset: number | null;
};

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3));
const oneOf = (names: readonly string[]) => `(${names.join('|')})`;

const PATTERNS: Readonly<Record<string, string>> = {
  Y: String.raw`(\d{4})`,
  y: String.raw`(\d{2})`,
  G: String.raw`(\d{4})`,
  m: '(1[0-2]|0[1-9]|[1-9])',
  d: '(3[01]|[12][0-9]|0[1-9]|[1-9]| [1-9])',
  H: '(2[0-3]|[01][0-9]|[0-9])',
  I: '(1[0-2]|0[1-9]|[1-9])',
  M: '([0-5][0-9]|[0-9])',
  S: '(6[01]|[0-5][0-9]|[0-9])',
  f: '([0-9]{1,6})',
  j: '(36[0-6]|3[0-5][0-9]|[12][0-9]{2}|0[1-9][0-9]|00[1-9]|[1-9][0-9]|0[1-9]|[1-9])',
  V: '(5[0-3]|0[1-9]|[1-4][0-9]|[0-9])',
  u: '([1-7])',
  w: '([0-6])',
  p: '(am|pm)',
  a: oneOf(short(DAYS)),
  A: oneOf(DAYS),
  b: oneOf(short(MONTHS)),
  B: oneOf(MONTHS),
  z: String.raw`(Z|[+-]\d\d:?[0-5]\d(?::?[0-5]\d)?)`,
};

/** Returns the first unknown code of a format, or null. */
export function unknownCode(format: string, use: 'parse' | 'write'): string | null {
  for (const [code, letter = ''] of format.matchAll(/%(.?)/gs)) {
    const isKnown = letter === '%' || (letter !== '' && Object.hasOwn(use === 'parse' ? PATTERNS : WRITERS, letter));
    if (!isKnown) return code;
  }
  return null;
}

type Reader = { pattern: RegExp; letters: string[] };
const readers = new Map<string, Reader>();
const KEPT = 1_000;

function readerOf(format: string): Reader {
  const known = readers.get(format);
  if (known) return known;
  const letters: string[] = [];
  const pattern = format.replaceAll(/%(.)|\s+|[^%\s]+/gs, (text, letter: string | undefined) => {
    if (letter === undefined)
      return /^\s/.test(text) ? String.raw`\s+` : text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
    if (letter === '%') return '%';
    letters.push(letter);
    return PATTERNS[letter] ?? '(?!)';
  });
  const reader = { pattern: new RegExp(`^${pattern}$`, 'i'), letters };
  if (readers.size >= KEPT) readers.clear();
  readers.set(format, reader);
  return reader;
}

/** Returns null if the text does not have this format, or names a day that does not exist. */
export function parseDate(text: string, format: string): ParsedDate | null {
  const { pattern, letters } = readerOf(format);
  const found = pattern.exec(text);
  if (!found) return null;
  const fields = new Map(letters.map((letter, index) => [letter, found[index + 1] ?? '']));
  const number = (letter: string, otherwise: number) => (fields.has(letter) ? Number(fields.get(letter)) : otherwise);
  const day = dayOf(fields, number);
  if (day === null) return null;
  const time =
    hourOf(fields, number) * HOUR +
    number('M', 0) * MINUTE +
    number('S', 0) * SECOND +
    Number((fields.get('f') ?? '').padEnd(6, '0') || 0);
  return { wall: wallTime(day * DAY + time), offset: offsetOf(fields.get('z')) };
}

type NumberOf = (letter: string, otherwise: number) => number;

function dayOf(fields: ReadonlyMap<string, string>, number: NumberOf): number | null {
  if (fields.has('G') && fields.has('V')) {
    // The week with 4 January is the first of its year, and starts on Monday.
    const fourth = epochDay({ year: number('G', 1900), month: 1, day: 4 });
    const isoDay = fields.has('w') ? number('w', 1) || 7 : number('u', 1);
    return fourth - ((weekday(fourth) + 6) % 7) + (number('V', 1) - 1) * 7 + isoDay - 1;
  }
  const short2 = number('y', 0);
  const year = fields.has('y') ? short2 + (short2 <= 68 ? 2000 : 1900) : number('Y', 1900);
  if (fields.has('j')) return epochDay({ year, month: 1, day: 1 }) + number('j', 1) - 1;
  const month = monthOf(fields) ?? number('m', 1);
  const day = number('d', 1);
  return day > daysInMonth(year, month) ? null : epochDay({ year, month, day });
}

function monthOf(fields: ReadonlyMap<string, string>): number | null {
  const name = fields.get('B') ?? fields.get('b');
  if (name === undefined) return null;
  return MONTHS.findIndex((month) => month.toLowerCase().startsWith(name.toLowerCase().slice(0, 3))) + 1;
}

function hourOf(fields: ReadonlyMap<string, string>, number: NumberOf): number {
  if (!fields.has('I')) return number('H', 0);
  const hour = number('I', 12) % 12;
  return fields.get('p')?.toLowerCase() === 'pm' ? hour + 12 : hour;
}

function offsetOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (text.toUpperCase() === 'Z') return 0;
  const digits = text.slice(1).replaceAll(':', '');
  const [hours, minutes, seconds] = [digits.slice(0, 2), digits.slice(2, 4), digits.slice(4, 6)].map(Number);
  const size = (hours ?? 0) * HOUR + (minutes ?? 0) * MINUTE + (seconds ?? 0) * SECOND;
  return text.startsWith('-') ? -size : size;
}

type Written = { days: number; time: number; offset: number };
const pad = (value: number, length = 2) => String(value).padStart(length, '0');

function isoWeek(days: number): { year: number; week: number } {
  const thursday = days - ((weekday(days) + 6) % 7) + 3;
  const { year } = civilDate(thursday);
  return { year, week: Math.floor((thursday - epochDay({ year, month: 1, day: 1 })) / 7) + 1 };
}

const WRITERS: Readonly<Record<string, (moment: Written) => string>> = {
  Y: ({ days }) => String(civilDate(days).year),
  y: ({ days }) => pad(civilDate(days).year % 100),
  m: ({ days }) => pad(civilDate(days).month),
  d: ({ days }) => pad(civilDate(days).day),
  H: ({ time }) => pad(Math.floor(time / HOUR)),
  I: ({ time }) => pad(Math.floor(time / HOUR) % 12 || 12),
  p: ({ time }) => (time < 12 * HOUR ? 'AM' : 'PM'),
  M: ({ time }) => pad(Math.floor(time / MINUTE) % 60),
  S: ({ time }) => pad(Math.floor(time / SECOND) % 60),
  f: ({ time }) => pad(time % SECOND, 6),
  j: ({ days }) => pad(days - epochDay({ year: civilDate(days).year, month: 1, day: 1 }) + 1, 3),
  a: ({ days }) => (DAYS[weekday(days)] ?? '').slice(0, 3),
  A: ({ days }) => DAYS[weekday(days)] ?? '',
  b: ({ days }) => (MONTHS[civilDate(days).month - 1] ?? '').slice(0, 3),
  B: ({ days }) => MONTHS[civilDate(days).month - 1] ?? '',
  w: ({ days }) => String(weekday(days)),
  u: ({ days }) => String(weekday(days) || 7),
  V: ({ days }) => pad(isoWeek(days).week),
  G: ({ days }) => String(isoWeek(days).year),
  z: ({ offset }) => {
    const size = Math.abs(offset);
    return `${offset < 0 ? '-' : '+'}${pad(Math.floor(size / HOUR))}${pad(Math.floor(size / MINUTE) % 60)}`;
  },
};

/** `offset` is that of the zone of this wall time, in microseconds. */
export function formatDate(wall: WallTime, offset: number, format: string): string {
  const days = Math.floor(wall / DAY);
  const moment = { days, time: wall - days * DAY, offset };
  return format.replaceAll(/%(.)/gs, (code, letter: string) =>
    letter === '%' ? '%' : (WRITERS[letter]?.(moment) ?? code),
  );
}
