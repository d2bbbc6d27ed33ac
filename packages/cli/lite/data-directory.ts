/**
 * Where lite keeps everything it has: the cluster, generated secrets, logs. Removing this directory removes the
 * installation.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CliError, EXIT, messageOf, systemCode } from '../cli-error.ts';
import type { Environment } from '../context.ts';

export type DataDirectory = {
  readonly path: string;
  readonly postgres: string;
  readonly secrets: string;
  /** Of tasks. */
  readonly logs: string;
  /** Files that runs stage. */
  readonly staging: string;
  readonly serverLog: string;
  readonly postgresLog: string;
  readonly lock: string;
  /** Where agents found the control plane last. */
  readonly agentPort: string;
};

export function dataDirectoryAt(path: string): DataDirectory {
  return {
    path,
    postgres: join(path, 'postgres'),
    secrets: join(path, 'secrets'),
    logs: join(path, 'logs'),
    staging: join(path, 'staging'),
    serverLog: join(path, 'svc.log'),
    postgresLog: join(path, 'postgres.log'),
    lock: join(path, 'lite.lock'),
    agentPort: join(path, 'agent-port'),
  };
}

/** Root's own home cannot be entered by the user Postgres runs as, so root gets a system directory. */
export function defaultDataDirectory(input: { env: Environment; home: string; isRoot: boolean }): string {
  const { env, home, isRoot } = input;
  if (env['SVC_HOME']) return resolve(env['SVC_HOME'], 'lite');
  return isRoot ? '/var/lib/svc/lite' : join(home, '.svc', 'lite');
}

export async function prepareDataDirectory(path: string, isRoot: boolean): Promise<DataDirectory> {
  const directory = dataDirectoryAt(path);
  await refuseForeign(directory);
  if (isRoot) await refuseUnreachable(path);
  try {
    // Others may pass through only where Postgres, as another user, has to.
    const mode = isRoot ? 0o711 : 0o700;
    await mkdir(path, { recursive: true, mode });
    const probe = join(path, `.probe-${randomUUID()}`);
    await writeFile(probe, 'x');
    await rm(probe);
    if (isRoot) await chmod(path, ((await stat(path)).mode & 0o777) | 0o111);
    await mkdir(directory.secrets, { recursive: true, mode: 0o700 });
    await mkdir(directory.logs, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(path, error);
  }
  return directory;
}

/** A directory that cannot be written to, said so that a person knows what to change. */
export function unusable(path: string, error: unknown): CliError {
  const options = { exitCode: EXIT.failed, cause: error, hint: 'choose another place with --data-dir' };
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new CliError(`the disk that holds ${path} is full`, {
        ...options,
        hint: 'free some space, or choose another place with --data-dir',
      });
    case 'EACCES':
    case 'EPERM':
      return new CliError(`no permission to write to the data directory ${path}`, options);
    case 'EROFS':
      return new CliError(`the data directory ${path} is on a read-only file system`, options);
    case 'ENOTDIR':
    case 'EEXIST':
      return new CliError(`the data directory ${path} cannot be made: a file of that name is in the way`, options);
    default:
      return new CliError(`the data directory ${path} cannot be used: ${messageOf(error)}`, options);
  }
}

/** Root's Postgres runs as the user `postgres`, who must be able to pass every directory above its own. */
export async function refuseUnreachable(path: string): Promise<void> {
  const owner = await postgresUser();
  for (let parent = dirname(path); parent !== dirname(parent); parent = dirname(parent)) {
    const found = await stat(parent).catch(() => undefined); // not there yet: made by us, and passable
    if (found !== undefined && (found.mode & 0o001) === 0 && found.uid !== owner) {
      throw new CliError(
        `the data directory ${path} lies below ${parent}, which only its owner may enter; started by root, Postgres runs as the user "postgres" and cannot get there`,
        { hint: 'choose a place such as /var/lib/svc/lite with --data-dir, or start svc as an ordinary user' },
      );
    }
  }
}

/** Postgres takes only files of the user it runs as, and says so in words that help nobody. */
export async function refuseForeign(directory: DataDirectory, self = process.getuid?.()): Promise<void> {
  const cluster = await stat(directory.postgres).catch(() => undefined); // not there yet, or said when it is written to
  if (cluster === undefined || self === undefined) return;
  if (cluster.uid === (self === 0 ? await postgresUser() : self)) return;
  const { uid } = await stat(directory.path);
  throw new CliError(`the data directory ${directory.path} belongs to ${await nameOf(uid)}`, {
    hint: 'start svc as that user, or choose another place with --data-dir',
  });
}

const accounts = (): Promise<string> => readFile('/etc/passwd', 'utf8').catch(() => '');

async function nameOf(uid: number): Promise<string> {
  const name = new RegExp(`^([^:]+):[^:]*:${uid}:`, 'm').exec(await accounts())?.[1];
  return name === undefined ? `the user with the number ${uid}` : `the user "${name}"`;
}

async function postgresUser(): Promise<number | undefined> {
  const uid = /^postgres:[^:]*:(\d+):/m.exec(await accounts())?.[1];
  return uid === undefined ? undefined : Number(uid);
}
