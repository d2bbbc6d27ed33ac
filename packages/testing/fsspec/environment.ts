// fsspec, which ObjectStoragePath uses where it is installed; tests put it on the path of Python.

import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { virtualEnvironment } from '../virtual-environment.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** The folder it can be imported from. */
export async function fsspecFolder(): Promise<string> {
  const python = await virtualEnvironment({ name: 'fsspec', requirements: [REQUIREMENTS] });
  const [found] = globSync('lib/python3*/site-packages', { cwd: dirname(dirname(python)) });
  return join(dirname(dirname(python)), found ?? '');
}
