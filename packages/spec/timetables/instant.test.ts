import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { civilDate, daysInMonth, epochDay, weekday } from './civil.ts';
import { instant, instantFromDate, instantFromIso, instantToDate, instantToIso } from './instant.ts';
import { runIdFor } from './run-id.ts';

const iso = (text: string): string | null => {
  const at = instantFromIso(text);
  return at === null ? null : instantToIso(at);
};

describe('instants', () => {
  it('keep the microseconds that a Date would lose', () => {
    const at = instantFromIso('2026-06-10T10:20:30.123456+02:00');
    expect(at).toBe(1_781_079_630_123_456);
    expect(iso('2026-06-10T10:20:30.123456+02:00')).toBe('2026-06-10T08:20:30.123456+00:00');
    expect(instantToDate(instant(at ?? 0)).toISOString()).toBe('2026-06-10T08:20:30.123Z');
  });

  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00+00:00'],
    ['2026-01-01 00:00:00+00', '2026-01-01T00:00:00+00:00'],
    ['2026-01-01 00:00:00.5-0330', '2026-01-01T03:30:00.500000+00:00'],
    ['2026-01-01T00:00+05:45', '2025-12-31T18:15:00+00:00'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999+00:00'],
    ['1850-01-01T00:00:00-04:56:02', '1850-01-01T04:56:02+00:00'],
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123456+00:00'],
  ])('read %s', (text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  it.each(['2026-01-01T00:00:00', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01', 'tomorrow', ''])(
    'refuse "%s": no offset, no such day, or no date',
    (text) => {
      expect(instantFromIso(text)).toBeNull();
    },
  );

  it('order an end date of 9999 after everything, though it is beyond exact numbers', () => {
    const end = instantFromIso('9999-12-31T23:59:59.999999Z') ?? instant(0);
    expect(end > (instantFromIso('2255-01-01T00:00:00Z') ?? instant(0))).toBe(true);
    expect(Math.abs(Number(BigInt(end) - 253_402_300_799_999_999n))).toBeLessThanOrEqual(32);
  });

  it('come back unchanged from their text', () => {
    const range = { min: Date.UTC(1900, 0) * 1_000, max: Date.UTC(2200, 0) * 1_000 };
    fc.assert(
      fc.property(fc.integer(range), (micros) => {
        expect(instantFromIso(instantToIso(instant(micros)))).toBe(micros);
        expect(instantFromDate(instantToDate(instant(micros)))).toBe(Math.floor(micros / 1_000) * 1_000);
      }),
    );
  });
});

describe('the calendar', () => {
  it('agrees with Date on every day from 1600 to 2600', () => {
    fc.assert(
      fc.property(fc.integer({ min: -135_140, max: 230_100 }), (day) => {
        const date = new Date(day * 86_400_000);
        const civil = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
        expect(civilDate(day)).toEqual(civil);
        expect(epochDay(civil)).toBe(day);
        expect(weekday(day)).toBe(date.getUTCDay());
        expect(daysInMonth(civil.year, civil.month)).toBe(new Date(Date.UTC(civil.year, civil.month, 0)).getUTCDate());
      }),
    );
  });
});

describe('run ids', () => {
  it('carry microseconds only when there are any', () => {
    const whole = instantFromIso('2026-01-02T10:00:00Z') ?? instant(0);
    expect(runIdFor({ runType: 'scheduled', runAfter: whole })).toBe('scheduled__2026-01-02T10:00:00+00:00');
    const fraction = instant(whole + 120);
    expect(runIdFor({ runType: 'manual', runAfter: fraction })).toBe('manual__2026-01-02T10:00:00.000120+00:00');
  });
});
