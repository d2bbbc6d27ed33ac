/**
 * A handle on a directory of the workspace, opened step by step without following links, and kept open. On Linux, every
 * operation in it goes through its descriptor. If a folder on the path is replaced by a link between check and use, the
 * operation is not affected. Other systems check each step, so a program that can already write in the workspace could
 * use that moment.
 */
import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkspaceError } from './errors.ts';

export type DirectoryHandle = {
  /** The path of the directory itself. */
  readonly path: string;
  /**
   * Returns the path of an entry. It is valid until the handle is closed. Only the entry itself may still be a link.
   */
  at(name: string): string;
  close(): Promise<void>;
};

const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTORS = process.platform === 'linux' && existsSync(DESCRIPTORS);
// These flags are absent on Windows, where only lstat protects.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;

export async function openDirectory(input: {
  /** The root itself may be a link, because the operator configured it. */
  root: string;
  folder: readonly string[];
  /** Creates missing folders. */
  create: boolean;
}): Promise<DirectoryHandle> {
  const { root, folder, create } = input;
  let directory = await openStep(root, { followLink: true });
  for (const [index, name] of folder.entries()) {
    const next = directory.at(name);
    try {
      if (create) await mkdir(next).catch(ignoreExisting);
      await refuseLink(next, folder.slice(0, index + 1).join('/'));
      const inner = await openStep(next, { followLink: false });
      await directory.close();
      directory = inner;
    } catch (error) {
      await directory.close();
      throw error;
    }
  }
  return directory;
}

async function openStep(path: string, { followLink }: { followLink: boolean }): Promise<DirectoryHandle> {
  if (!HAS_DESCRIPTORS) return { path, at: (name) => join(path, name), close: async () => {} };
  const handle: FileHandle = await open(path, O_RDONLY | O_DIRECTORY | (followLink ? 0 : O_NOFOLLOW));
  const here = `${DESCRIPTORS}/${handle.fd}`;
  return { path: here, at: (name) => `${here}/${name}`, close: () => handle.close() };
}

/** Improves the message. Opening would refuse a link as well, but would say that it is not a folder. */
async function refuseLink(path: string, name: string): Promise<void> {
  const info = await lstat(path);
  if (info.isSymbolicLink()) {
    throw new WorkspaceError('not_a_file', `${name} is a link: the editor follows none. Open what it points to`);
  }
  if (!info.isDirectory()) throw new WorkspaceError('not_a_file', `${name} is not a folder`);
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
