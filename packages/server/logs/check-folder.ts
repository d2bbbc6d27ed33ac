/** Whether `logs.dir` can be used: by this user, on this machine. Looks, and changes nothing. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { BootProblem } from '../config/boot-report.ts';
import type { Config } from '../config/load.ts';

/** It is made when the first log is written, so a folder above it that can be written to will do. */
export function checkLogFolder({ logs }: Config): BootProblem[] {
  if (logs.backend !== 'disk') return [];
  const refused = (what: string): BootProblem[] => [
    {
      key: 'logs.dir',
      message: `logs.dir (SVC_LOGS_DIR) is ${logs.dir}, ${what}; set it to a folder that this user can write to`,
    },
  ];
  for (let folder = resolve(logs.dir); ; folder = dirname(folder)) {
    const where = folder === resolve(logs.dir) ? 'which' : `and ${folder}`;
    try {
      if (!statSync(folder).isDirectory()) return refused(`${where} is not a folder`);
      accessSync(folder, constants.W_OK | constants.X_OK);
      return [];
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' && folder !== dirname(folder)) continue;
      return refused(`${where} cannot be written to (${code})`);
    }
  }
}
