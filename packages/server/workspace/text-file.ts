/** Reads or replaces one whole text file in an open directory. */
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { FILE_LIMITS } from '@svc/spec/files/limits.ts';
import { WorkspaceError } from './errors.ts';
import type { DirectoryHandle } from './directory-handle.ts';

export const { bytes: MAX_FILE_BYTES } = FILE_LIMITS.editorFile;

export type TextFile = { content: string; etag: string };
/** `isWritten` is false if the file already had this content. */
export type WrittenText = { etag: string; isWritten: boolean };

// O_NONBLOCK, because opening a pipe would otherwise wait for a writer.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

export const etagOf = (bytes: Uint8Array): string =>
  `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;

export async function readText(folder: DirectoryHandle, name: string, path: string): Promise<TextFile> {
  const bytes = await withFile(folder, name, path, async (handle, size) => {
    if (size > MAX_FILE_BYTES) throw tooLarge(path, size);
    return handle.readFile();
  });
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(path, bytes.length); // the file grew after its size was checked
  return { content: decode(bytes, path), etag: etagOf(bytes) };
}

/**
 * Writes the new content to a draft file and renames it in one step. A reader sees either the old or the new content,
 * and a full disk leaves the old file intact. `expected` is the tag of the content to replace; null creates a file that
 * must not exist. Equal content is not written again, because a new modification time would recompile everything that
 * imports the file.
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
  // The draft is hidden, so the tree and the watcher of the workspace ignore it.
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
    await unlink(draft).catch(() => {}); // after a rename the draft no longer exists
  }
  return { etag, isWritten: true };
}

/** Throws unless the file still has the content that the caller has seen. */
export async function refuseChanged(
  folder: DirectoryHandle,
  input: { name: string; path: string; expected: string },
): Promise<void> {
  await modeOfUnchanged(folder, input);
}

/** Moves a file to a name without replacing an existing file, as a rename would. */
export async function linkTo(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error;
    // The file system has no hard links: check first, then rename.
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
    // The editor cannot open a file that is too large, so the caller has not seen it.
    if (size > MAX_FILE_BYTES || etagOf(await handle.readFile()) !== expected) {
      throw new WorkspaceError('changed', `${path} has changed since it was opened: load it again, or keep a copy`);
    }
    return { mode, uid, gid };
  });
}

/** A control plane that runs as root keeps the owner of a file. */
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
