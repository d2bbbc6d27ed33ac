/**
 * Vitest's runner, except that each test is repeated with every mutant that it reaches and no test before it has found. A test
 * that fails when it is repeated without a mutant decides nothing: it keeps something between its runs.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestRunner } from 'vitest';
import type { RunnerTestCase } from 'vitest';
import { EndlessMutantError, readJob, state } from './switches.ts';

const { wanted, results } = readJob();
const open = new Set(wanted);

/** What is reached while nothing is tested is reached by loading: such mutants cannot be switched on later. */
const loading = state.reached;
const note = (event: object): void => appendFileSync(results, `${JSON.stringify(event)}\n`);

const LEAST_MS = 3_000;
const TIMES = 5;

// oxlint-disable-next-line import/no-default-export -- Vitest takes the runner of a file by this name
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
    const own = [...reached].filter((id) => open.has(id));
    note({ kind: 'reached', ids: [...reached], atLoad: [...loading] });
    if (own.length === 0) return;
    const name = `${test.file.name} > ${test.name}`;
    if (await fails(run, 0, took)) return note({ kind: 'unrepeatable', name });
    for (const id of own) {
      note({ kind: 'begun', id });
      if (!(await fails(run, id, took))) continue;
      open.delete(id);
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
