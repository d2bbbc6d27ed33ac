/** The Python side's own tests, each under its name: the comparison with Airflow, hostile files, refusals, recording, running. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fsspecFolder } from '@svc/testing/fsspec/environment.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { pythonTests } from '@svc/testing/python-tests.ts';
import { valuesFolder } from '@svc/testing/values/environment.ts';
import type { ModuleRun, PythonModule } from '@svc/testing/python-tests.ts';

process.env['SVC_TEST_FSSPEC'] = await fsspecFolder(); // for test_object_storage.py, and nobody else
process.env['SVC_TEST_VALUES'] = await valuesFolder(); // for test_value_types.py
const tests = pythonTests({ python: await pythonEnvironment(), folder: join(ROOT, 'python') });
const modules = await tests.list();

const started = new Map<PythonModule, Promise<ModuleRun>>();
function start(module: PythonModule | undefined): Promise<ModuleRun> | undefined {
  if (module === undefined) return undefined;
  const run = started.get(module) ?? tests.run(module);
  started.set(module, run);
  return run;
}

/** `tests.test_x.Klass.test_that_it_works` reads "Klass: that it works". */
function title(id: string): string {
  const [klass = '', name = ''] = id.split('.').slice(-2);
  return `${klass}: ${name.replace(/^test_/, '').replaceAll('_', ' ')}`;
}

afterAll(() => tests.stop());

it('there are Python tests', () => {
  expect(modules.length).toBeGreaterThan(0);
});

describe.each(modules.map((module, index) => ({ ...module, index })))('$module', ({ ids, index }) => {
  let run: ModuleRun | undefined;

  beforeAll(async () => {
    const own = start(modules[index]);
    // Most of them wait more than they compute, so the next one may begin.
    start(modules[index + 1])?.catch(() => {}); // who needs it hears of it
    run = await own;
    if (run?.output) process.stdout.write(`\n${run.output}\n`);
  }, 900_000); // on a busy machine a module takes many times as long as on an idle one

  it.each(ids.map((id) => ({ id, name: title(id) })))('$name', ({ id }) => {
    const failure = run?.failureOf(id);
    if (failure !== undefined) throw new Error(failure);
  });
});
