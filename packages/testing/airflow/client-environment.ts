// The Python environment with the official client of the Airflow API, which a test calls every endpoint with.
//
//   node packages/testing/airflow/client-environment.ts # prints the path of its interpreter

import { join } from 'node:path';
import { VirtualEnvironmentError, virtualEnvironment } from '../virtual-environment.ts';

const REQUIREMENTS = join(import.meta.dirname, 'python-client', 'requirements.txt');

/** The interpreter of the environment, which is built first when it is missing or made for other requirements. */
export const clientEnvironment = (): Promise<string> =>
  virtualEnvironment({ name: 'client-venv', requirements: [REQUIREMENTS] });

if (import.meta.main) {
  try {
    process.stdout.write(`${await clientEnvironment()}\n`);
  } catch (error) {
    if (!(error instanceof VirtualEnvironmentError)) throw error;
    process.stderr.write(`client-environment: ${error.message}\n`);
    process.exitCode = 1;
  }
}
