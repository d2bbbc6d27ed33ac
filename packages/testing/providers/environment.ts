// The Python environment with real provider packages, which tests run them in; also the servers they are run against.
//
//   node packages/testing/providers/environment.ts # prints the path of its interpreter

import { join } from 'node:path';
import { VirtualEnvironmentError, virtualEnvironment } from '../virtual-environment.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** The interpreter of the environment, which is built first when it is missing or made for other requirements. */
export const providersEnvironment = (): Promise<string> =>
  virtualEnvironment({ name: 'providers', requirements: [REQUIREMENTS] });

/** The same for the OpenLineage provider. */
export const openlineageEnvironment = (): Promise<string> =>
  virtualEnvironment({ name: 'openlineage', requirements: [join(import.meta.dirname, 'openlineage.txt')] });

if (import.meta.main) {
  try {
    process.stdout.write(`${await providersEnvironment()}\n`);
  } catch (error) {
    if (!(error instanceof VirtualEnvironmentError)) throw error;
    process.stderr.write(`providers-environment: ${error.message}\n`);
    process.exitCode = 1;
  }
}
