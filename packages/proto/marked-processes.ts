/**
 * Finds the processes of a worker by a variable in their environment, which every process that a task starts inherits.
 * Only root can read the environments of Python servers and of the processes that they fork. These have the mark in
 * their arguments as well (`--mark`).
 *
 * Python processes end with the process that started them, because the kernel signals them. Programs that those had
 * started may remain. Nothing of a task may be running when its next try starts.
 */
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TaskUser } from './task-user.ts';

const run = promisify(execFile);

/** Set by the executor to the worker's id. */
export const WORKER_VARIABLE = 'SVC_WORKER';
/** Set by the worker for each Python server process. */
export const FORK_SERVER_VARIABLE = 'SVC_FORK_SERVER';

/**
 * Set by the control plane for each attempt. It is in the environment of processes that the task starts, not of its own
 * process.
 */
export const ATTEMPT_VARIABLE = 'SVC_ATTEMPT';

const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/**
 * Kills the marked processes. `user`: the user that may run them. Resolves when none is left, or with those that could
 * not be ended in time.
 */
export async function endMarkedProcesses(variable: string, value: string, user?: TaskUser): Promise<number[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const left = await markedProcesses(variable, value, user);
    if (left.length === 0 || Date.now() > deadline) return left;
    for (const pid of left) kill(pid);
    await sleep(PAUSE_MS);
  }
}

export async function markedProcesses(variable: string, value: string, user?: TaskUser): Promise<number[]> {
  const marker = Buffer.from(`${variable}=${value}\0`);
  const entries = await readdir('/proc').catch(() => []); // some systems lack it
  let areSomeHidden = false;
  const found = await Promise.all(
    entries
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(async (pid) => {
        const environment = await readFile(`/proc/${pid}/environ`).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EACCES' && error.code !== 'EPERM') return; // it is gone
          areSomeHidden = true;
          return readFile(`/proc/${pid}/cmdline`).catch(() => undefined);
        });
        return environment?.includes(marker) ? [Number(pid)] : [];
      }),
  );
  const hidden = user && areSomeHidden ? await markedOf(user, `${variable}=${value}`) : [];
  return [...new Set([...found.flat(), ...hidden])];
}

/**
 * Reads environments as that user, because root in a container may not read those of other users (it lacks
 * CAP_SYS_PTRACE there).
 */
async function markedOf({ uid, gid }: TaskUser, mark: string): Promise<number[]> {
  const script = 'exec grep -slzxF -- "$0" /proc/[0-9]*/environ';
  const { stdout } = await run('/bin/sh', ['-c', script, mark], { uid, gid, cwd: '/', env: {} }).catch(
    ({ stdout: found = '' }: { stdout?: string }) => ({ stdout: found }), // 1: none, 2: some could not be read
  );
  return stdout.split('\n').flatMap((path) => /^\/proc\/(\d+)\//.exec(path)?.slice(1).map(Number) ?? []);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended already
  }
}
