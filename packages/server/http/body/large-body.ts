/**
 * Parses and checks bodies that are too large for one turn of the event loop, such as a compiled DAG of 16 MiB. The
 * work runs in slices, and other work runs between them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mayHoldRawNumbers, parseExact } from '@svc/spec/exact-json.ts';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import { storeProblemInTurns } from '@svc/spec/storable.ts';

export const LARGE_BODY_CHARACTERS = 64 * 1024;

/**
 * A compiled DAG of 16 MiB has less than a million values. Many more empty values would keep the garbage collector
 * busy.
 */
const MAX_VALUES = 2_000_000;
const COUNTED_AT_ONCE = 1024 * 1024;

export class TooManyValuesError extends Error {
  constructor() {
    super(`the body must not have more than ${MAX_VALUES} values`);
  }
}

/** Throws a SyntaxError for invalid JSON, and a TooManyValuesError for too many values. */
export async function parseLargeBody(text: string): Promise<{ body: unknown; hasRawNumbers: boolean }> {
  let values = 0;
  for (let from = 0; from < text.length && text.length > MAX_VALUES; from += COUNTED_AT_ONCE) {
    values += countMarks(text, from, Math.min(text.length, from + COUNTED_AT_ONCE));
    if (values > MAX_VALUES) throw new TooManyValuesError();
    await nextTurn();
  }
  let hasRawNumbers = false;
  const parse = (piece: string): unknown => {
    hasRawNumbers ||= mayHoldRawNumbers(piece);
    return parseExact(piece);
  };
  return { body: await parseJsonInTurns(text, { parse }), hasRawNumbers };
}

/** Estimates the number of values by counting commas and opening brackets. Those inside texts count as well. */
function countMarks(text: string, from: number, to: number): number {
  let marks = 0;
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x2c || unit === 0x5b || unit === 0x7b) marks += 1;
  }
  return marks;
}

/** Returns what is wrong with the body, or undefined. Throws for a key that would poison a prototype. */
export const faultOfLargeBody = (body: unknown, options: { name: string }): Promise<string | undefined> =>
  storeProblemInTurns(body, { ...options, look: refusePoison });

/** The body is valid JSON, so the sender gets a message that names the forbidden key. */
export class PoisonedKeyError extends Error {
  constructor() {
    super('the body must not have the key "__proto__", nor "constructor" with a "prototype" in it');
  }
}

function refusePoison(value: object): void {
  if (Object.hasOwn(value, '__proto__') || isPoisonedConstructor(value)) throw new PoisonedKeyError();
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function isPoisonedConstructor(value: object): boolean {
  if (!Object.hasOwn(value, 'constructor')) return false;
  const { constructor } = value as { constructor: unknown };
  return isObject(constructor) && Object.hasOwn(constructor, 'prototype');
}
