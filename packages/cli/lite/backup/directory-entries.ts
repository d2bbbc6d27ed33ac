/** Files of a directory that others are writing to, as entries of an archive. */
import { open, readdir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../cli-error.ts';
import type { TarEntry } from './tar.ts';

const CHUNK_BYTES = 256 * 1024;

export type DirectoryOptions = {
  /** On disk. */
  readonly directory: string;
  /** In the archive. */
  readonly as: string;
  /** Paths below the directory; of a directory that is left out, nothing below it is looked at. */
  readonly isLeftOut?: (path: string) => boolean;
};

/** Directories before what is in them, everything in the order of names. What vanishes meanwhile is left out. */
export async function* directoryEntries(options: DirectoryOptions, below = ''): AsyncGenerator<TarEntry> {
  const { directory, as, isLeftOut = () => false } = options;
  yield { kind: 'directory', path: join(as, below) };
  const found = await readdir(join(directory, below), { withFileTypes: true }).catch(whenGone([]));
  for (const entry of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(below, entry.name);
    if (isLeftOut(path)) continue;
    if (entry.isDirectory()) yield* directoryEntries(options, path);
    else if (entry.isFile()) yield* fileEntry(join(directory, path), join(as, path));
  }
}

/** As long as it is when it is opened: what is added later is not wanted, what is cut off later is filled up with zeros. */
export async function* fileEntry(file: string, as: string): AsyncGenerator<TarEntry> {
  const handle = await open(file).catch(whenGone(undefined));
  if (!handle) return;
  try {
    const { size } = await handle.stat();
    yield { kind: 'file', path: as, size, content: exactly(handle, size) };
  } finally {
    await handle.close();
  }
}

async function* exactly(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < size;) {
    const wanted = Math.min(CHUNK_BYTES, size - position);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(wanted), 0, wanted, position);
    const chunk = bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
    position += chunk.length;
    yield chunk;
  }
}

function whenGone<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (systemCode(error) === 'ENOENT') return otherwise;
    throw error;
  };
}
