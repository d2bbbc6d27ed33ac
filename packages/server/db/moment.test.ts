import { expect, it } from 'vitest';
import { momentFromPostgres } from './moment.ts';

it.each([
  ['2026-11-15 06:31:12.123456+00', '2026-11-15T06:31:12.123456Z'],
  ['2026-11-15 06:31:12+00', '2026-11-15T06:31:12.000000Z'],
  ['2026-11-15 06:31:12.5+00', '2026-11-15T06:31:12.500000Z'],
])('a moment of the database keeps the microseconds of %s', (text, moment) => {
  expect(momentFromPostgres(text)).toBe(moment);
});

it.each([
  ['2026-11-15 08:31:12.123456+02', '2026-11-15T06:31:12.123456Z'],
  ['2026-11-15 12:01:12.000001+05:30', '2026-11-15T06:31:12.000001Z'],
  ['2026-11-14 23:31:12-07', '2026-11-15T06:31:12.000000Z'],
])('a moment of the database is the same when read from %s, whatever zone the session is in', (text, moment) => {
  expect(momentFromPostgres(text)).toBe(moment);
});

it('a moment of the database may be infinity, which is left alone', () => {
  expect(momentFromPostgres('infinity')).toBe('infinity');
});
