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
