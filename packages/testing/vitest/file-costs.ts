/**
 * Set-up of every tier: measures the processor time of each test file, children that have ended included. The reporter
 * next to this file prints the most expensive ones. It has to be the first set-up file, so that its hook ends last.
 */
import { readFileSync } from 'node:fs';
import { beforeAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    processorSeconds?: number;
  }
}

/** Linux counts processor time in hundredths of a second, whatever the machine. */
const TICKS_PER_SECOND = 100;

/** Own time and that of children that have been waited for; only Linux tells the second part. */
function processorSeconds(): number {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  // The name of the program, in parentheses, may contain spaces: the numbers begin after it.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

const before = processorSeconds();

// Vitest wants the pattern to know which fixtures the hook uses.
// oxlint-disable-next-line no-empty-pattern
beforeAll(({}, file) => () => {
  file.meta.processorSeconds = processorSeconds() - before;
});
