// The Python environment with Schemathesis, which a test checks the API against its own document with.
//
//   node packages/testing/schemathesis/environment.ts # prints the path of its interpreter

import { join } from 'node:path';
import { VirtualEnvironmentError, virtualEnvironment } from '../virtual-environment.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** The interpreter of the environment, which is built first when it is missing or made for other requirements. */
export const schemathesisEnvironment = (): Promise<string> =>
  virtualEnvironment({ name: 'schemathesis', requirements: [REQUIREMENTS] });

if (import.meta.main) {
  try {
    process.stdout.write(`${await schemathesisEnvironment()}\n`);
  } catch (error) {
    if (!(error instanceof VirtualEnvironmentError)) throw error;
    process.stderr.write(`schemathesis-environment: ${error.message}\n`);
    process.exitCode = 1;
  }
}
