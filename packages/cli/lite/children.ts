/** Finds the child processes of this process, for a stop that cannot wait for an orderly one. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** Sends SIGTERM to every child. An agent passes it on to its tasks, and kills them if they ignore it. */
export function endChildren(): void {
  for (const pid of childrenOf(process.pid)) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // the child has already ended
    }
  }
}

function childrenOf(parent: number): number[] {
  try {
    return fromProc(parent);
  } catch {
    return fromPs(parent); // macOS has no /proc
  }
}

/** Reads /proc instead of calling `ps`, which small container images lack. */
function fromProc(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => parentOf(pid) === parent).map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined; // the process has already ended
  }
}

function fromPs(parent: number): number[] {
  try {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
    return pairs.flatMap(([pid, its]) => (pid !== undefined && its === parent ? [pid] : []));
  } catch {
    return [];
  }
}
