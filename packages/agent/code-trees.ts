/**
 * The files of runs on this machine, fetched from the control plane once and kept by their content.
 *
 *   files/<hash>     each file once, whatever trees it is in; `<hash>.x` if it is executable
 *   trees/<hash>     the files of a commit, as links to those; read-only
 *
 * Several agents may share the folder: a tree appears complete, by a rename. Trees that were not used for long are
 * removed, and then the files that no tree has.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { userCacheFolder } from '@svc/compiler/python-environment.ts';
import {
  MOST_PARTS_ASKED,
  PART_BYTES,
  isHash,
  manifestOf,
  manifestProblem,
  partsOf,
  sha256,
  splitRunTree,
} from '@svc/proto/code-archive.ts';
import type { TreeEntry } from '@svc/proto/code-archive.ts';
import { checkLinks } from './bundles/checkout.ts';
import { LoadFailure } from './fork-server.ts';

const inflated = promisify(inflate);

/** Asks the control plane in the name of an attempt of the run. Returns JSON. */
export type AskForTree = (method: 'read_tree' | 'read_files', params: object) => Promise<string>;

export type CodeTrees = {
  /** Returns the folder that the run's tasks import from. Rejects with a `LoadFailure` if it cannot be made. */
  get(runTree: string, ask: AskForTree): Promise<string>;
};

type Environment = Readonly<Record<string, string | undefined>>;
type FileEntry = Extract<TreeEntry, { file: string }>;

const UNUSED_MS = 7 * 24 * 60 * 60_000;
const READ_ONLY = 0o444;
const READ_ONLY_PROGRAM = 0o555;
const READ_ONLY_FOLDER = 0o555;

export function createCodeTrees(env: Environment): CodeTrees {
  const base = join(userCacheFolder(env), 'code');
  const [files, trees] = [join(base, 'files'), join(base, 'trees')];
  const making = new Map<string, Promise<string>>();
  let isSwept = false;

  async function make(hash: string, ask: AskForTree): Promise<string> {
    const target = join(trees, hash);
    if (existsSync(target)) {
      const now = new Date();
      utimesSync(target, now, now);
      return target;
    }
    for (const folder of [files, trees]) mkdirSync(folder, { recursive: true });
    // The user of tasks may be another one.
    for (const folder of [base, files, trees]) chmodSync(folder, 0o755);
    if (!isSwept) sweep(files, trees);
    isSwept = true;
    const entries = JSON.parse(await ask('read_tree', { tree: hash })) as TreeEntry[];
    const problem = sha256(manifestOf(entries)) === hash ? manifestProblem(entries) : 'it has another content';
    if (problem !== undefined) throw new LoadFailure(`the list of files of this run is refused: ${problem}`, '');
    await fetchFiles(hash, { entries, files, ask });
    placeTree(entries, { files, target });
    return target;
  }

  return {
    async get(runTree, ask) {
      const { hash, folder } = splitRunTree(runTree);
      if (!isHash(hash)) throw new LoadFailure('the job names no tree of files', '');
      const known = making.get(hash) ?? make(hash, ask);
      making.set(hash, known);
      try {
        return join(await known, folder);
      } catch (error) {
        if (error instanceof LoadFailure) throw error;
        throw new LoadFailure(`the files of this run could not be fetched: ${(error as Error).message}`, '');
      } finally {
        if (making.get(hash) === known) making.delete(hash);
      }
    },
  };
}

const nameOf = ({ file, executable }: FileEntry): string => (executable ? `${file}.x` : file);

const draftName = (): string => `.${process.pid}-${randomBytes(4).toString('hex')}`;

async function fetchFiles(
  tree: string,
  { entries, files, ask }: { entries: readonly TreeEntry[]; files: string; ask: AskForTree },
): Promise<void> {
  const wanted = new Map<string, FileEntry>();
  for (const entry of entries) {
    if ('file' in entry && !existsSync(join(files, nameOf(entry)))) wanted.set(nameOf(entry), entry);
  }
  const parts = [...wanted.values()].flatMap((entry) =>
    Array.from({ length: partsOf(entry.bytes) }, (_, part) => ({
      entry,
      part,
      isLast: part + 1 === partsOf(entry.bytes),
    })),
  );
  let received: Buffer[] = [];
  for (let at = 0; at < parts.length;) {
    const asked = parts.slice(at, at + MOST_PARTS_ASKED);
    const answer = await ask('read_files', { tree, parts: asked.map(({ entry, part }) => `${entry.file} ${part}`) });
    const texts = JSON.parse(answer) as string[];
    if (texts.length === 0) throw new Error('the control plane has sent nothing');
    for (const [index, text] of texts.entries()) {
      const one = asked[index];
      if (!one) throw new Error('the control plane has sent more than was asked for');
      received.push(await inflated(Buffer.from(text, 'base64'), { maxOutputLength: PART_BYTES }));
      if (!one.isLast) continue;
      keep(files, one.entry, received);
      received = [];
    }
    at += texts.length;
  }
}

function keep(files: string, entry: FileEntry, parts: readonly Buffer[]): void {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  if (hash.digest('hex') !== entry.file) throw new Error(`${entry.path} has another content than its hash says`);
  const draft = join(files, draftName());
  writeFileSync(draft, Buffer.concat(parts));
  chmodSync(draft, entry.executable ? READ_ONLY_PROGRAM : READ_ONLY);
  renameSync(draft, join(files, nameOf(entry)));
}

function placeTree(entries: readonly TreeEntry[], { files, target }: { files: string; target: string }): void {
  const draft = join(dirname(target), draftName());
  const folders = new Set<string>([draft]);
  mkdirSync(draft);
  try {
    for (const entry of entries) {
      const path = join(draft, entry.path);
      for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
      mkdirSync(dirname(path), { recursive: true });
      if ('link' in entry) symlinkSync(entry.link, path);
      else linkSync(join(files, nameOf(entry)), path);
    }
    checkLinks(draft, entries.flatMap((entry) => ('link' in entry ? [entry.path] : []))); // prettier-ignore
    for (const folder of folders) chmodSync(folder, READ_ONLY_FOLDER);
    renameSync(draft, target);
  } catch (error) {
    removeTree(draft);
    if (!existsSync(target)) throw error; // another agent was faster
  }
}

/** The folders of a tree are read-only. */
function removeTree(path: string): void {
  const open = (folder: string): void => {
    chmodSync(folder, 0o755);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) open(join(folder, entry.name));
    }
  };
  try {
    open(path);
    rmSync(path, { recursive: true, force: true });
  } catch {
    // another agent removes it, too
  }
}

function isOld(path: string): boolean {
  const info = statSync(path, { throwIfNoEntry: false });
  return info !== undefined && Date.now() - info.mtimeMs > UNUSED_MS;
}

function sweep(files: string, trees: string): void {
  for (const name of readdirSync(trees)) {
    if (isOld(join(trees, name))) removeTree(join(trees, name));
  }
  for (const name of readdirSync(files)) {
    const path = join(files, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.nlink === 1 && isOld(path)) rmSync(path, { force: true });
  }
}
