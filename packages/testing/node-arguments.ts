/** Arguments for the Node processes that tests start. Without them, each process compiles all TypeScript that it loads. */
import { join } from 'node:path';
import { ROOT } from './paths.ts';

/** For a program of the product: as in bin/, it runs from the bundle if that is fresh. */
export const PROGRAM_ARGUMENTS: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--require',
  join(ROOT, 'packages', 'spec', 'compiled-code.cjs'),
];
/** For a script of the tests: it shares compiled code with the processes that run tests. */
export const SCRIPT_ARGUMENTS: readonly string[] = [
  '--import',
  new URL('vitest/compile-cache.ts', import.meta.url).href,
];
/** A seed: with it, processes of tests delay what they receive, send and wait for (vitest/jitter.ts). */
export const JITTER_VARIABLE = 'SVC_TEST_JITTER';
/** A folder to which each process writes its long delays: one of the last ones before a failure explains the failure. */
export const JITTER_LOG_VARIABLE = 'SVC_TEST_JITTER_LOG';
export const JITTER_ARGUMENTS: readonly string[] = ['--import', new URL('vitest/jitter.ts', import.meta.url).href];
/** For the processes that run tests. */
export const TEST_ARGUMENTS: string[] = [
  ...SCRIPT_ARGUMENTS,
  ...(process.env[JITTER_VARIABLE] === undefined ? [] : JITTER_ARGUMENTS),
];
