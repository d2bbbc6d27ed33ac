/**
 * Files that are being appended to, kept open between calls: opening costs more than a short append. At most `max` stay
 * open while nobody works with them, the longest unused are closed first. Work on one file is done one after the other.
 */
import { dirname, sep } from 'node:path';
import type { FileCalls } from './file-calls.ts';

export type OpenFiles = {
  /** `size` is that of the file on disk right now: another process may have written to it. */
  use<T>(path: string, work: (file: number, size: number) => Promise<T>): Promise<T>;
  /** Lets go of the file, or of all below a folder; one in use is noticed as removed when it is used next. */
  forget(path: string): Promise<void>;
  close(): Promise<void>;
};

type Entry = { file: number | undefined; turn: Promise<unknown>; users: number };

const OPEN_ATTEMPTS = 5;

export function createOpenFiles({ max, calls }: { max: number; calls: FileCalls }): OpenFiles {
  /** In order of their last use. */
  const entries = new Map<string, Entry>();

  async function use<T>(path: string, work: (file: number, size: number) => Promise<T>): Promise<T> {
    const entry = entries.get(path) ?? { file: undefined, turn: Promise.resolve(), users: 0 };
    entries.delete(path);
    entries.set(path, entry);
    entry.users += 1;
    const mine = entry.turn.then(async () => {
      const held = entry.file;
      entry.file = undefined; // should it be closed now and no other opened: its number may be another file's by then
      const { file, size } = await reopened(calls, path, held);
      entry.file = file;
      return work(file, size);
    });
    entry.turn = mine.catch(() => {}); // the next one's turn comes all the same
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
      if (idle.length === entries.size - max) break; // most often the first one
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

/** A file that was removed meanwhile, by retention or by hand, still takes writes that nobody would ever see. */
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
      // No folder yet; or it was emptied and removed between making it and opening the file in it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === OPEN_ATTEMPTS) throw error;
      await calls.makeFolder(dirname(path));
    }
  }
}
