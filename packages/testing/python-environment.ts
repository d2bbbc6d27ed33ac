// The Python that tests and benchmarks compile DAG files with: like a user's, but kept in the checkout.

import { ensurePython } from '@svc/compiler/python-environment.ts';
import { CACHE } from './paths.ts';

/** The path of its interpreter; built first when it is missing. Safe to call from several processes at once. */
export const pythonEnvironment = (): Promise<string> => ensurePython({ env: process.env, cacheFolder: CACHE });
