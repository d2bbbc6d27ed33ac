import { expect, it } from 'vitest';
import { momentFromPostgres } from './moment.ts';

it.each([
  ['2026-11-15 06:31:12.123456+00', '2026-11-15T06:31:12.123456Z'],
  ['2026-11-15 06:31:12+00', '2026-11-15T06:31:12.000000Z'],
  ['2026-11-15 06:31:12.5+00', '2026-11-15T06:31:12.500000Z'],
])('keeps the microseconds of %s', (text, moment) => {
  expect(momentFromPostgres(text)).toBe(moment);
});

it.each([
  ['2026-11-15 08:31:12.123456+02', '2026-11-15T06:31:12.123456Z'],
  ['2026-11-15 12:01:12.000001+05:30', '2026-11-15T06:31:12.000001Z'],
  ['2026-11-14 23:31:12-07', '2026-11-15T06:31:12.000000Z'],
])('reads %s as the same moment, whatever zone the session is in', (text, moment) => {
  expect(momentFromPostgres(text)).toBe(moment);
});

it('leaves infinity alone', () => {
  expect(momentFromPostgres('infinity')).toBe('infinity');
});
