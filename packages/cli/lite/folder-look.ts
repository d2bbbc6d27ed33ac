/**
 * What a folder holds, as far as a change of it could change a DAG: every file with its size and times. Two looks are compared to
 * find what a watcher has missed.
 *
 * Linked folders are followed as discovery follows them: after everything that is really there, each real folder once.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join, sep } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';

export type Look = {
  /** Fingerprints of files and folders, by path below the folder. */
  readonly entries: Map<string, string>;
  /** Real folders that have to be watched to see everything: the folder itself, and targets of links. */
  readonly roots: ReadonlyMap<string, Root>;
  /** Of processor time: on a busy machine a look takes longer, but costs no more. */
  readonly milliseconds: number;
};

export type Root = {
  /** Its path below the folder, as discovery calls it. */
  readonly below: string;
  readonly identity: string;
};

const FOLDER = 'folder ';

export const isFolder = (fingerprint: string | undefined): boolean => fingerprint?.startsWith(FOLDER) === true;

/** What tools write all the time and no DAG is made of; entering them would multiply what there is to watch. */
export const SKIPPED_FOLDERS: readonly string[] = ['__pycache__', 'node_modules', 'site-packages', 'venv'];
/** Hidden files that say something about DAGs. */
const TELLING = new Set(['.airflowignore', '.env']);

const isFolderRead = (name: string): boolean => !name.startsWith('.') && !SKIPPED_FOLDERS.includes(name);
/** Bytecode is none, nor what editors keep beside a file. */
const isFileRead = (name: string): boolean =>
  name.startsWith('.') ? TELLING.has(name) : !name.endsWith('.pyc') && !name.endsWith('~');

/** Whether a change at this path below the folder could change a DAG. */
export function isRelevant(path: string): boolean {
  const folders = path.split(sep);
  const name = folders.pop() ?? '';
  return folders.every(isFolderRead) && isFileRead(name) && !SKIPPED_FOLDERS.includes(name);
}

/** Entries between two pauses: some 2 ms. */
const SLICE = 400;
/** Two writes within one tick of the system's clock have the same time: a file as young as this may change once more unseen. */
const SETTLED_MS = 50;

/** All at once, so that nothing can change between this look and what the caller does next. Undefined: there is no such folder. */
export function lookAtOnce(folder: string): Look | undefined {
  const start = process.cpuUsage();
  const walking = walk(folder);
  let step = walking.next();
  while (!step.done) step = walking.next();
  return step.value && { ...step.value, milliseconds: spentSince(start) };
}

/** In slices, so that other work of this process need not wait. */
export async function look(folder: string): Promise<Look | undefined> {
  const walking = walk(folder);
  let milliseconds = 0;
  for (;;) {
    const start = process.cpuUsage();
    const step = walking.next();
    milliseconds += spentSince(start);
    if (step.done) return step.value && { ...step.value, milliseconds };
    await otherWork();
  }
}

function spentSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** Changes with every change of the file that the system tells. Undefined when there is nothing at the path. */
export function fingerprintOf(path: string): string | undefined {
  let info: Stats | undefined;
  try {
    info = statSync(path, { throwIfNoEntry: false });
  } catch {
    return 'unreadable'; // a link to itself, or a folder on the way that must not be entered
  }
  if (info === undefined) return undefined;
  if (info.isDirectory()) return FOLDER + identityIn(info);
  const print = `${info.size}:${info.mtimeMs}:${info.ctimeMs}:${info.ino}`;
  // Different from any later one: the next look counts it as changed, which is once too often at worst.
  return Date.now() - info.ctimeMs < SETTLED_MS ? `${print}:young` : print;
}

/** Of a folder, or of the one that a link leads to. Undefined: there is none. */
export function identityOf(folder: string): string | undefined {
  const found = fingerprintOf(folder);
  return isFolder(found) ? found : undefined;
}

/** Numbers of folders are used again at once, so the number alone says little. */
const identityIn = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`;

function* walk(folder: string): Generator<undefined, Omit<Look, 'milliseconds'> | undefined> {
  const entries = new Map<string, string>();
  const roots = new Map<string, Root>();
  const seen = new Set<string>();
  const links: string[] = [];
  let count = 0;

  function* visit(below: string): Generator<undefined> {
    const directory = join(folder, below);
    const identity = identityOf(directory);
    if (identity === undefined || seen.has(identity)) return;
    seen.add(identity);
    const found = namesIn(directory);
    entries.set(below, found ? identity : 'unreadable');
    if (!found) return;
    const prefix = below === '' ? '' : below + sep;
    for (const entry of found) {
      const { name } = entry;
      count += 1;
      if (count % SLICE === 0) yield undefined;
      if (entry.isDirectory()) {
        if (isFolderRead(name)) yield* visit(prefix + name);
      } else if (isFileRead(name)) {
        const print = fingerprintOf(directory + sep + name);
        if (!isFolder(print)) entries.set(prefix + name, print ?? 'leads nowhere');
        else if (isFolderRead(name)) links.push(prefix + name);
      }
    }
  }

  function* enter(below: string): Generator<undefined> {
    const real = realPathOf(join(folder, below));
    const identity = real === undefined ? undefined : identityOf(real);
    if (real === undefined || identity === undefined || seen.has(identity)) return;
    roots.set(real, { below, identity });
    yield* visit(below);
  }

  yield* enter('');
  if (roots.size === 0) return undefined;
  for (let link = links.shift(); link !== undefined; link = links.shift()) yield* enter(link);
  return { entries, roots };
}

function namesIn(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
