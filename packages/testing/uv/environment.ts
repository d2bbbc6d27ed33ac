// uv, which installs packages where it is on the PATH; tests put it there.

import { dirname, join } from 'node:path';
import { virtualEnvironment } from '../virtual-environment.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** The folder its program is in. */
export const uvFolder = async (): Promise<string> =>
  dirname(await virtualEnvironment({ name: 'uv', requirements: [REQUIREMENTS] }));
