/**
 * Task logs as files below one directory.
 *
 * The operating system holds every acknowledged append, so it survives any end of this process. An append is not
 * flushed to the disk. That would cost milliseconds per line and would protect only against a power cut.
 */
import { constants } from 'node:fs';
import { open, opendir, rm, rmdir, stat, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { explainDiskError } from './disk-errors.ts';
import { createFileCalls } from './file-calls.ts';
import type { FileCalls } from './file-calls.ts';
import { createOpenFiles } from './open-files.ts';
import { encodeName, isLogFile, isLogFileBefore, isOfTask, logKeySegments, segmentsBefore } from './log-key.ts';
import type { LogKey, LogScope } from './log-key.ts';
import type { Carrier } from '../redis/carrier.ts';
import { shareWatchers } from './shared-watchers.ts';
import type { LogStore } from './store.ts';
import { createWatchers } from './watchers.ts';

/** Small enough that work on one block does not block the event loop, and large enough that reads are cheap. */
const BLOCK_BYTES = 64 * 1024;
const MAX_OPEN_FILES = 128;
/**
 * Number of folder levels between the directory and the files: tenant, dag, run. Logs in the old layout have a level
 * for the task.
 */
const DEPTH = 3;

export type DiskLogOptions = {
  dir: string;
  prefix?: string;
  caseSensitive?: boolean;
  /** Notifies processes that share the directory. */
  carrier?: Carrier | undefined;
};

export function createDiskLogStore(options: DiskLogOptions): LogStore {
  const names = { caseSensitive: options.caseSensitive ?? !['darwin', 'win32'].includes(process.platform) };
  const prefix = (options.prefix ?? '').split('/').filter((part) => part !== '');
  const root = join(options.dir, ...prefix.map((part) => encodeName(part, { caseSensitive: true })));
  const calls = createFileCalls(options.dir);
  const files = createOpenFiles({ max: MAX_OPEN_FILES, calls });
  const watchers = options.carrier ? shareWatchers(createWatchers(), options.carrier) : createWatchers();
  /** Returns the path relative to the directory. Processes may reach the directory by different paths. */
  const placeOf = (logKey: LogKey) => [...prefix, ...logKeySegments(logKey, names)].join('/');
  const pathOf = (logKey: LogKey) => join(root, ...logKeySegments(logKey, names));
  const pathBefore = (logKey: LogKey) => join(root, ...segmentsBefore(logKey, names));
  /** True for a log that was started in the old layout, with a folder per task. Such a log continues there. */
  const isBefore = async (logKey: LogKey): Promise<boolean> =>
    (await sizeOf(pathOf(logKey))) === 0 && (await sizeOf(pathBefore(logKey))) > 0;
  const whereIs = async (logKey: LogKey): Promise<string> =>
    (await isBefore(logKey)) ? pathBefore(logKey) : pathOf(logKey);
  const explained = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw explainDiskError(error, root);
    });

  async function append(logKey: LogKey, offset: number, bytes: Uint8Array): Promise<{ length: number }> {
    if (!Number.isSafeInteger(offset) || offset < 0)
      throw new RangeError(`offset ${offset} is not a position in a log`);
    const appendTo = (path: string): Promise<number> =>
      files.use(path, async (file, size) => {
        if (offset > size) return size;
        const rest = bytes.subarray(Math.min(size - offset, bytes.length));
        await writeAll(calls, file, rest, size);
        return size + rest.length;
      });
    let length = await appendTo(pathOf(logKey));
    if (offset > 0 && length === 0 && (await isBefore(logKey))) length = await appendTo(pathBefore(logKey));
    watchers.notify(placeOf(logKey));
    return { length };
  }

  async function remove(scope: LogScope): Promise<void> {
    for (const path of await pathsOf(root, scope, names)) {
      await files.forget(path);
      await rm(path, { recursive: true, force: true });
      await removeEmptyFolders(dirname(path), root);
    }
  }

  return {
    append: (logKey, offset, bytes) => explained(append(logKey, offset, bytes)),
    // Creating a file usually takes microseconds. After many deletions, ext4 may need a millisecond.
    prepare: (logKey) => explained(files.use(pathOf(logKey), async () => {})),
    size: (logKey) => explained(whereIs(logKey).then(sizeOf)),
    async *read(logKey, { from = 0, to = Number.POSITIVE_INFINITY } = {}) {
      const file = await explained(whereIs(logKey).then(openToRead));
      if (!file) return;
      try {
        yield* blocksOf(file, from, to);
      } finally {
        await file.close();
      }
    },
    watch: (logKey) => watchers.watch(placeOf(logKey)),
    remove: (scope) => explained(remove(scope)),
    sweep: (input) => explained(sweepFolder(root, DEPTH, input)),
    close: () => files.close(),
  };
}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

async function openToRead(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function* blocksOf(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to;) {
    const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, to - at));
    const { bytesRead } = await file.read(block, 0, block.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield block.subarray(0, bytesRead);
  }
}

async function writeAll(calls: FileCalls, file: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await calls.write(file, bytes.subarray(done), position + done);
}

/** Returns the files and folders that contain a scope. */
async function pathsOf(root: string, scope: LogScope, names: { caseSensitive: boolean }): Promise<string[]> {
  const { tenantId, dagId, runId, taskId, mapIndex, tryNumber } = scope;
  const dag = join(root, encodeName(tenantId, names), encodeName(dagId, names));
  if (runId === undefined) return [dag];
  const run = join(dag, encodeName(runId, names));
  if (taskId === undefined) return [run];
  if (mapIndex !== undefined && tryNumber !== undefined) {
    const logKey = { tenantId, dagId, runId, taskId, mapIndex, tryNumber };
    return [logKeySegments, segmentsBefore].map((segments) => join(root, ...segments(logKey, names)));
  }
  const entries = (await entriesOf(run)).filter((entry) => isOfTask(entry, { taskId, mapIndex, tryNumber }, names));
  return entries.map(({ name, isFolder }) =>
    isFolder && tryNumber !== undefined ? join(run, name, `${tryNumber}.log`) : join(run, name),
  );
}

async function entriesOf(folder: string): Promise<{ name: string; isFolder: boolean }[]> {
  try {
    const entries: { name: string; isFolder: boolean }[] = [];
    for await (const entry of await opendir(folder)) entries.push({ name: entry.name, isFolder: entry.isDirectory() });
    return entries;
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Removes only entries at the place and with the name of a log, because the directory may contain other files. `depth`
 * -1 is the folder of a task.
 */
async function sweepFolder(
  folder: string,
  depth: number,
  input: { before: number; signal?: AbortSignal },
): Promise<{ removed: number }> {
  const isLog = depth === 0 ? isLogFile : isLogFileBefore;
  let removed = 0;
  for (const { name, isFolder } of await entriesOf(folder)) {
    if (input.signal?.aborted) return { removed };
    const path = join(folder, name);
    if (depth >= 0 && isFolder) {
      const below = await sweepFolder(path, depth - 1, input);
      removed += below.removed;
      if (below.removed > 0) await rmdir(path).catch(ignoreExpected);
    } else if (depth <= 0 && !isFolder && isLog(name) && (await lastWritten(path)) < input.before) {
      await unlink(path).catch(ignoreExpected);
      removed += 1;
    }
  }
  return { removed };
}

async function lastWritten(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return Number.POSITIVE_INFINITY; // another process removed it
    throw error;
  }
}

async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  for (let path = folder; path.startsWith(root) && path !== root; path = dirname(path)) {
    try {
      await rmdir(path);
    } catch (error) {
      return ignoreExpected(error);
    }
  }
}

/** Ignores errors for a folder that is not empty or no longer exists. */
function ignoreExpected(error: unknown): void {
  if (!isMissing(error) && !['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
}
