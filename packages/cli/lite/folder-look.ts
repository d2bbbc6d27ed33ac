/**
 * A snapshot of a folder: every file that could affect a DAG, with its size and times. Comparing two snapshots finds
 * changes that a watcher has missed.
 *
 * Linked folders are followed as in discovery: after everything that is really in the folder, and each real folder
 * once.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join, sep } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';

export type Look = {
  /** Fingerprints of files and folders, by path below the folder. */
  readonly entries: Map<string, string>;
  /** Real folders that must be watched to see everything: the folder itself and targets of links. */
  readonly roots: ReadonlyMap<string, Root>;
  /** Processor time, because on a busy machine a look takes longer but costs no more. */
  readonly milliseconds: number;
};

export type Root = {
  /** The path below the folder that discovery uses. */
  readonly below: string;
  readonly identity: string;
};

const FOLDER = 'folder ';

export const isFolder = (fingerprint: string | undefined): boolean => fingerprint?.startsWith(FOLDER) === true;

/** Folders that tools write often and that contain no DAGs. Entering them would multiply what must be watched. */
export const SKIPPED_FOLDERS: readonly string[] = ['__pycache__', 'node_modules', 'site-packages', 'venv'];
/** Hidden files that affect DAGs. */
const TELLING = new Set(['.airflowignore', '.env']);

const isFolderRead = (name: string): boolean => !name.startsWith('.') && !SKIPPED_FOLDERS.includes(name);
/** Excludes bytecode and backup files of editors. */
const isFileRead = (name: string): boolean =>
  name.startsWith('.') ? TELLING.has(name) : !name.endsWith('.pyc') && !name.endsWith('~');

/** True if a change at this path below the folder could affect a DAG. */
export function isRelevant(path: string): boolean {
  const folders = path.split(sep);
  const name = folders.pop() ?? '';
  return folders.every(isFolderRead) && isFileRead(name) && !SKIPPED_FOLDERS.includes(name);
}

/** Number of entries between two pauses. */
const SLICE = 400;
/**
 * Two writes within one tick of the system's clock have the same time. A file this young may change again without a
 * visible difference.
 */
const SETTLED_MS = 50;

/**
 * Looks at everything in one turn, so that nothing can change before the caller continues. Returns undefined if the
 * folder does not exist.
 */
export function lookAtOnce(folder: string): Look | undefined {
  const start = process.cpuUsage();
  const walking = walk(folder);
  let step = walking.next();
  while (!step.done) step = walking.next();
  return step.value && { ...step.value, milliseconds: spentSince(start) };
}

/** Looks in slices, so that other work of this process runs between them. */
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

/** Changes with every change of the file that the system reports. Undefined if nothing exists at the path. */
export function fingerprintOf(path: string): string | undefined {
  let info: Stats | undefined;
  try {
    info = statSync(path, { throwIfNoEntry: false });
  } catch {
    return 'unreadable'; // a link to itself, or a folder in the path that cannot be entered
  }
  if (info === undefined) return undefined;
  if (info.isDirectory()) return FOLDER + identityIn(info);
  const print = `${info.size}:${info.mtimeMs}:${info.ctimeMs}:${info.ino}`;
  // This fingerprint differs from any later one, so the next look counts the file as changed, at worst once too often.
  return Date.now() - info.ctimeMs < SETTLED_MS ? `${print}:young` : print;
}

/** Returns the identity of a folder, or of the target of a link. Undefined if there is none. */
export function identityOf(folder: string): string | undefined {
  const found = fingerprintOf(folder);
  return isFolder(found) ? found : undefined;
}

/** The system reuses inode numbers at once, so the number alone is not enough. */
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
