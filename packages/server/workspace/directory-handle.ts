/**
 * A handle on a directory of the workspace, reached step by step without following any link, and kept open. On Linux everything that is
 * then done in it goes through its descriptor: whoever swaps a folder on the way for a link, between the look and the
 * deed, changes nothing. Elsewhere each step is looked at, which leaves that moment open to somebody who can already
 * write in the workspace.
 */
import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkspaceError } from './errors.ts';

export type DirectoryHandle = {
  /** Itself. */
  readonly path: string;
  /** The path of something in it, good until it is closed. Only the last step of it may still be a link. */
  at(name: string): string;
  close(): Promise<void>;
};

const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTORS = process.platform === 'linux' && existsSync(DESCRIPTORS);
// Absent on Windows, where lstat alone has to do.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;

export async function openDirectory(input: {
  /** Itself may be a link: whoever configured it meant what it points to. */
  root: string;
  folder: readonly string[];
  /** Makes what is missing. */
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

/** Only for the message: opening would refuse a link as well, but call it "no folder". */
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
