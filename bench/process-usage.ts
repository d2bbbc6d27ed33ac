/** What a process has used so far. From /proc, so on Linux only; elsewhere the figures are left out. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

export type Usage = { cpuSeconds: number; rssMebibytes: number };

let ticksPerSecond: number | undefined;

export function usageOf(pid: number): Usage | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined;
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  // The second field is the name in parentheses, which may hold blanks; user and system time are the 12th and 13th after.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  const rss = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuSeconds, rssMebibytes: Number(rss) / 1_024 };
}
