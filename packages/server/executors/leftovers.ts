/**
 * Ends what a dead worker left running. Its Python processes end with it (the kernel tells them), but programs those had
 * started may not; and a task must not be running any more when its next try starts.
 *
 * Processes are known by a variable in their environment, which whatever a task starts inherits.
 */
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export const WORKER_VARIABLE = 'SVC_WORKER';

const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/** Resolves when none is left, or with what could not be ended in time. */
export async function endLeftovers(workerId: string): Promise<number[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const left = await processesOf(workerId);
    if (left.length === 0 || Date.now() > deadline) return left;
    for (const pid of left) kill(pid);
    await sleep(PAUSE_MS);
  }
}

async function processesOf(workerId: string): Promise<number[]> {
  const marker = Buffer.from(`${WORKER_VARIABLE}=${workerId}\0`);
  const entries = await readdir('/proc').catch(() => []); // not on every system
  const found = await Promise.all(
    entries
      .filter((name) => /^\d+$/.test(name))
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
