/** The processes this one has started, for a stop that cannot wait until each of them is asked by whoever started it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** SIGTERM to every child: an agent passes it on to its tasks, and ends them when they do not listen. */
export function endChildren(): void {
  for (const pid of childrenOf(process.pid)) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // gone meanwhile
    }
  }
}

function childrenOf(parent: number): number[] {
  try {
    return fromProc(parent);
  } catch {
    return fromPs(parent); // no /proc: macOS
  }
}

/** Not `ps`, which small container images do not have. */
function fromProc(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => parentOf(pid) === parent).map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined; // gone meanwhile
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
