import { describe, expect, it } from 'vitest';
import { HOUR, MINUTE, SECOND } from './instant.ts';
import { formatDate, parseDate, unknownCode } from './python-dates.ts';

/** The wall time in one form, with the offset in seconds where the text has one. */
function read(text: string, format: string): string | null {
  const found = parseDate(text, format);
  if (found === null) return null;
  const wall = formatDate(found.wall, 0, '%Y-%m-%d %H:%M:%S.%f');
  return found.offset === null ? wall : `${wall} ${found.offset / SECOND}`;
}

describe('a date in Python’s format codes', () => {
  it.each([
    ['2026-03-01 04:05:06.7+02:30', '%Y-%m-%d %H:%M:%S.%f%z', '2026-03-01 04:05:06.700000 9000'],
    ['2026Z', '%Y%z', '2026-01-01 00:00:00.000000 0'],
    ['2026-01:02:03', '%Y%z', '2026-01-01 00:00:00.000000 -3723'],
    ['2026-W09-0', '%G-W%V-%w', '2026-03-01 00:00:00.000000'],
    ['2026-W09-1', '%G-W%V-%w', '2026-02-23 00:00:00.000000'],
    ['2026-W09-7', '%G-W%V-%u', '2026-03-01 00:00:00.000000'],
    ['68', '%y', '2068-01-01 00:00:00.000000'],
    ['69', '%y', '1969-01-01 00:00:00.000000'],
    ['2024060', '%Y%j', '2024-02-29 00:00:00.000000'],
    ['12 am', '%I %p', '1900-01-01 00:00:00.000000'],
    ['12 PM', '%I %p', '1900-01-01 12:00:00.000000'],
    ['3 pm', '%I %p', '1900-01-01 15:00:00.000000'],
    ['Sep 5', '%b %d', '1900-09-05 00:00:00.000000'],
    ['september 5', '%B %d', '1900-09-05 00:00:00.000000'],
    ['5 \t 6', '%d %m', '1900-06-05 00:00:00.000000'],
    ['100% 5', '100%% %d', '1900-01-05 00:00:00.000000'],
    ['a.b 5', 'a.b %d', '1900-01-05 00:00:00.000000'],
    ['axb 5', 'a.b %d', null],
    ['30 Feb', '%d %b', null],
    ['x', '%Q', null],
  ])('is read from %j by %j', (text, format, expected) => {
    expect(read(text, format)).toBe(expected);
    expect(read(text, format), 'the second time').toBe(expected);
  });

  it('is written with every code, and an unknown code is left as it is', () => {
    const moment = parseDate('2026-03-01 15:04:05.000678', '%Y-%m-%d %H:%M:%S.%f');
    const all = '%Y %y %m %d %H %I %p %M %S %f %j %a %A %b %B %w %u %V %G %z %% %Q';
    expect(moment && formatDate(moment.wall, -(2 * HOUR + 30 * MINUTE), all)).toBe(
      '2026 26 03 01 15 03 PM 04 05 000678 060 Sun Sunday Mar March 0 7 09 2026 -0230 % %Q',
    );
    const newYear = parseDate('2027-01-01', '%Y-%m-%d');
    expect(newYear && formatDate(newYear.wall, HOUR, '%I %p %G %V %u %w %j %z')).toBe('12 AM 2026 53 5 5 001 +0100');
  });

  it('is refused with the first code that is unknown', () => {
    expect(unknownCode('%Y-%m%%', 'parse')).toBeNull();
    expect(unknownCode('%Y %c %x', 'parse')).toBe('%c');
    expect(unknownCode('%Q', 'write')).toBe('%Q');
    expect(unknownCode('5%', 'write')).toBe('%');
  });
});
