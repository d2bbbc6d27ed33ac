/** A folder on this host as the source of a bundle. Its version is the hash of its files. */
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { BundleJob } from '@svc/proto/bundle-job.ts';
import { RefusedVersion, makeFolder, workFolder } from './checkout.ts';
import { SourceError } from './git.ts';
import { runProgram } from './run-program.ts';

type Found = { path: string; info: Stats };
type State = { stamp: string; version: string };

/** Version control has no DAGs, and is most of a checkout. */
const SKIPPED = new Set(['.git', '.hg', '.svn']);

export type FolderVersion = { version: string; isCopied: boolean; links: string[] };

/** Copies the folder into the work folder unless nothing in it has changed. */
export async function readFolder(job: BundleJob): Promise<FolderVersion> {
  const source = job.folder === '' ? job.url : join(job.url, job.folder);
  if (!statSync(source, { throwIfNoEntry: false })?.isDirectory())
    throw new SourceError(`there is no folder ${source}`);
  const found = filesOf(source, job);
  const links = found.filter(({ info }) => info.isSymbolicLink()).map(({ path }) => path);
  const stamp = hashOf(found.map(({ path, info }) => `${path} ${info.size} ${info.mtimeMs} ${info.ino} ${info.mode}`));
  const stateFile = join(job.cache, 'folder.json');
  const before = readState(stateFile);
  const work = workFolder(job);
  if (before?.stamp === stamp && before.version === job.seen && existsSync(work))
    return { version: before.version, isCopied: false, links };
  await makeFolder(job, work);
  rmSync(work, { recursive: true, force: true });
  await makeFolder(job, work);
  await runProgram('cp', ['-a', '--no-preserve=ownership', `${source}/.`, work], userOf(job));
  for (const name of SKIPPED) rmSync(join(work, name), { recursive: true, force: true });
  const version = await contentHash(work, job);
  writeFileSync(stateFile, JSON.stringify({ stamp, version } satisfies State));
  return { version, isCopied: true, links };
}

const userOf = ({ taskUser }: BundleJob) => (taskUser ? { uid: taskUser.uid, gid: taskUser.gid } : undefined);

function readState(file: string): State | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as State;
  } catch {
    return undefined;
  }
}

function filesOf(root: string, { limits }: BundleJob): Found[] {
  const found: Found[] = [];
  let total = 0;
  const visit = (folder: string): void => {
    for (const name of readdirSync(folder).sort()) {
      if (folder === root && SKIPPED.has(name)) continue;
      const path = join(folder, name);
      const info = lstatSync(path, { throwIfNoEntry: false });
      if (!info) continue;
      if (info.isDirectory()) {
        visit(path);
        continue;
      }
      const shown = relative(root, path);
      if (!info.isFile() && !info.isSymbolicLink()) throw new RefusedVersion(shown, 'it is neither a file nor a link');
      found.push({ path: shown, info });
      total += info.size;
      if (info.size > limits.fileBytes)
        throw new RefusedVersion(shown, `the file is larger than ${limits.fileBytes} bytes (bundles.max_file_bytes)`);
      if (found.length > limits.files)
        throw new RefusedVersion('', `the folder has more than ${limits.files} files (bundles.max_files)`);
      if (total > limits.totalBytes)
        throw new RefusedVersion('', `its files have more than ${limits.totalBytes} bytes (bundles.max_bytes)`);
    }
  };
  visit(root);
  return found;
}

const hashOf = (lines: readonly string[]): string => createHash('sha256').update(lines.join('\n')).digest('hex');

async function contentHash(root: string, job: BundleJob): Promise<string> {
  const lines: string[] = [];
  for (const { path, info } of filesOf(root, job)) {
    const full = join(root, path);
    if (info.isSymbolicLink()) {
      lines.push(`link ${path} ${readlinkSync(full)}`);
      continue;
    }
    const hash = createHash('sha256');
    for await (const part of createReadStream(full)) hash.update(part as Buffer);
    lines.push(`file ${path} ${(info.mode & 0o111) === 0 ? '' : 'x'} ${hash.digest('hex')}`);
  }
  return hashOf(lines).slice(0, 40);
}
