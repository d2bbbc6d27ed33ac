/**
 * The directory of a lite installation: the cluster, generated secrets, logs. Removing the directory removes the
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
  /** Logs of tasks. */
  readonly logs: string;
  /** Staging directories of runs. */
  readonly staging: string;
  readonly serverLog: string;
  readonly postgresLog: string;
  readonly lock: string;
  /** The file with the port at which agents last found the control plane. */
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

/** The user of Postgres cannot enter root's home, so root gets a system directory. */
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
    // Other users may enter only where Postgres runs as another user.
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

/** Explains to a person why a directory cannot be written. */
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

/** Postgres of root runs as the user `postgres`, which must be able to enter every parent directory. */
export async function refuseUnreachable(path: string): Promise<void> {
  const owner = await postgresUser();
  for (let parent = dirname(path); parent !== dirname(parent); parent = dirname(parent)) {
    const found = await stat(parent).catch(() => undefined); // a missing directory will be created with the right mode
    if (found !== undefined && (found.mode & 0o001) === 0 && found.uid !== owner) {
      throw new CliError(
        `the data directory ${path} lies below ${parent}, which only its owner may enter; started by root, Postgres runs as the user "postgres" and cannot get there`,
        { hint: 'choose a place such as /var/lib/svc/lite with --data-dir, or start svc as an ordinary user' },
      );
    }
  }
}

/** Postgres accepts only files of its own user, and its own message does not help. */
export async function refuseForeign(directory: DataDirectory, self = process.getuid?.()): Promise<void> {
  // A missing directory is fine, and the first write reports any other error.
  const cluster = await stat(directory.postgres).catch(() => undefined);
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
