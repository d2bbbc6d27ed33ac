/**
 * One lite per data directory. The lock is a file that names its holder:
 *
 *   free ──create──▶ held ──release──▶ free
 *                     └─holder dies──▶ stale ──removed by the next start──▶ free
 *
 * A pid alone proves nothing, since pids are used again (in a container svc is the same one after every restart): the
 * lock also records when the holder started.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError, systemCode } from '../cli-error.ts';

type Holder = { readonly pid: number; readonly started: string; readonly url?: string };

export type Lock = {
  /** Where the holder can be reached, for the message of whoever comes second. */
  announce(url: string): void;
  release(): void;
};

/** Removing a stale lock takes a millisecond: a guard this old was left by a process that died in that one. */
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

/** For what takes a moment: waits until the holder has released it. */
export async function waitForLock(file: string): Promise<Pick<Lock, 'release'>> {
  while (!create(file, { pid: process.pid, started: startOf(process.pid) })) {
    if (holderOf(file) === undefined) removeStale(file);
    await sleep(RETRY_MS);
  }
  return { release: () => rmSync(file, { force: true }) };
}

/** The process that holds the data directory right now, if one does. */
export function holderOf(file: string): Holder | undefined {
  const holder = readLock(file);
  return holder !== undefined && isAlive(holder) ? holder : undefined;
}

/** A link appears with its whole content or not at all: nobody reads half a lock and takes it for a broken one. */
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

/** Undefined for a file that is gone, or that a person has edited. */
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
 * Under a guard of its own and after a second look: of several processes that find the same stale lock, none may remove
 * the fresh one that another has just put in its place.
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
    if (holderOf(file) === undefined) rmSync(file, { force: true });
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

function isAlive(holder: Holder): boolean {
  if (holder.pid === process.pid) return holder.started === startOf(process.pid);
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (systemCode(error) !== 'EPERM') return false; // EPERM: alive, and somebody else's
  }
  const started = startOf(holder.pid);
  return started !== '' && started === holder.started;
}

/**
 * When a process began, in whatever notation the system has: only compared with itself. Empty for one that is gone, or dead
 * and only not yet collected by its parent, which in a container may never happen.
 */
function startOf(pid: number): string {
  try {
    // The command, second, is in brackets and may contain spaces; after it the state, and as the 20th the start time.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? '' : (rest[18] ?? '');
  } catch {
    // no /proc: macOS, or the process is gone
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
