/** One text file in an open directory: read whole, or replaced whole. */
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { FILE_LIMITS } from '@svc/spec/files/limits.ts';
import { WorkspaceError } from './errors.ts';
import type { DirectoryHandle } from './directory-handle.ts';

export const { bytes: MAX_FILE_BYTES } = FILE_LIMITS.editorFile;

export type TextFile = { content: string; etag: string };
/** `isWritten` is false where the file had this content before. */
export type WrittenText = { etag: string; isWritten: boolean };

// Not blocking: opening a pipe would wait for somebody to write to it.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

export const etagOf = (bytes: Uint8Array): string =>
  `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;

export async function readText(folder: DirectoryHandle, name: string, path: string): Promise<TextFile> {
  const bytes = await withFile(folder, name, path, async (handle, size) => {
    if (size > MAX_FILE_BYTES) throw tooLarge(path, size);
    return handle.readFile();
  });
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(path, bytes.length); // it grew meanwhile
  return { content: decode(bytes, path), etag: etagOf(bytes) };
}

/**
 * The new content in a file of its own beside it, then in one step to its name: a reader sees the old or the new one, and
 * a full disk leaves the old one alone. `expected` is the tag of what is to be replaced; null makes a file where none is.
 * Content that is there already is not written again: a new time of change would have everything compiled that imports it.
 */
export async function replaceText(
  folder: DirectoryHandle,
  input: { name: string; path: string; content: string; expected: string | null },
): Promise<WrittenText> {
  const { name, path, content, expected } = input;
  const bytes = encode(content, path);
  const mode = expected === null ? undefined : await modeOfUnchanged(folder, { name, path, expected });
  const etag = etagOf(bytes);
  if (etag === expected) return { etag, isWritten: false };
  // Hidden, so that neither the tree nor whoever watches the workspace sees it.
  const draft = folder.at(`.svc-${randomBytes(9).toString('hex')}.tmp`);
  const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
  try {
    try {
      await handle.writeFile(bytes);
      if (mode !== undefined) await keepOwner(handle, mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (expected === null) await linkTo(draft, folder.at(name));
    else await rename(draft, folder.at(name));
  } finally {
    await unlink(draft).catch(() => {}); // after a rename there is none
  }
  return { etag, isWritten: true };
}

/** Throws unless it is the file that the caller has seen. */
export async function refuseChanged(
  folder: DirectoryHandle,
  input: { name: string; path: string; expected: string },
): Promise<void> {
  await modeOfUnchanged(folder, input);
}

/** Never over something that is there already, which a rename would do. */
export async function linkTo(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error;
    // A file system without hard links: look, then rename.
    const isThere = await lstat(to).then(
      () => true,
      () => false,
    );
    if (isThere) throw Object.assign(new Error('exists'), { code: 'EEXIST' });
    await rename(from, to);
  }
}

type Attributes = { mode: number; uid: number; gid: number };

async function modeOfUnchanged(
  folder: DirectoryHandle,
  { name, path, expected }: { name: string; path: string; expected: string },
): Promise<Attributes> {
  return withFile(folder, name, path, async (handle) => {
    const { mode, uid, gid, size } = await handle.stat();
    // What is too large to be opened was not seen by anybody either.
    if (size > MAX_FILE_BYTES || etagOf(await handle.readFile()) !== expected) {
      throw new WorkspaceError('changed', `${path} has changed since it was opened: load it again, or keep a copy`);
    }
    return { mode, uid, gid };
  });
}

/** A control plane that runs as root must not take files away from their owner. */
async function keepOwner(handle: FileHandle, { mode, uid, gid }: Attributes): Promise<void> {
  await handle.chmod(mode & 0o777);
  if (process.getuid?.() === 0) await handle.chown(uid, gid);
}

async function withFile<T>(
  folder: DirectoryHandle,
  name: string,
  path: string,
  work: (handle: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  const handle = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const info = await handle.stat();
    if (info.isDirectory()) throw new WorkspaceError('not_a_file', `${path} is a folder`);
    if (!info.isFile()) throw new WorkspaceError('not_a_file', `${path} is no file, but a pipe or a device`);
    return await work(handle, info.size);
  } finally {
    await handle.close();
  }
}

function decode(bytes: Uint8Array, path: string): string {
  const refuse = (): never => {
    throw new WorkspaceError('not_text', `${path} is not text in UTF-8: the editor opens nothing else`);
  };
  if (bytes.includes(0)) refuse();
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse();
  }
}

function encode(content: string, path: string): Uint8Array {
  if (content.includes('\0') || !content.isWellFormed()) {
    throw new WorkspaceError('not_text', `${path} would not be text: it has a character U+0000, or half a character`);
  }
  const bytes = Buffer.from(content);
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(path, bytes.length);
  return bytes;
}

const tooLarge = (path: string, size: number): WorkspaceError =>
  new WorkspaceError(
    'too_large',
    `${path} has ${(size / MAX_FILE_BYTES).toFixed(1)} MiB: the editor takes files up to 1 MiB`,
  );
