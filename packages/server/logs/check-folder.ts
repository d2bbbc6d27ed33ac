/** Checks whether this user can use `logs.dir` on this machine. It changes nothing. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { BootProblem } from '../config/boot-report.ts';
import type { Config } from '../config/load.ts';

/** The folder is created with the first log, so a writable parent folder is enough. */
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
