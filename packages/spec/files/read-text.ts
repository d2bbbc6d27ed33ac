/**
 * Opens a file that somebody else wrote, within the bounds of its kind (limits.ts): no more is read than its size allows, and
 * neither a pipe nor a device is opened for reading, which would wait or never end.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { channel } from 'node:diagnostics_channel';
import { FILE_LIMITS, FileLimitError, checkLines, tooLarge } from './limits.ts';
import type { FileKind } from './limits.ts';

const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/** Says which file is read now, so that a reader that was stopped can be blamed on a file. */
export const READING = channel('svc:files:reading');

/** Undefined when there is no such file, or it cannot be read. `shown` is the name in a message. */
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

/** Throws a FileLimitError for a file above its size, and the error of the system for one that cannot be read. */
export function readBytes(kind: FileKind, path: string, shown: string): Buffer {
  READING.publish({ path });
  const file = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    const info = fstatSync(file);
    if (info.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
    if (!info.isFile()) throw Object.assign(new Error('it is a pipe or a device'), { code: 'EINVAL' });
    const { bytes: limit } = FILE_LIMITS[kind];
    if (info.size > limit) throw tooLarge(kind, shown, info.size);
    // One more byte than the size shows whether the file grew since.
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
