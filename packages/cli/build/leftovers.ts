// Names of temporary files that show whether their owner still runs:
//
//   <prefix><machine>-<pid>-<random>
//
// A killed process removes nothing. The next run therefore removes files of dead processes on this machine, and files
// older than a day. A process id says nothing about another machine (or container) that shares the directory, or about
// an id that is in use again. In these cases only the age counts.
import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

const DAY_MS = 86_400_000;

export function temporaryName(prefix: string): string {
  return `${prefix}${machine()}-${process.pid}-${randomBytes(6).toString('hex')}`;
}

/** Removes what crashed runs left in a directory under a prefix, and returns the removed names. */
export function removeLeftovers(directory: string, prefix: string, now: number = Date.now()): string[] {
  return readdirSync(directory).filter((name) => {
    const owner = name.startsWith(prefix) ? OWNER.exec(name.slice(prefix.length)) : null;
    if (owner === null) return false;
    const path = join(directory, name);
    const written = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
    // Another run has removed the file in the meantime.
    if (written === undefined) return false;
    const isDead = owner[1] === machine() && !isAlive(Number(owner[2]));
    if (!isDead && now - written < DAY_MS) return false;
    return isRemoved(path);
  });
}

/** In a shared directory, files of other users cannot be removed and stay. */
function isRemoved(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

const OWNER = /^([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{12}(?:\.[a-z]+)?$/;

const machine = (): string => createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
