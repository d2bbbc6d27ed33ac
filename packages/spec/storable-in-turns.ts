import { setImmediate as nextTurn } from 'node:timers/promises';
import { storeProblems } from './storable.ts';
import type { StoreOptions } from './storable.ts';

/** Number of values that are checked in one turn. */
const IN_ONE_TURN = 5_000;

/** Does the same as `storeProblem`. Other work runs between parts of a large value. */
export async function storeProblemInTurns(value: unknown, options: StoreOptions): Promise<string | undefined> {
  let seen = 0;
  for (const problem of storeProblems(value, options)) {
    if (problem !== undefined) return problem;
    seen += 1;
    if (seen % IN_ONE_TURN === 0) await nextTurn();
  }
  return undefined;
}
