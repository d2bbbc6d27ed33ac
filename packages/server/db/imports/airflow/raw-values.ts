/** Converts the values of the drivers into ours. */
import { momentFromPostgres } from '../../moment.ts';
import type { Moment } from '../../schema.ts';
import type { RawRow, RawValue } from './metadata-database.ts';

/** Replaces U+0000 and unpaired surrogates, which SQLite may store but Postgres cannot. */
export const clean = (text: string): string => text.replaceAll('\u0000', '\ufffd').toWellFormed();

export function textOf(value: RawValue | undefined): string | null {
  if (value === null || value === undefined) return null;
  return clean(value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value));
}

export const wordOf = (row: RawRow, name: string): string => textOf(row[name]) ?? '';

export function numberOf(value: RawValue | undefined): number | null {
  if (value === null || value === undefined) return null;
  const number = Number(value instanceof Uint8Array ? Number.NaN : value);
  return Number.isFinite(number) ? number : null;
}

export const isTrue = (value: RawValue | undefined): boolean =>
  value === 't' || value === 'true' || value === 1 || value === 1n || value === '1';

export function bytesOf(value: RawValue | undefined): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'string') return null;
  return value.startsWith('\\x') ? Buffer.from(value.slice(2), 'hex') : Buffer.from(value, 'latin1');
}

/** Text of Postgres has its zone. Text of SQLite and MySQL is in UTC without a zone. */
export function momentOf(value: RawValue | undefined): Moment | null {
  if (typeof value !== 'string' || value === '') return null;
  return momentFromPostgres(/[+-]\d\d(:?\d\d)*$/.test(value.slice(10)) ? value : `${value}+00`);
}
