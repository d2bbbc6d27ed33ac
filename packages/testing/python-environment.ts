// The Python that tests and benchmarks compile DAG files with: like a user's, but kept in the checkout.

import { ensurePython } from '@svc/compiler/python-environment.ts';
import { CACHE } from './paths.ts';

let found: Promise<string> | undefined;

/**
 * The path of its interpreter; built first when it is missing. Safe to call from several processes at once. Each process
 * looks once, because it asks the machine's Python for its version, which costs 0.1 s of processor time.
 */
export function pythonEnvironment(): Promise<string> {
  found ??= ensurePython({ env: process.env, cacheFolder: CACHE });
  return found;
}
