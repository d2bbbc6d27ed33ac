import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR, MINUTE, SECOND, instant, instantFromIso, instantToIso, wallTime } from './instant.ts';
import type { Instant } from './instant.ts';
import { zoneNamed } from './zone.ts';
import type { Zone } from './zone.ts';

const zone = (name: string): Zone => {
  const found = zoneNamed(name);
  if (found === null) throw new Error(`no zone ${name}`);
  return found;
};

const at = (text: string): Instant => instantFromIso(text) ?? instant(NaN);

/** The instant at which a clock on a wall in that zone is read so. */
const read = (name: string, wall: string): string => instantToIso(zone(name).fromWall(wallTime(at(`${wall}Z`))));

// Straight from Intl, one call per question: slow and independent of the cached changes under test.
const askIntl = (name: string, when: Instant): number => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = Object.fromEntries(
    format.formatToParts(Math.floor(when / 1_000)).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  return wall * 1_000 - Math.floor(when / SECOND) * SECOND;
};

describe('offsets', () => {
  it('are those of Intl in every zone at any time, also within a week of two changes', () => {
    const names = Intl.supportedValuesOf('timeZone');
    const when = fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2090, 0) });
    fc.assert(
      fc.property(fc.constantFrom(...names), when, (name, millis) => {
        expect(zone(name).offsetAt(instant(millis * 1_000))).toBe(askIntl(name, instant(millis * 1_000)));
      }),
      { numRuns: 400 },
    );
  });

  it('change at the very second', () => {
    const change = at('2026-11-01T06:00:00Z');
    expect(zone('America/New_York').offsetAt(instant(change - 1))).toBe(-4 * HOUR);
    expect(zone('America/New_York').offsetAt(change)).toBe(-5 * HOUR);
  });

  it('see both changes where they are less than seven days apart', () => {
    const gaza = zone('Asia/Gaza');
    const offsets: number[] = [];
    for (let day = 0; day < 20; day++)
      offsets.push(gaza.offsetAt(instant(at('2040-10-15T12:00:00Z') + day * 24 * HOUR)));
    expect(offsets.filter((offset, index) => index > 0 && offset !== offsets[index - 1])).toHaveLength(2);
  });

  it('are constant for a fixed offset and for UTC', () => {
    expect(zone('+05:30').offsetAt(instant(0))).toBe(5 * HOUR + 30 * MINUTE);
    expect(zone('-01:02:03').offsetAt(instant(0))).toBe(-(HOUR + 2 * MINUTE + 3 * SECOND));
    expect(zone('-03:00').offsetAt(instant(0))).toBe(-3 * HOUR);
    expect(zone('UTC').offsetAt(instant(0))).toBe(0);
  });
});

describe('wall times', () => {
  it('that happen twice are the second occurrence', () => {
    expect(read('America/New_York', '2026-11-01T01:30:00')).toBe('2026-11-01T06:30:00+00:00');
    expect(read('Australia/Lord_Howe', '2026-04-05T01:45:00')).toBe('2026-04-04T15:15:00+00:00');
  });

  it('that a clock set forward skips happen as much later', () => {
    expect(read('America/New_York', '2026-03-08T02:30:00')).toBe('2026-03-08T07:30:00+00:00');
    expect(read('Antarctica/Troll', '2026-03-29T02:15:00')).toBe('2026-03-29T02:15:00+00:00');
  });

  it('of the day that Apia never had happen a day later', () => {
    expect(read('Pacific/Apia', '2011-12-30T12:00:00')).toBe('2011-12-30T22:00:00+00:00');
    expect(read('Pacific/Apia', '2011-12-29T12:00:00')).toBe('2011-12-29T22:00:00+00:00');
    expect(read('Pacific/Apia', '2011-12-31T12:00:00')).toBe('2011-12-30T22:00:00+00:00');
  });

  it('lead back to an instant that shows them, unless the clock skipped them', () => {
    const names = ['America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Chatham', 'Asia/Tehran'];
    const when = fc.integer({ min: Date.UTC(2000, 0) / 1_000, max: Date.UTC(2060, 0) / 1_000 });
    fc.assert(
      fc.property(fc.constantFrom(...names), when, (name, seconds) => {
        const { toWall, fromWall } = zone(name);
        const wall = toWall(instant(seconds * SECOND));
        expect(toWall(fromWall(wall))).toBe(wall);
        expect(fromWall(wall)).toBeGreaterThanOrEqual(seconds * SECOND);
      }),
    );
  });
});

describe('unknown zones', () => {
  it.each(['Mars/Olympus', '', 'UTC+2', '+5'])('"%s" is null, not an exception', (name) => {
    expect(zoneNamed(name)).toBeNull();
  });
});
