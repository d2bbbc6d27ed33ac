/**
 * Allows one lite per data directory. The lock is a file that names its holder:
 *
 *   free ──create──▶ held ──release──▶ free
 *                     └─holder dies──▶ stale ──removed by the next start──▶ free
 *
 * A process id alone proves nothing, because ids are reused (in a container svc has the same one after every restart).
 * The lock therefore also records when the holder started.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError, systemCode } from '../cli-error.ts';

type Holder = { readonly pid: number; readonly started: string; readonly url?: string };

export type Lock = {
  /** Records the URL of the holder, for the error message of a second start. */
  announce(url: string): void;
  release(): void;
};

/** Removing a stale lock takes a millisecond, so an older guard belongs to a process that died during the removal. */
const GUARD_LIFETIME_MS = 5_000;
const RETRY_MS = 20;

export async function acquireLock(file: string): Promise<Lock> {
  const self: Holder = { pid: process.pid, started: startOf(process.pid) };
  while (!create(file, self)) {
    const holder = holderOf(file);
    if (holder !== undefined) throw alreadyRunning(holder);
    removeStale(file);
    await sleep(RETRY_MS);
  }
  return {
    announce: (url) => renameSync(written(file, { ...self, url }), file),
    release: () => rmSync(file, { force: true }),
  };
}

/** Waits until the holder has released the lock. Use it for short work only. */
export async function waitForLock(file: string): Promise<Pick<Lock, 'release'>> {
  while (!create(file, { pid: process.pid, started: startOf(process.pid) })) {
    if (holderOf(file) === undefined) removeStale(file);
    await sleep(RETRY_MS);
  }
  return { release: () => rmSync(file, { force: true }) };
}

/** Returns the process that holds the data directory, or undefined. */
export function holderOf(file: string): Holder | undefined {
  const holder = readLock(file);
  return holder !== undefined && isAlive(holder) ? holder : undefined;
}

/**
 * A link appears with its whole content or not at all, so that no process reads half a lock and treats it as broken.
 */
function create(file: string, holder: Holder): boolean {
  const draft = written(file, holder);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function written(file: string, holder: Holder): string {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify(holder), { flag: 'wx', mode: 0o600 });
  return draft;
}

/** Returns undefined for a missing file, or one that a person has edited. */
function readLock(file: string): Holder | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    if (typeof value.pid !== 'number' || typeof value.started !== 'string') return undefined;
    return { pid: value.pid, started: value.started, ...(typeof value.url === 'string' && { url: value.url }) };
  } catch {
    return undefined;
  }
}

/**
 * Removes a stale lock under a guard and after a second check. If several processes find the same stale lock, none may
 * remove the new lock of another one.
 */
function removeStale(file: string): void {
  const guard = `${file}.takeover`;
  try {
    mkdirSync(guard);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    const { mtimeMs = Date.now() } = statSync(guard, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > GUARD_LIFETIME_MS) rmSync(guard, { recursive: true, force: true });
    return;
  }
  try {
    // In this order: a lock that is missing now may be there a moment later, and then it is a new one.
    if (existsSync(file) && holderOf(file) === undefined) rmSync(file, { force: true });
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

function isAlive(holder: Holder): boolean {
  if (holder.pid === process.pid) return holder.started === startOf(process.pid);
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (systemCode(error) !== 'EPERM') return false; // EPERM: alive, and owned by another user
  }
  const started = startOf(holder.pid);
  return started !== '' && started === holder.started;
}

/**
 * Returns when a process started, in a system-dependent format that is only compared with itself. It is empty for a
 * process that has ended, or that is a zombie. In a container, a zombie may stay forever.
 */
function startOf(pid: number): string {
  try {
    // The second field, the command, is in brackets and may contain spaces. The state and the start time (20th) follow
    // it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? '' : (rest[18] ?? '');
  } catch {
    // macOS has no /proc, or the process has ended
  }
  try {
    const ask = (field: string): string =>
      execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).trim();
    return ask('stat').startsWith('Z') ? '' : ask('lstart');
  } catch {
    return '';
  }
}

export function alreadyRunning(holder: Holder, hint?: string): CliError {
  const where = holder.url === undefined ? '' : ` at ${holder.url}`;
  return new CliError(`svc lite is already running on this data directory: process ${holder.pid}${where}`, {
    hint: hint ?? `stop it (kill ${holder.pid}), or start a second one beside it with --data-dir and --port`,
  });
}
