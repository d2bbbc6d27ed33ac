/**
 * Files that are being appended to, kept open between calls: opening costs more than a short append. At most `max` stay
 * open while nobody works with them, the longest unused are closed first. Work on one file is done one after the other.
 */
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, sep } from 'node:path';

export type OpenFiles = {
  /** `size` is that of the file on disk right now: another process may have written to it. */
  use<T>(path: string, work: (file: FileHandle, size: number) => Promise<T>): Promise<T>;
  /** Lets go of the file, or of all below a folder; one in use is noticed as removed when it is used next. */
  forget(path: string): Promise<void>;
  close(): Promise<void>;
};

type Entry = { file: FileHandle | undefined; turn: Promise<unknown>; users: number };

const OPEN_ATTEMPTS = 5;

export function createOpenFiles({ max }: { max: number }): OpenFiles {
  /** In order of their last use. */
  const entries = new Map<string, Entry>();

  async function use<T>(path: string, work: (file: FileHandle, size: number) => Promise<T>): Promise<T> {
    const entry = entries.get(path) ?? { file: undefined, turn: Promise.resolve(), users: 0 };
    entries.delete(path);
    entries.set(path, entry);
    entry.users += 1;
    const mine = entry.turn.then(async () => {
      const { file, size } = await reopened(path, entry.file);
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
    const idle = [...entries].filter(([, { users }]) => users === 0).slice(0, entries.size - max);
    await closeEntries(idle);
  }

  async function closeEntries(idle: readonly [string, Entry][]): Promise<void> {
    for (const [path] of idle) entries.delete(path);
    await Promise.all(idle.map(([, { file }]) => file?.close()));
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
async function reopened(path: string, file: FileHandle | undefined): Promise<{ file: FileHandle; size: number }> {
  if (file) {
    const { nlink, size } = await file.stat();
    if (nlink > 0) return { file, size };
    await file.close();
  }
  const fresh = await openToAppend(path);
  return { file: fresh, size: (await fresh.stat()).size };
}

async function openToAppend(path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Not with O_APPEND: bytes belong at their offset, and a repeated write must land on itself.
      return await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    } catch (error) {
      // No folder yet; or it was emptied and removed between making it and opening the file in it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === OPEN_ATTEMPTS) throw error;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    }
  }
}
