/** Files of a directory that other processes write to, as entries of an archive. */
import { open, readdir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../cli-error.ts';
import type { TarEntry } from './tar.ts';

const CHUNK_BYTES = 256 * 1024;

export type DirectoryOptions = {
  /** The path on disk. */
  readonly directory: string;
  /** The path in the archive. */
  readonly as: string;
  /** Tests paths below the directory. The content of an omitted directory is skipped as well. */
  readonly isLeftOut?: (path: string) => boolean;
};

/** Yields a directory before its content, in the order of names. Files that disappear during the walk are omitted. */
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

/**
 * Yields a file with its size at the time of opening. Bytes added later are ignored, and removed bytes are replaced by
 * zeros.
 */
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
