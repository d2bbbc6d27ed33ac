// One text per value: the bytes that are hashed, stored and compared (RFC 8785, but for the digits of authors' numbers).
//
// Keys sorted by UTF-16 code units, no spaces, numbers and strings as JSON.stringify writes them; a number that was read
// with its digits is written with them: 1.0 is not 1 to Python. The compiler (python/svc_runtime/compile/canonical.py)
// produces the same bytes; canonical.test.ts holds the two together.

import { createHash } from 'node:crypto';
import { isRawNumber } from './exact-json.ts';

export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return canonicalNumber(value);
  if (isRawNumber(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (typeof value === 'object') return canonicalObject(value as Record<string, unknown>);
  throw new TypeError(`a ${typeof value} has no JSON form`);
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
  // A large integer is exact here: one that a number cannot hold is read as a raw one (exact-json.ts).
  return JSON.stringify(value);
}

function canonicalObject(value: Record<string, unknown>): string {
  const members = Object.keys(value)
    .sort()
    .filter((key) => value[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(',')}}`;
}

export const canonicalBytes = (value: unknown): Uint8Array => new TextEncoder().encode(canonicalJson(value));

/** Lower-case hex sha256 of the canonical bytes: the identity of a compiled spec. */
export const canonicalHash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex');
