// Libraries whose frames, arrays and models tasks pass on; tests put them on the path of Python.

import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { virtualEnvironment } from '../virtual-environment.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** The folder they can be imported from. */
export async function valuesFolder(): Promise<string> {
  const python = await virtualEnvironment({ name: 'values', requirements: [REQUIREMENTS] });
  const [found] = globSync('lib/python3*/site-packages', { cwd: dirname(dirname(python)) });
  return join(dirname(dirname(python)), found ?? '');
}
