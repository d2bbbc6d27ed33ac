// Runs the tests that a change can reach: npm run test:changed [-- <ref>] [--list]
//
//   npm run test:changed              # what is not committed; where there is nothing, the newest commit
//   npm run test:changed -- main      # everything since `main`
//   npm run test:changed -- --list    # only names the tests
//
// It is for the daily loop. `npm test` decides: it also runs what reaches a change only through the whole product.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { testFilesByTier } from '@svc/testing/vitest/tiers.ts';
import { pythonGraph, typescriptGraph } from './changed/import-graph.ts';
import { selectTests } from './changed/select-tests.ts';

const ROOT = join(import.meta.dirname, '..');

const git = (...words: string[]): string[] =>
  execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');

function changedFiles(ref: string | undefined): string[] {
  const uncommitted = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
  if (ref !== undefined) return [...git('diff', '--name-only', `${ref}...HEAD`), ...uncommitted];
  return uncommitted.length > 0 ? uncommitted : git('diff', '--name-only', 'HEAD~1', 'HEAD');
}

function run(command: string, words: readonly string[], cwd: string): boolean {
  return spawnSync(command, words, { cwd, stdio: 'inherit' }).status === 0;
}

if (import.meta.main) {
  const words = process.argv.slice(2);
  const changed = changedFiles(words.find((word) => !word.startsWith('--')));
  const tests = Object.values(testFilesByTier(ROOT)).flat();
  const chosen = selectTests({
    changed,
    typescript: typescriptGraph(ROOT),
    python: pythonGraph(ROOT),
    tests,
    read: (file) => readFileSync(join(ROOT, file), 'utf8'),
  });
  const { typescript, python } = chosen;
  console.log(
    `${changed.length} changed files reach ${typescript.length} of ${tests.length} test files and ${python.length} Python modules`,
  );
  if (words.includes('--list')) {
    for (const test of [...typescript, ...python]) console.log(`  ${test}`);
  } else {
    const passed = [
      python.length === 0 || run(await pythonEnvironment(), ['-m', 'unittest', ...python], join(ROOT, 'python')),
      typescript.length === 0 || run('vitest', ['run', ...typescript], ROOT),
    ];
    if (passed.includes(false)) process.exitCode = 1;
  }
}
