/**
 * Loaded into the test process before anything else (`--import`): modules under test come with their mutants, and which of
 * those is on is decided here. A mutant that runs without end is stopped at its next switch.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { SWITCH, instrument } from './instrument.ts';
import type { NumberedMutant } from './instrument.ts';

export type Job = {
  /** All that there are, by the absolute path of their file: a loop without a switch could not be stopped. */
  readonly mutants: Readonly<Record<string, readonly NumberedMutant[]>>;
  /** Those that are to be decided. */
  readonly wanted: readonly number[];
  /** One line of JSON for each event. */
  readonly results: string;
};

export const JOB_VARIABLE = 'SVC_MUTATION_JOB';

/** Reached since this set was put here. */
export const state = { on: 0, reached: new Set<number>(), until: Infinity, asked: 0 };

export class EndlessMutantError extends Error {}

/** How often a clock is read: a switch is a few nanoseconds, a clock some tens. */
const ASKED_BETWEEN_LOOKS = 1_024;

function isOn(id: number): boolean {
  if (state.on === 0) state.reached.add(id);
  else if (++state.asked % ASKED_BETWEEN_LOOKS === 0 && performance.now() > state.until) throw new EndlessMutantError();
  return state.on === id;
}

export const readJob = (): Job => JSON.parse(readFileSync(process.env[JOB_VARIABLE] ?? '', 'utf8')) as Job;

if (process.env[JOB_VARIABLE] !== undefined) {
  const { mutants } = readJob();
  Object.assign(globalThis, { [SWITCH]: isOn });
  registerHooks({
    load(url, context, nextLoad) {
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      const own = mutants[path];
      if (!own) return nextLoad(url, context);
      const source = stripTypeScriptTypes(instrument(readFileSync(path, 'utf8'), own));
      return { format: 'module', shortCircuit: true, source };
    },
  });
}
