/** Why a task process ended without a result, as far as the agent can see. */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { exitText } from '@svc/spec/failure-causes.ts';
import type { Failure } from './outcome.ts';

export type ProcessExit = {
  status: number | null;
  signal: number | null;
  /** The error of the server process when it could not start the task's process. */
  error?: string | undefined;
  /** What it left behind, as a sentence, when the next attempt must not run next to that. */
  unclean?: string | undefined;
  /** What it and the processes that it waited for have used, as the kernel reported it. */
  usage?: { cpu: number; memory: number } | undefined;
};

const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Pure, except for the check of memory. */
export function failureOfExit(exit: ProcessExit, wasOutOfMemory: () => boolean): Failure {
  if (exit.error !== undefined) return { cause: 'process_exited', text: `it could not be started: ${exit.error}` };
  if (exit.signal === null) {
    return { cause: 'process_exited', text: exitText({ exitCode: exit.status ?? -1 }) };
  }
  const name = SIGNALS.get(exit.signal) ?? `signal ${exit.signal}`;
  if (exit.signal === constants.signals.SIGKILL && wasOutOfMemory()) {
    return { cause: 'out_of_memory', text: 'the task process was killed for want of memory' };
  }
  return { cause: 'process_killed', text: exitText({ signal: name }) };
}

/** Counters of processes that the kernel killed for lack of memory: of our control group, and of the machine. */
const COUNTERS = [
  { path: '/sys/fs/cgroup/memory.events', line: /^oom_kill (\d+)$/m },
  { path: '/proc/vmstat', line: /^oom_kill (\d+)$/m },
];

/** Returns a function that is true when the kernel has killed a process for lack of memory since the last call. */
export function createMemoryWatch(): () => boolean {
  let last = countKills();
  return () => {
    const now = countKills();
    const rose = now > last;
    last = now;
    return rose;
  };
}

function countKills(): number {
  return COUNTERS.reduce((sum, { path, line }) => {
    try {
      return sum + Number(line.exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
    } catch {
      return sum; // some systems lack it
    }
  }, 0);
}
