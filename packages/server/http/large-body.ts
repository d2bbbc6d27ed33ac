/**
 * Bodies that are too large to be read in one go: a MiB of small values holds up the event loop for a tenth of a second and
 * more, and a compiled DAG may have sixteen. Read and looked through in turns with everybody else.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';

export const LARGE_BODY_CHARACTERS = 64 * 1024;

/** Values that are looked at in one turn. */
const IN_ONE_TURN = 5_000;

export type BodyRules = {
  maxDepth: number;
  isStorable(text: string): boolean;
  tooDeep: string;
  unstorable: string;
};

/** Throws when it is no JSON. */
export const parseLargeBody = (text: string): Promise<unknown> => parseJsonInTurns(text.replace(/^\uFEFF/, ''));

type Place = { value: object; depth: number };

/** What is wrong with it, or undefined; throws for a key that would poison a prototype. */
export async function faultOfLargeBody(body: unknown, rules: BodyRules): Promise<string | undefined> {
  const faultOfText = (text: unknown): boolean => typeof text === 'string' && !rules.isStorable(text);
  if (faultOfText(body)) return rules.unstorable;
  const pending: Place[] = isObject(body) ? [{ value: body, depth: 1 }] : [];
  let seen = 0;
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { value, depth } = place;
    if (depth > rules.maxDepth) return rules.tooDeep;
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    if (keys?.some((key) => key === '__proto__') || isPoisonedConstructor(value)) {
      throw new SyntaxError('Object contains forbidden prototype property');
    }
    if (keys?.some(faultOfText)) return rules.unstorable;
    for (const item of Object.values(value) as unknown[]) {
      seen += 1;
      if (seen % IN_ONE_TURN === 0) await nextTurn();
      if (faultOfText(item)) return rules.unstorable;
      if (isObject(item)) pending.push({ value: item, depth: depth + 1 });
    }
  }
  return undefined;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function isPoisonedConstructor(value: object): boolean {
  if (!Object.hasOwn(value, 'constructor')) return false;
  const { constructor } = value as { constructor: unknown };
  return isObject(constructor) && Object.hasOwn(constructor, 'prototype');
}
