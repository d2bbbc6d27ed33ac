/** The environment with the tools that build and test the wheel, and everything that the wheel requires. */
import { join } from 'node:path';
import { ROOT } from './paths.ts';
import { virtualEnvironment } from './virtual-environment.ts';

/** Returns its interpreter. It has pytest and time-machine. */
export const wheelEnvironment = (): Promise<string> =>
  virtualEnvironment({
    name: 'wheel-tests',
    requirements: ['requirements.txt', 'requirements-wheel.txt'].map((name) => join(ROOT, 'python', name)),
  });
