/**
 * Makes the files of a commit in the cache.
 *
 *   git/             the objects, without history
 *   work/<bundle>    the files that are compiled. The place stays the same, so that files which have not changed are
 *                    not compiled again
 *   trees/<commit>   the files of a deployment, from which tasks import. They share their content with each other
 *
 * The commit is checked before its files are made: sizes, numbers, links. A commit that is refused leaves nothing.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { BundleJob, BundleLimits } from '@svc/proto/bundle-job.ts';
import { missingFiles } from './fetch-commit.ts';
import type { Git } from './git.ts';
import { runProgram } from './run-program.ts';

/** The version must not be deployed. The message is for the author. */
export class RefusedVersion extends Error {
  readonly file: string;

  constructor(file: string, message: string) {
    super(message);
    this.file = file;
  }
}

type Entry = { mode: string; id: string; path: string };

const LINK = '120000';
const SUBMODULE = '160000';
/** Names with which a path would lead somewhere else. */
const NO_NAMES = new Set(['', '.', '..', '.git']);

/** Returns the names of submodules, whose files are left out. */
export async function checkCommit(
  git: Git,
  { version, folder, limits }: { version: string; folder: string; limits: BundleLimits },
): Promise<{ submodules: string[]; links: string[] }> {
  const entries = await entriesOf(git, version, folder);
  if (entries.length > limits.files) {
    throw new RefusedVersion(
      '',
      `the commit has ${entries.length} files, and the limit is ${limits.files} (bundles.max_files)`,
    );
  }
  const evil = entries.find(({ path }) => path.split('/').some((part) => NO_NAMES.has(part.toLowerCase())));
  if (evil) throw new RefusedVersion(evil.path, 'a commit must not have a path with this name');
  const files = entries.filter(({ mode }) => mode !== SUBMODULE);
  const missing = (await missingFiles(git, version)) ?? new Set<string>();
  const tooLarge = files.find(({ id }) => missing.has(id));
  if (tooLarge) throw fileTooLarge(tooLarge.path, limits);
  const sizes = await sizesOf(git, files);
  let total = 0;
  for (const { id, path } of files) {
    const size = sizes.get(id) ?? 0;
    if (size > limits.fileBytes) throw fileTooLarge(path, limits);
    total += size;
  }
  if (total > limits.totalBytes) {
    throw new RefusedVersion(
      '',
      `its files have ${total} bytes, and the limit is ${limits.totalBytes} (bundles.max_bytes)`,
    );
  }
  return {
    submodules: entries.filter(({ mode }) => mode === SUBMODULE).map(({ path }) => path),
    links: entries.filter(({ mode }) => mode === LINK).map(({ path }) => path),
  };
}

const fileTooLarge = (path: string, { fileBytes }: BundleLimits): RefusedVersion =>
  new RefusedVersion(
    path,
    `the file is larger than ${fileBytes} bytes (bundles.max_file_bytes): keep large data out of the repository`,
  );

async function entriesOf(git: Git, version: string, folder: string): Promise<Entry[]> {
  const tree = folder === '' ? version : `${version}:${folder}`;
  const text = await git.run(['ls-tree', '-r', '-z', '--full-tree', tree]).catch((error: unknown) => {
    if (folder === '') throw error;
    throw new RefusedVersion('', `the commit has no folder "${folder}"`);
  });
  return text.split('\0').flatMap((line) => {
    const [, mode, id, path] = /^(\d+) \w+ ([0-9a-f]+)\t([^]+)$/.exec(line) ?? [];
    return mode !== undefined && id !== undefined && path !== undefined ? [{ mode, id, path }] : [];
  });
}

async function sizesOf(git: Git, files: readonly Entry[]): Promise<Map<string, number>> {
  const input = files.map(({ id }) => id).join('\n');
  const text = await git.run(['cat-file', '--batch-check=%(objectname) %(objectsize)'], { input: `${input}\n` });
  return new Map(
    text.split('\n').flatMap((line) => {
      const [id = '', size = ''] = line.split(' ');
      return /^\d+$/.test(size) ? [[id, Number(size)] as const] : [];
    }),
  );
}

export const workFolder = ({ cache, name }: Pick<BundleJob, 'cache' | 'name'>): string => join(cache, 'work', name);
export const treeFolder = ({ cache, folder }: Pick<BundleJob, 'cache' | 'folder'>, version: string): string =>
  join(cache, 'trees', folder === '' ? version : `${version}-${folder.replaceAll('/', '+')}`);

/** Makes the files in the work folder exactly those of the commit. Only what differs is written. */
export async function checkOut(git: Git, job: BundleJob, version: string): Promise<string> {
  const work = workFolder(job);
  await makeFolder(job, work);
  const env = { GIT_WORK_TREE: work, GIT_INDEX_FILE: join(job.cache, 'index') };
  const tree = job.folder === '' ? version : `${version}:${job.folder}`;
  await git.run(['read-tree', '--reset', '-u', tree], { env });
  await git.run(['clean', '-ffdxq'], { env });
  return work;
}

export async function makeFolder({ taskUser, cache }: BundleJob, path: string): Promise<void> {
  mkdirSync(path, { recursive: true, mode: 0o750 });
  if (!taskUser) return;
  await runProgram('chown', [`${taskUser.uid}:${taskUser.gid}`, cache, dirname(path), path]);
}

/** Refuses links that lead out of the folder, directly or through another link, whether anything is there or not. */
export function checkLinks(root: string, links: readonly string[]): void {
  const real = realpathSync(root);
  for (const link of links) {
    const path = join(real, link);
    if (!isLink(path) || !leadsOut(path, real)) continue;
    throw new RefusedVersion(link, `the link leads out of the repository, to ${readlinkSync(path).slice(0, 200)}`);
  }
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** As many as the kernel follows. */
const MOST_LINKS = 40;

/** Follows the link step by step, as the kernel does. */
function leadsOut(link: string, root: string): boolean {
  let place = realpathSync(dirname(link));
  const parts = [basename(link)];
  for (let followed = 0; ;) {
    const part = parts.shift();
    if (part === undefined) return false;
    const next = part === '..' ? dirname(place) : join(place, part);
    if (isLink(next)) {
      const target = readlinkSync(next);
      followed += 1;
      if (target.startsWith('/') || followed > MOST_LINKS) return true;
      parts.unshift(...target.split('/').filter((name) => name !== '' && name !== '.'));
      continue;
    }
    place = next;
    if (!isBelow(place, root)) return true;
  }
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep);

/** Keeps the files of the work folder as those of this version. */
export async function keepTree(job: BundleJob, version: string): Promise<string> {
  const tree = treeFolder(job, version);
  if (existsSync(tree)) return tree;
  await makeFolder(job, dirname(tree));
  const unfinished = join(dirname(tree), `.${basename(tree)}-${process.pid}`);
  // Hard links: git replaces a file that has changed and does not write into it.
  await runProgram('cp', ['-al', workFolder(job), unfinished]);
  renameSync(unfinished, tree);
  return tree;
}

/** Removes the files of deployments that are not kept any more, and what a killed process has left. */
export function removeOldTrees({ cache, keep }: BundleJob, current: string): void {
  const folder = join(cache, 'trees');
  if (!existsSync(folder)) return;
  const kept = new Set([current, ...keep].map((path) => relative(folder, path)));
  for (const name of readdirSync(folder)) {
    if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}
