/**
 * `svc lite restore`: turns an archive into a data directory.
 *
 *   archive ──▶ directory next to the target ──▶ checked with the manifest ──▶ old data set aside ──▶ renamed
 *
 * Existing data stays untouched until the archive is unpacked and verified.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, chown, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { execFileSync } from 'node:child_process';
import { clusterOwner, runnableBinaries } from '@svc/local-postgres/cluster-binaries.ts';
import type { ClusterOwner } from '@svc/local-postgres/cluster-binaries.ts';
import { stopLeftover } from '@svc/local-postgres/cluster-leftover.ts';
import { CliError, EXIT, messageOf, systemCode } from '../../cli-error.ts';
import { printJson } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import { dataDirectoryAt, refuseForeign, refuseUnreachable, unusable } from '../data-directory.ts';
import type { DataDirectory } from '../data-directory.ts';
import { acquireLock, alreadyRunning, holderOf } from '../lock.ts';
import { MANIFEST, firstDifference, readManifest, summed } from './manifest.ts';
import type { FileSum, Manifest } from './manifest.ts';
import { TarError, readTar } from './tar.ts';
import type { TarEntry } from './tar.ts';

export type RestoreOptions = {
  dataDirectory: string;
  isDefaultDirectory: boolean;
  file: string;
  force?: true;
  json?: true;
};

/** Everything that one of our archives may contain. */
const PLACES = /^(postgres|secrets|logs)(\/|$)|^postgres\.password$|^manifest\.json$/;
/** A name within a path. Control characters would change what a terminal shows. */
const NAME = /^(?!\.{1,2}$)[^\p{Cc}]{1,255}$/u;
/** A manifest has some 150 bytes for each file. */
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;
/** What the file system says of names that cannot be in one archive together, or not on this file system. */
const IMPOSSIBLE_NAMES = new Set(['ENOTDIR', 'EEXIST', 'EISDIR', 'ENAMETOOLONG', 'EILSEQ', 'EINVAL']);
const STOP_LEFTOVER_MS = 30_000;

export async function restoreLite(context: CliContext, options: RestoreOptions): Promise<void> {
  const directory = dataDirectoryAt(options.dataDirectory);
  const isRoot = process.getuid?.() === 0;
  await refuseForeign(directory);
  if (isRoot) await refuseUnreachable(directory.path);
  const isTaken = await hasContent(directory.path);
  if (isTaken) await refuseTaken(directory, options.force === true);
  const draft = `${directory.path}.${randomBytes(6).toString('hex')}.restoring`;
  let manifest: Manifest;
  let aside: string | undefined;
  try {
    await makeDirectory(draft, directory.path);
    manifest = await unpack(options.file, draft);
    const owner = await clusterOwner();
    await refuseOtherPostgres(manifest, owner);
    if (owner) await giveTo(owner, join(draft, 'postgres'));
    if (isRoot) await chmod(draft, 0o711); // Postgres runs as another user and must be able to enter
    aside = isTaken ? await setAside(directory) : undefined;
    await rename(draft, directory.path);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  report(context, { options, directory, manifest, aside });
}

const hasContent = async (path: string): Promise<boolean> => (await readdir(path).catch(() => [])).length > 0;

async function refuseTaken(directory: DataDirectory, mayReplace: boolean): Promise<void> {
  const holder = holderOf(directory.lock);
  if (holder) throw alreadyRunning(holder, `stop it first (kill ${holder.pid}), then restore`);
  if (!(await stat(directory.secrets).catch(() => undefined))) {
    throw new CliError(`${directory.path} is not empty, and what is in it is no installation of lite`, {
      hint: 'choose another place with --data-dir',
    });
  }
  if (mayReplace) return;
  throw new CliError(`there is an installation in ${directory.path} already`, {
    hint: 'choose another place with --data-dir, or replace it with --force, which keeps the old one beside it',
  });
}

async function makeDirectory(draft: string, wanted: string): Promise<void> {
  try {
    await mkdir(dirname(draft), { recursive: true });
    await mkdir(draft, { mode: 0o700 });
  } catch (error) {
    throw unusable(wanted, error);
  }
}

/** Unpacks the archive into `draft` and checks it against the manifest. */
async function unpack(file: string, draft: string): Promise<Manifest> {
  const sums = new Map<string, FileSum>();
  const refuse = (why: string, cause?: unknown): CliError =>
    new CliError(`${file} is not a whole backup of svc lite: ${why}`, {
      cause,
      hint: 'use another copy of it; nothing has been changed here',
    });
  try {
    await pipeline(createReadStream(file), createGunzip(), async (source: AsyncIterable<Buffer>) => {
      for await (const entry of readTar(source)) await unpackEntry(entry, draft, sums);
    });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (error instanceof TarError || code.startsWith('Z_')) throw refuse(messageOf(error), error);
    if ((error as NodeJS.ErrnoException).path === file) {
      throw new CliError(`${file} cannot be read: ${messageOf(error)}`, {
        exitCode: systemCode(error) === 'ENOENT' ? EXIT.notFound : EXIT.failed,
        cause: error,
        hint: 'name a file that "svc lite backup" has written',
      });
    }
    if (systemCode(error) !== undefined) throw unusable(dirname(draft), error);
    throw error;
  }
  const text = await readFile(join(draft, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) throw refuse('it has no manifest');
  const manifest = readManifest(text);
  if (!manifest) throw refuse('its manifest was written by another version, or by something else');
  sums.delete(MANIFEST);
  const difference = firstDifference(manifest, sums);
  if (difference !== undefined) throw refuse(difference);
  await rm(join(draft, MANIFEST));
  return manifest;
}

async function unpackEntry(entry: TarEntry, draft: string, sums: Map<string, FileSum>): Promise<void> {
  const isOurs = PLACES.test(entry.path) && entry.path.split('/').every((name) => NAME.test(name));
  if (!isOurs || sums.has(entry.path))
    throw new TarError(`${JSON.stringify(entry.path.slice(0, 200))} has no place in a backup`);
  if (entry.path === MANIFEST && entry.kind === 'file' && entry.size > MAX_MANIFEST_BYTES)
    throw new TarError('its manifest is too large');
  try {
    await writeEntry(entry, draft, sums);
  } catch (error) {
    if (!IMPOSSIBLE_NAMES.has(systemCode(error) ?? '')) throw error;
    throw new TarError(
      `${JSON.stringify(entry.path.slice(0, 200))} cannot be unpacked: its name is not possible here, or conflicts with another entry`,
      {
        cause: error,
      },
    );
  }
}

async function writeEntry(entry: TarEntry, draft: string, sums: Map<string, FileSum>): Promise<void> {
  const target = join(draft, entry.path);
  if (entry.kind === 'directory') {
    await mkdir(target, { recursive: true, mode: 0o700 });
    return;
  }
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const handle = await open(target, 'wx', 0o600);
  try {
    const content = summed(entry.content, (sum) => void sums.set(entry.path, sum));
    for await (const chunk of content) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function refuseOtherPostgres(manifest: Manifest, owner: ClusterOwner): Promise<void> {
  const { postgres } = await runnableBinaries(owner);
  const own = execFileSync(postgres, ['--version'], { encoding: 'utf8', cwd: '/' }).replaceAll(/[^\d.]/g, '');
  if (majorOf(own) === majorOf(manifest.postgres_version)) return;
  throw new CliError(
    `the backup holds a database of Postgres ${manifest.postgres_version}, but this svc comes with ${own}`,
    { hint: `restore it with svc ${manifest.svc_version}, which wrote it` },
  );
}

const majorOf = (version: string): string => version.split('.', 1)[0] ?? '';

async function giveTo(owner: { uid: number; gid: number }, cluster: string): Promise<void> {
  const below = await readdir(cluster, { recursive: true });
  for (const path of [`${cluster}.password`, cluster, ...below.map((name) => join(cluster, name))]) {
    await chown(path, owner.uid, owner.gid);
  }
}

/**
 * Moves the old data aside under its lock, so that no lite starts on it during this time. A Postgres of a killed lite
 * is stopped.
 */
async function setAside(directory: DataDirectory): Promise<string> {
  const lock = await acquireLock(directory.lock);
  await stopLeftover(directory.postgres, STOP_LEFTOVER_MS);
  const aside = `${directory.path}.before-restore-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  lock.release();
  await rename(directory.path, aside);
  return aside;
}

function report(
  context: CliContext,
  input: { options: RestoreOptions; directory: DataDirectory; manifest: Manifest; aside: string | undefined },
): void {
  const { options, directory, manifest, aside } = input;
  const { files, ...facts } = manifest;
  if (options.json) {
    printJson(context, {
      data_directory: directory.path,
      kept_aside: aside ?? null,
      ...facts,
      files: Object.keys(files).length,
    });
    return;
  }
  const place = options.isDefaultDirectory ? '' : ` --data-dir ${directory.path}`;
  context.stdout.write(
    `${directory.path} is as it was at ${manifest.created_at}, with the passwords of that time.\n` +
      (aside === undefined ? '' : `What was there before is in ${aside}: remove it when you no longer need it.\n`) +
      `Start it with: svc lite${place}\n`,
  );
}
