/** A Python with Prefect, to be measured beside us: made once, in .cache/. Nothing of it ships. */
import { join } from 'node:path';
import { virtualEnvironment } from '../virtual-environment.ts';

/** The path of its interpreter. */
export const prefectPython = (): Promise<string> =>
  virtualEnvironment({ name: 'prefect', requirements: [join(import.meta.dirname, 'requirements.txt')] });
