/**
 * Chooses the tests that a change can reach.
 *
 * A test is chosen when a changed file is among what it imports, directly or through others. Files that put the whole product
 * together (a control plane, the command line, most harnesses) end that search: behind them everything reaches everything.
 * What is behind them is chosen by place instead: a changed file brings the tests that have its name, where there are none
 * those of its own folder, and where that has none those of the nearest folder above it. A file that is no source (a chart,
 * a page of the docs, an example) brings the tests whose text names it. Python's tests start many modules in processes of
 * their own, so that no import names them: a change below `svc_runtime/run` also brings every `test_run_….py`.
 */
import { basename, dirname, parse } from 'node:path';
import type { ImportGraph } from './import-graph.ts';

/** A file that reaches this share of all files puts the whole product together. */
const WHOLE_PRODUCT = 0.15;

export type Tests = {
  /** Test files of vitest, from the root. */
  readonly typescript: readonly string[];
  /** Modules of Python's unittest: `tests.test_x`. */
  readonly python: readonly string[];
};

export function selectTests(input: {
  changed: readonly string[];
  typescript: ImportGraph;
  python: ImportGraph;
  tests: readonly string[];
  /** The text of a test file. */
  read: (file: string) => string;
}): Tests {
  const { changed, typescript, python, tests, read } = input;
  const changedSet = new Set(changed);
  const isWhole = wholeProduct(typescript);
  const chosen = new Set<string>();
  for (const test of tests) {
    if (reaches(typescript, test, changedSet, isWhole)) chosen.add(test);
  }
  for (const file of changed) {
    for (const test of typescript.has(file) ? testsNear(file, tests) : testsNaming(file, tests, read)) chosen.add(test);
  }
  const pythonTests = [...python.keys()].filter((file) => /^python\/tests\/test_\w+\.py$/.test(file));
  const prefixes = changed.flatMap(pythonTestPrefix);
  const inPython = pythonTests.filter(
    (test) =>
      prefixes.some((prefix) => basename(test).startsWith(prefix)) || reaches(python, test, changedSet, () => false),
  );
  return {
    typescript: [...chosen].sort(),
    python: inPython.map((file) => `tests.${basename(file, '.py')}`).sort(),
  };
}

function pythonTestPrefix(file: string): string[] {
  const [, place] = /^python\/svc_runtime\/(\w+)(?:\/|\.py$)/.exec(file) ?? [];
  return place === undefined ? [] : [`test_${place}_`, `test_${place}.`];
}

/** Whether `from` is or needs one of `targets`. What `isEnd` says of is looked at, but not what it imports. */
function reaches(
  graph: ImportGraph,
  from: string,
  targets: ReadonlySet<string>,
  isEnd: (file: string) => boolean,
): boolean {
  const seen = new Set([from]);
  for (const file of seen) {
    if (targets.has(file)) return true;
    if (file !== from && isEnd(file)) continue;
    for (const next of graph.get(file) ?? []) seen.add(next);
  }
  return false;
}

function wholeProduct(graph: ImportGraph): (file: string) => boolean {
  const limit = graph.size * WHOLE_PRODUCT;
  const known = new Map<string, boolean>();
  return (file) => {
    let isWhole = known.get(file);
    if (isWhole === undefined) {
      const seen = new Set([file]);
      for (const each of seen) for (const next of graph.get(each) ?? []) seen.add(next);
      isWhole = seen.size > limit;
      known.set(file, isWhole);
    }
    return isWhole;
  };
}

function testsNear(file: string, tests: readonly string[]): string[] {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
    const here = tests.filter((test) => dirname(test) === folder);
    const named = here.filter((test) => basename(test).startsWith(`${parse(file).name}.`));
    if (named.length > 0 && folder === dirname(file)) return named;
    if (here.length > 0) return here;
  }
  return [];
}

const testsNaming = (file: string, tests: readonly string[], read: (file: string) => string): string[] =>
  tests.filter((test) => read(test).includes(basename(file)));
