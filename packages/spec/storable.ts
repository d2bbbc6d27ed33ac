/**
 * Decides whether a JSON value can be stored and returned unchanged. Postgres cannot store text with U+0000 or with
 * half of a surrogate pair. Numbers must be ones that a program can tell apart (exact-json.ts).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRawNumber, numberProblem } from './exact-json.ts';

type Place = { value: unknown; depth: number; key: string; parent: Place | undefined };

/**
 * Returns one sentence that names the place of a problem, or undefined. `name` is the name of the value itself. It
 * keeps its own stack, because a hostile value would overflow the call stack.
 */
export function storeProblem(value: unknown, options: StoreOptions): string | undefined {
  for (const problem of storeProblems(value, options)) if (problem !== undefined) return problem;
  return undefined;
}

/** Number of values that are checked in one turn. */
const IN_ONE_TURN = 5_000;

/** Does the same. Other work runs between parts of a large value. */
export async function storeProblemInTurns(value: unknown, options: StoreOptions): Promise<string | undefined> {
  let seen = 0;
  for (const problem of storeProblems(value, options)) {
    if (problem !== undefined) return problem;
    seen += 1;
    if (seen % IN_ONE_TURN === 0) await nextTurn();
  }
  return undefined;
}

export type StoreOptions = {
  name: string;
  maxDepth?: number;
  /** Called for every list and object. It may throw. */
  look?: (value: object) => void;
};

/** Yields for each value its problem, or undefined, so that the caller can let other work run between values. */
export function* storeProblems(value: unknown, options: StoreOptions): Generator<string | undefined> {
  const { name, maxDepth = MAX_DEPTH, look } = options;
  const pending: Place[] = [{ value, depth: 1, key: '', parent: undefined }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { value: found, depth } = place;
    if (typeof found === 'string') {
      yield isStorableText(found) ? undefined : `${nameOf(place, name)} ${UNSTORABLE_TEXT}`;
      continue;
    }
    if (typeof found !== 'object' || found === null) continue;
    if (isRawNumber(found)) {
      const problem = numberProblem(found);
      yield problem === undefined ? undefined : `${nameOf(place, name)}: ${problem}`;
      continue;
    }
    if (depth > maxDepth) yield `${name} must not be nested deeper than ${maxDepth} levels`;
    look?.(found);
    // The loop avoids entries(), which for a list with a million items would be made in one turn.
    const keys = Array.isArray(found) ? undefined : Object.keys(found);
    const items = found as Record<string | number, unknown>;
    for (let index = 0; index < (keys ?? (found as unknown[])).length; index += 1) {
      const key = keys?.[index] ?? index;
      const inner = items[key];
      if (typeof key === 'string' && !isStorableText(key)) yield `a name in ${nameOf(place, name)} ${UNSTORABLE_TEXT}`;
      else yield undefined;
      if (typeof inner === 'string' || (typeof inner === 'object' && inner !== null))
        pending.push({ value: inner, depth: depth + 1, key: String(key), parent: place });
    }
  }
}

export const MAX_DEPTH = 200;

export const UNSTORABLE_TEXT = 'must not contain U+0000 or half of a surrogate pair';

export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');

const MAX_NAMED = 5;

/** Returns the path of a value (`conf.limits.max`), shortened if it is long. */
function nameOf(place: Place, name: string): string {
  const keys: string[] = [];
  for (let at: Place | undefined = place; at?.parent; at = at.parent) keys.unshift(at.key.slice(0, 50).toWellFormed());
  if (keys.length === 0) return name;
  const path = keys.slice(0, MAX_NAMED).join('.') + (keys.length > MAX_NAMED ? '…' : '');
  return name === THE_BODY ? path : `${name}.${path}`;
}

/** The name of the body of a request. Paths of fields do not start with it. */
export const THE_BODY = 'the body';
