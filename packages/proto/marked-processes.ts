/**
 * Processes of a worker, known by a variable in their environment, which whatever a task starts inherits.
 *
 * Python processes end with the one that started them (the kernel tells them), but programs those had started may not; and
 * nothing of a task may be running any more when its next try starts.
 */
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Set by the executor, to the worker's id. */
export const WORKER_VARIABLE = 'SVC_WORKER';
/** Set by the worker, for each Python server process it starts. */
export const FORK_SERVER_VARIABLE = 'SVC_FORK_SERVER';

/** Set by the control plane, for each attempt; in the environment of what the task starts, not of its own process. */
export const ATTEMPT_VARIABLE = 'SVC_ATTEMPT';

const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/** Kills them. Resolves when none is left, or with those that could not be ended in time. */
export async function endMarkedProcesses(variable: string, value: string): Promise<number[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const left = await markedProcesses(variable, value);
    if (left.length === 0 || Date.now() > deadline) return left;
    for (const pid of left) kill(pid);
    await sleep(PAUSE_MS);
  }
}

export async function markedProcesses(variable: string, value: string): Promise<number[]> {
  const marker = Buffer.from(`${variable}=${value}\0`);
  const entries = await readdir('/proc').catch(() => []); // not on every system
  const found = await Promise.all(
    entries
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(async (pid) => {
        const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined); // gone, or somebody else's
        return environment?.includes(marker) ? [Number(pid)] : [];
      }),
  );
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it ended by itself
  }
}
