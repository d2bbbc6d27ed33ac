/**
 * Keeps files open between appends, because opening one costs more than a short append. At most `max` idle files stay
 * open, and the least recently used ones are closed first. Work on one file runs sequentially.
 */
import { dirname, sep } from 'node:path';
import type { FileCalls } from './file-calls.ts';

export type OpenFiles = {
  /** `size` is the current size on disk, because another process may have written to the file. */
  use<T>(path: string, work: (file: number, size: number) => Promise<T>): Promise<T>;
  /** Closes the file, or all files below a folder. If a file is in use, its next use notices the removal. */
  forget(path: string): Promise<void>;
  close(): Promise<void>;
};

type Entry = { file: number | undefined; turn: Promise<unknown>; users: number };

const OPEN_ATTEMPTS = 5;

export function createOpenFiles({ max, calls }: { max: number; calls: FileCalls }): OpenFiles {
  /** In order of last use. */
  const entries = new Map<string, Entry>();

  async function use<T>(path: string, work: (file: number, size: number) => Promise<T>): Promise<T> {
    const entry = entries.get(path) ?? { file: undefined, turn: Promise.resolve(), users: 0 };
    entries.delete(path);
    entries.set(path, entry);
    entry.users += 1;
    const mine = entry.turn.then(async () => {
      const held = entry.file;
      entry.file = undefined; // if the file is closed and no other opens, its number may soon belong to another file
      const { file, size } = await reopened(calls, path, held);
      entry.file = file;
      return work(file, size);
    });
    entry.turn = mine.catch(() => {}); // the next work runs even if this one fails
    try {
      return await mine;
    } finally {
      entry.users -= 1;
      await closeSurplus();
    }
  }

  async function closeSurplus(): Promise<void> {
    if (entries.size <= max) return;
    const idle: [string, Entry][] = [];
    for (const entry of entries) {
      if (entry[1].users === 0) idle.push(entry);
      if (idle.length === entries.size - max) break; // this is usually the first entry
    }
    await closeEntries(idle);
  }

  async function closeEntries(idle: readonly [string, Entry][]): Promise<void> {
    for (const [path] of idle) entries.delete(path);
    await Promise.all(idle.map(([, { file }]) => file !== undefined && calls.close(file)));
  }

  return {
    use,
    forget: (path) =>
      closeEntries(
        [...entries].filter(([name, { users }]) => users === 0 && (name === path || name.startsWith(`${path}${sep}`))),
      ),
    async close() {
      await Promise.all([...entries.values()].map(({ turn }) => turn));
      await closeEntries([...entries]);
    },
  };
}

/** Opens the file again if it was removed. The open file would accept writes that nothing can ever read. */
async function reopened(
  calls: FileCalls,
  path: string,
  file: number | undefined,
): Promise<{ file: number; size: number }> {
  if (file !== undefined) {
    const { links, size } = await statOrClose(calls, file);
    if (links > 0) return { file, size };
    await calls.close(file);
  }
  const fresh = await openToAppend(calls, path);
  return { file: fresh, size: (await statOrClose(calls, fresh)).size };
}

async function statOrClose(calls: FileCalls, file: number): Promise<{ links: number; size: number }> {
  try {
    return await calls.stat(file);
  } catch (error) {
    await calls.close(file);
    throw error;
  }
}

async function openToAppend(calls: FileCalls, path: string): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await calls.open(path);
    } catch (error) {
      // The folder does not exist yet, or it was emptied and removed after its creation here.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === OPEN_ATTEMPTS) throw error;
      await calls.makeFolder(dirname(path));
    }
  }
}
