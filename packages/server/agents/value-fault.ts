/** Checks whether a task's value can be stored and returned. It refuses the same values as the HTTP API. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonNestingError, parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import { repeatedKeyInTurns } from '@svc/spec/json-shape.ts';
import { MAX_DEPTH, storeProblems } from '@svc/spec/storable.ts';

/** Values checked per turn. */
const IN_ONE_TURN = 5_000;

/** Returns undefined, or one sentence that begins with `name`. Works in turns, because a value may have megabytes. */
export async function valueFault(text: string, name: string): Promise<string | undefined> {
  let value: unknown;
  try {
    value = await parseJsonInTurns(text);
  } catch (error) {
    const isDeep = error instanceof JsonNestingError;
    return isDeep ? `${name} must not be nested deeper than ${MAX_DEPTH} levels` : `${name} is no JSON text`;
  }
  let seen = 0;
  for (const problem of storeProblems(value, { name })) {
    if (problem !== undefined) return problem;
    seen += 1;
    if (seen % IN_ONE_TURN === 0) await nextTurn();
  }
  const repeated = await repeatedKeyInTurns(text);
  return repeated === undefined ? undefined : `${name} has the key ${JSON.stringify(repeated)} twice: keep one of them`;
}
