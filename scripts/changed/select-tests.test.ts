import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '@svc/testing/paths.ts';
import { testFilesByTier } from '@svc/testing/vitest/tiers.ts';
import { pythonGraph, typescriptGraph } from './import-graph.ts';
import type { ImportGraph } from './import-graph.ts';
import { selectTests } from './select-tests.ts';

const graphOf = (imports: Record<string, string[]>): ImportGraph =>
  new Map(Object.entries(imports).map(([file, targets]) => [file, new Set(targets)]));

/** Twenty resources behind a server, of which the first has a test, and a pure module that two tests use. */
const RESOURCES = Array.from({ length: 20 }, (_, index) => `api/r${index}/r${index}.ts`);
const TYPESCRIPT = graphOf({
  'server.ts': RESOURCES,
  ...Object.fromEntries(RESOURCES.map((file) => [file, ['spec/states.ts']])),
  'spec/states.ts': [],
  'spec/states.test.ts': ['spec/states.ts'],
  'api/r0/r0.test.ts': ['server.ts'],
  'api/whole.test.ts': ['server.ts'],
  'cli/frame.ts': ['spec/states.ts'],
  'cli/frame.test.ts': ['cli/frame.ts'],
});
const TESTS = [...TYPESCRIPT.keys()].filter((file) => file.endsWith('.test.ts'));
const PYTHON = graphOf({
  'python/svc_runtime/run/context.py': [],
  'python/svc_runtime/record/dag.py': [],
  'python/tests/test_run_context.py': [],
  'python/tests/test_golden.py': ['python/svc_runtime/record/dag.py'],
});

const select = (...changed: string[]) =>
  selectTests({
    changed,
    typescript: TYPESCRIPT,
    python: PYTHON,
    tests: TESTS,
    read: (file) => (file === 'api/whole.test.ts' ? "readFileSync('deploy/Chart.yaml')" : ''),
  });

describe('the tests of a change', () => {
  it('are those that reach it by their imports, but not through the whole product', () => {
    expect(select('spec/states.ts').typescript).toEqual(['cli/frame.test.ts', 'spec/states.test.ts']);
  });

  it('are those with the name of the changed file, where only the whole product reaches it', () => {
    expect(select('api/r0/r0.ts').typescript).toEqual(['api/r0/r0.test.ts']);
  });

  it('are those of the nearest folder above, where its own folder has none', () => {
    expect(select('api/r7/r7.ts').typescript).toEqual(['api/whole.test.ts']);
  });

  it('are those that name a file which is no source', () => {
    expect(select('deploy/Chart.yaml').typescript).toEqual(['api/whole.test.ts']);
  });

  it('are in Python those that import the module, and those that start it in a process of its own', () => {
    expect(select('python/svc_runtime/record/dag.py').python).toEqual(['tests.test_golden']);
    expect(select('python/svc_runtime/run/context.py').python).toEqual(['tests.test_run_context']);
  });

  it('are few for one resource of the API of this repository, and its own are among them', () => {
    const tests = Object.values(testFilesByTier(ROOT)).flat();
    const { typescript } = selectTests({
      changed: ['packages/server/api/pools/pools.ts'],
      typescript: typescriptGraph(ROOT),
      python: pythonGraph(ROOT),
      tests,
      read: (file) => readFileSync(join(ROOT, file), 'utf8'),
    });
    expect(typescript).toContain('packages/server/api/pools/pools.test.ts');
    expect(typescript.length).toBeLessThan(tests.length / 10);
  });
});
