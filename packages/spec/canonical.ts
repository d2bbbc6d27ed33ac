// The canonical text of a value: the bytes that are hashed, stored and compared. It follows RFC 8785, except that
// numbers of authors keep their digits.
//
// Keys are sorted by UTF-16 code units, and there are no spaces. Numbers and strings are written as JSON.stringify
// writes them. A number that was read with its digits is written with them, because 1.0 and 1 differ in Python. The
// compiler (python/svc_runtime/compile/canonical.py) produces the same bytes, and canonical.test.ts compares the two.

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
  // Large integers are exact here. An integer that a JavaScript number cannot represent is a raw number
  // (exact-json.ts).
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

/** Returns the lower-case hex sha256 of the canonical bytes, which identifies a compiled spec. */
export const canonicalHash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex');
