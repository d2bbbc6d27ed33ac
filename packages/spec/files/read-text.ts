/**
 * Reads a file that another person wrote, within the limits of its kind (limits.ts). It reads no more than the allowed
 * size. It refuses pipes and devices, because reading these might block or never end.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { channel } from 'node:diagnostics_channel';
import { FILE_LIMITS, FileLimitError, checkLines, tooLarge } from './limits.ts';
import type { FileKind } from './limits.ts';

const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/** Publishes the path of each file before it is read. If a reader is stopped, its caller knows which file to blame. */
export const READING = channel('svc:files:reading');

/** Returns undefined if the file does not exist or cannot be read. `shown` is its name in messages. */
export function textIfReadable(kind: FileKind, path: string, shown: string): string | undefined {
  try {
    return readTextFile(kind, path, shown);
  } catch (error) {
    if (error instanceof FileLimitError) throw error;
    return undefined;
  }
}

export function readTextFile(
  kind: FileKind,
  path: string,
  shown: string,
  encoding: 'utf8' | 'latin1' = 'utf8',
): string {
  const text = readBytes(kind, path, shown).toString(encoding);
  checkLines(kind, shown, text);
  return text;
}

/** Throws a FileLimitError for a file above its size limit, and the error of the system for an unreadable file. */
export function readBytes(kind: FileKind, path: string, shown: string): Buffer {
  READING.publish({ path });
  const file = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    const info = fstatSync(file);
    if (info.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
    if (!info.isFile()) throw Object.assign(new Error('it is a pipe or a device'), { code: 'EINVAL' });
    const { bytes: limit } = FILE_LIMITS[kind];
    if (info.size > limit) throw tooLarge(kind, shown, info.size);
    // The buffer is one byte longer than the size, which shows whether the file has grown since.
    const buffer = Buffer.allocUnsafe(info.size + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(file, buffer, length, buffer.length - length, null);
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
