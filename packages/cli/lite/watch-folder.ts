/**
 * Reports changes in a folder and below it.
 *
 *   watching ──a new folder, a link, the folder replaced by another of its name──▶ watching again, and looking
 *      └─────────the system cannot watch──▶ only looking, logged once
 *
 * Events of the system arrive within a tenth of a second, but not all of them. Content of a new folder is not reported
 * until that folder is watched, queues overflow, and some file systems have no events. Therefore everything is also
 * looked at every few seconds, and after each event for a folder. The interval grows with the number of files (npm run
 * bench -- watch).
 */
import { dirname, join, relative } from 'node:path';
import { messageOf } from '../cli-error.ts';
import { SKIPPED_FOLDERS, fingerprintOf, identityOf, isFolder, isRelevant, look, lookAtOnce } from './folder-look.ts';
import type { Look } from './folder-look.ts';

/** How the system reports changes. The returned function releases the resources of the watch. */
export type Subscribe = (
  folder: string,
  onPaths: (error: Error | null, paths: readonly string[]) => void,
) => Promise<() => Promise<unknown>>;

/** At this interval, identities of folders are compared and looks may start. */
const PULSE_MS = 250;
const LOOK_EVERY_MS = 5_000;
/** The interval if only looks find changes. */
const ONLY_LOOKING_EVERY_MS = 2_000;
/**
 * A look that takes 1 ms waits this many ms: 0.125 % of a core. The rest of the 0.2 % is for the comparison and the
 * pulses.
 */
const PAUSE_PER_LOOK = 800;
/** If only looks find changes: 1 % of a core. */
const PAUSE_PER_ONLY_LOOK = 100;
/** While events report folders: 5 % of a core. */
const PAUSE_WHILE_TOLD = 20;

/** Number of consecutive tries if the system fails for a temporary reason. */
const MOST_TRIALS = 4;

const NOTHING_YET: Look = { entries: new Map(), roots: new Map(), milliseconds: 0 };

export function watchFolder(input: {
  folder: string;
  /** Receives the path of the file below the folder, if it is known. */
  onChange: (path?: string) => void;
  warn: (message: string) => void;
  subscribe?: Subscribe;
  lookEveryMs?: number;
}): { close(): Promise<void> } {
  const { folder, onChange, warn, subscribe = subscribeToSystem, lookEveryMs = LOOK_EVERY_MS } = input;
  // Looks synchronously, so that every change after this call is noticed.
  let known = lookAtOnce(folder) ?? NOTHING_YET;
  let identity = identityOf(folder);
  let watched: Look['roots'] = new Map();
  let stops: (() => Promise<unknown>)[] = [];
  /** True after the system has refused. A new folder is tried again. */
  let isRefused = false;
  let trials = 0;
  let isClosed = false;
  let lastLook = performance.now();
  let nextLook = lastLook;
  let turn: Promise<void> | undefined;

  const stop = async (): Promise<void> => {
    const ending = stops;
    stops = [];
    watched = new Map();
    await Promise.allSettled(ending.map((end) => end()));
  };

  async function refuse(error: unknown): Promise<void> {
    await stop();
    trials += 1;
    // A subfolder that disappears while the system reads it is not a refusal. The next look tries again.
    if (isRefused || isClosed || (trials < MOST_TRIALS && !hasNoRoom(error))) return;
    isRefused = true;
    warn(`changes in ${folder} are noticed late, by looking every few seconds: ${reasonOf(error)}`);
  }

  const lookSoon = (): void => {
    nextLook = Math.min(nextLook, lastLook + PAUSE_WHILE_TOLD * known.milliseconds);
  };

  function take(path: string): void {
    if (path !== '' && !isRelevant(path)) return;
    const print = fingerprintOf(join(folder, path));
    // Only a look knows the content of a folder.
    const above = dirname(path).replace(/^\.$/, '');
    if (isFolder(print) || isFolder(known.entries.get(path)) || !known.entries.has(above)) {
      lookSoon();
      if (print !== undefined) return;
    }
    if (print === undefined) known.entries.delete(path);
    else known.entries.set(path, print);
    onChange(path);
  }

  async function open(): Promise<void> {
    await stop();
    const { roots } = known;
    const begun = await Promise.allSettled(
      [...roots].map(([real, { below }]) =>
        subscribe(real, (error, paths) => {
          if (isClosed) return;
          if (error) void refuse(error);
          for (const path of paths) take(join(below, relative(real, path)).replace(/^\.$/, ''));
        }),
      ),
    );
    stops = begun.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    watched = roots;
    const failed = begun.find((result) => result.status === 'rejected');
    if (failed) await refuse(failed.reason);
    else trials = 0;
    // The next look finds what changed before the system was ready.
    nextLook = 0;
  }

  async function compare(): Promise<void> {
    const found = await look(folder);
    lastLook = performance.now();
    const [every, pause] = isRefused ? [ONLY_LOOKING_EVERY_MS, PAUSE_PER_ONLY_LOOK] : [lookEveryMs, PAUSE_PER_LOOK];
    nextLook = lastLook + Math.max(every, pause * (found?.milliseconds ?? 0));
    if (isClosed) return;
    const before = known;
    known = found ?? NOTHING_YET;
    const isReplaced = identity !== found?.entries.get('');
    identity = found?.entries.get('');
    if (isReplaced) {
      isRefused = false;
      trials = 0;
      onChange();
    }
    const hasNewFolder = isReplaced || (found !== undefined && tellDifferences(before, found));
    // The folder is gone. A pulse that finds a folder of its name continues.
    if (!found) return stop();
    if (!isRefused && (hasNewFolder || !isSame(watched, found.roots))) await open();
  }

  /** Returns true if there is a new folder. */
  function tellDifferences(before: Look, now: Look): boolean {
    let hasNewFolder = false;
    for (const [path, print] of now.entries) {
      if (before.entries.get(path) === print) continue;
      if (isFolder(print)) hasNewFolder = true;
      else onChange(path);
    }
    for (const [path, print] of before.entries) {
      if (!now.entries.has(path) && !isFolder(print)) onChange(path);
    }
    return hasNewFolder;
  }

  const pulse = (): void => {
    if (turn || isClosed) return;
    const isDue = performance.now() >= nextLook || identityOf(folder) !== identity;
    if (!isDue) return;
    turn = compare()
      .catch((error: unknown) => warn(`${folder} was not looked at: ${messageOf(error)}`))
      .finally(() => (turn = undefined));
  };
  turn = (known === NOTHING_YET ? Promise.resolve() : open()).finally(() => (turn = undefined));
  const pulsing = setInterval(pulse, PULSE_MS);
  return {
    async close() {
      isClosed = true;
      clearInterval(pulsing);
      await turn;
      await stop();
    },
  };
}

const isSame = (a: Look['roots'], b: Look['roots']): boolean =>
  a.size === b.size && [...a].every(([real, root]) => b.get(real)?.identity === root.identity);

const IGNORED = [`**/{${[...SKIPPED_FOLDERS, '.git', '.hg', '.svn', '.venv', '.tox', '.mypy_cache'].join(',')}}/**`];

/** This is native code, so only a process that watches loads it. If it is not installed, only looks find changes. */
async function subscribeToSystem(folder: string, onPaths: Parameters<Subscribe>[1]): ReturnType<Subscribe> {
  const { default: system } = await import('@parcel/watcher');
  const subscription = await system.subscribe(
    folder,
    (error, events) =>
      onPaths(
        error,
        (events ?? []).map(({ path }) => path),
      ),
    { ignore: IGNORED },
  );
  return () => subscription.unsubscribe();
}

const hasNoRoom = (error: unknown): boolean =>
  /No space left on device|Too many open files|ENOSPC|EMFILE/.test(messageOf(error));

/** The system reports missing space or too many open files. */
const reasonOf = (error: unknown): string =>
  hasNoRoom(error)
    ? 'the system lets us watch no more folders; raise it with "sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512" and start again'
    : messageOf(error);
