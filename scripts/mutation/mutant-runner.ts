/**
 * Vitest's runner, except that each test is repeated with every mutant that it reaches and no test before it has found. A test
 * that fails when it is repeated without a mutant decides nothing: it keeps something between its runs.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestRunner } from 'vitest';
import type { RunnerTestCase } from 'vitest';
import { EndlessMutantError, readJob, state } from './switches.ts';

const { mutants, decided, results } = readJob();
const wanted = new Set(Object.values(mutants).flatMap((own) => own.map(({ id }) => id)));
const known = new Set(decided);

/** What is reached while nothing is tested is reached by loading: such mutants cannot be switched on later. */
const loading = state.reached;
const note = (event: object): void => appendFileSync(results, `${JSON.stringify(event)}\n`);

const LEAST_MS = 2_000;
const TIMES = 20;

export default class MutantRunner extends TestRunner {
  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    const reached = new Set<number>();
    state.reached = reached;
    const begun = performance.now();
    try {
      await run();
    } finally {
      state.reached = loading;
    }
    const took = performance.now() - begun;
    const open = [...reached].filter((id) => wanted.has(id) && !known.has(id));
    note({ kind: 'reached', ids: [...reached], atLoad: [...loading] });
    if (open.length === 0) return;
    const name = `${test.file.name} > ${test.name}`;
    if (await fails(run, 0, took)) return note({ kind: 'unrepeatable', name });
    for (const id of open) {
      note({ kind: 'begun', id });
      if (!(await fails(run, id, took))) continue;
      known.add(id);
      note({ kind: 'killed', id, name });
    }
  }
}

async function fails(run: () => unknown, id: number, took: number): Promise<boolean> {
  const patience = LEAST_MS + took * TIMES;
  const given = new AbortController();
  state.until = performance.now() + patience;
  state.on = id;
  try {
    const late = sleep(patience, undefined, { signal: given.signal }).then(() => {
      throw new EndlessMutantError();
    });
    await Promise.race([run(), late]);
    return false;
  } catch {
    return true;
  } finally {
    given.abort();
    state.on = 0;
  }
}
