/** The files of the workspace that the editor may change: text inside the workspace, no links. */
import { lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { WorkspaceError, asWorkspaceError } from './errors.ts';
import { openDirectory } from './directory-handle.ts';
import type { DirectoryHandle } from './directory-handle.ts';
import { faultOfName, parsePath } from './path.ts';
import type { WorkspacePath } from './path.ts';
import { linkTo, readText, refuseChanged, replaceText } from './text-file.ts';
import type { TextFile, WrittenText } from './text-file.ts';

export type EntryKind = 'file' | 'folder' | 'link';
export type WorkspaceEntry = { path: string; kind: EntryKind };

export type WorkspaceFiles = {
  /** Lists folders before files, by name. `isComplete` is false if the list was cut at its limit. */
  list(): Promise<{ entries: WorkspaceEntry[]; isComplete: boolean }>;
  read(path: string): Promise<TextFile>;
  /**
   * `expected` is the tag of the content to replace, or null for a file that must not exist yet. Returns the new tag.
   */
  write(input: { path: string; content: string; expected: string | null }): Promise<WrittenText>;
  /** Renames a file or a folder to a name that is free. */
  rename(from: string, to: string): Promise<void>;
  /** Deletes a file that still has the tag `expected`, or an empty folder. */
  remove(path: string, expected: string | undefined): Promise<void>;
};

const MAX_ENTRIES = 5_000;
const MAX_LISTED_DEPTH = 20;
const BYTECODE = '__pycache__';

export function createWorkspaceFiles(root: string, { maxEntries = MAX_ENTRIES } = {}): WorkspaceFiles {
  // Changes run one at a time, so the content that was compared with the tag is still there when it is replaced.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };

  async function within<T>(
    { folder, text }: WorkspacePath,
    { create = false }: { create?: boolean },
    work: (directory: DirectoryHandle) => Promise<T>,
  ): Promise<T> {
    let directory: DirectoryHandle | undefined;
    try {
      directory = await openDirectory({ root, folder, create });
      return await work(directory);
    } catch (error) {
      throw asWorkspaceError(error, text);
    } finally {
      await directory?.close();
    }
  }

  return {
    async list() {
      const found: WorkspaceEntry[] = [];
      const isComplete = await listFolder({ root, folder: [], found, maxEntries });
      return { entries: found, isComplete };
    },
    async read(text) {
      const path = parsePath(text);
      return within(path, {}, (directory) => readText(directory, path.name, text));
    },
    async write({ path: text, content, expected }) {
      const path = parsePath(text);
      return inTurn(() =>
        within(path, { create: expected === null }, (directory) =>
          replaceText(directory, { name: path.name, path: text, content, expected }),
        ),
      );
    },
    async rename(fromText, toText) {
      const [from, to] = [parsePath(fromText), parsePath(toText)];
      if (`${toText}/`.startsWith(`${fromText}/`)) {
        throw new WorkspaceError('invalid_path', `${toText} is ${fromText} itself, or below it: choose another place`);
      }
      return inTurn(() =>
        within(from, {}, async (source) => {
          const kind = await kindOf(source, from);
          await within(to, { create: true }, (target) => move({ source, from, target, to, kind }));
        }),
      );
    },
    async remove(text, expected) {
      const path = parsePath(text);
      return inTurn(() =>
        within(path, {}, async (directory) => {
          const kind = await kindOf(directory, path);
          if (kind === 'folder') return removeEmpty({ root, path, parent: directory });
          if (expected === undefined) {
            throw new WorkspaceError('changed', `${text} is deleted only as it was seen: send its tag in If-Match`);
          }
          await refuseChanged(directory, { name: path.name, path: text, expected });
          await unlink(directory.at(path.name));
        }),
      );
    },
  };
}

/**
 * Lists depth first, and returns false if it stopped before the end. Unreadable entries are skipped; opening one says
 * why.
 */
async function listFolder(input: {
  root: string;
  folder: string[];
  found: WorkspaceEntry[];
  maxEntries: number;
}): Promise<boolean> {
  const { root, folder, found, maxEntries } = input;
  let directory: DirectoryHandle;
  try {
    directory = await openDirectory({ root, folder, create: false });
  } catch (error) {
    if (folder.length > 0) return true;
    throw asWorkspaceError(error, 'the workspace');
  }
  const entries = await readdir(directory.path, { withFileTypes: true })
    .catch(() => [])
    .finally(() => directory.close());
  const named = entries
    .map((entry) => ({ name: entry.name, kind: kindOfEntry(entry) }))
    .filter(({ name, kind }) => kind !== undefined && faultOfName(name) === undefined)
    .sort((a, b) => Number(b.kind === 'folder') - Number(a.kind === 'folder') || (a.name < b.name ? -1 : 1));
  for (const { name, kind = 'file' } of named) {
    if (found.length >= maxEntries) return false;
    const path = [...folder, name];
    found.push({ path: path.join('/'), kind });
    if (kind !== 'folder') continue;
    if (path.length >= MAX_LISTED_DEPTH || !(await listFolder({ ...input, folder: path }))) return false;
  }
  return true;
}

type KnownType = { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean };

function kindOfEntry(entry: KnownType): EntryKind | undefined {
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isFile() ? 'file' : undefined;
}

async function kindOf(directory: DirectoryHandle, { name, text }: WorkspacePath): Promise<'file' | 'folder'> {
  const kind = kindOfEntry(await lstat(directory.at(name)));
  if (kind === 'file' || kind === 'folder') return kind;
  throw new WorkspaceError(
    'not_a_file',
    `${text} is ${kind === 'link' ? 'a link' : 'no file, but a pipe or a device'}`,
  );
}

async function move(input: {
  source: DirectoryHandle;
  from: WorkspacePath;
  target: DirectoryHandle;
  to: WorkspacePath;
  kind: 'file' | 'folder';
}): Promise<void> {
  const [from, to] = [input.source.at(input.from.name), input.target.at(input.to.name)];
  if (input.kind === 'file') {
    await linkTo(from, to);
    // On file systems without hard links, linkTo has renamed the file, so it no longer exists.
    await unlink(from).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    return;
  }
  const isThere = await lstat(to).then(
    () => true,
    () => false,
  );
  if (isThere) throw new WorkspaceError('exists', `${input.to.text} exists already: choose another name`);
  await rename(from, to);
}

/** Deletes an empty folder. A folder that contains only bytecode counts as empty. */
async function removeEmpty(input: { root: string; path: WorkspacePath; parent: DirectoryHandle }): Promise<void> {
  const { root, path, parent } = input;
  const folder = [...path.folder, path.name];
  const directory = await openDirectory({ root, folder, create: false });
  try {
    const names = await readdir(directory.path);
    if (names.some((name) => name !== BYTECODE)) {
      throw new WorkspaceError('not_empty', `${path.text} is not empty: delete what is in it first`);
    }
    if (names.length > 0) await removeBytecode({ root, folder: [...folder, BYTECODE], parent: directory });
  } finally {
    await directory.close();
  }
  await rmdir(parent.at(path.name));
}

async function removeBytecode(input: { root: string; folder: string[]; parent: DirectoryHandle }): Promise<void> {
  const directory = await openDirectory({ root: input.root, folder: input.folder, create: false });
  try {
    for (const name of await readdir(directory.path)) if (name.endsWith('.pyc')) await unlink(directory.at(name));
  } finally {
    await directory.close();
  }
  await rmdir(input.parent.at(BYTECODE));
}
