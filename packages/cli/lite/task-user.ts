/**
 * The user that runs author code of lite if root started it: an account of the installation (task-accounts.ts), or the
 * one in `executor.task_user`. It owns nothing of lite, so it cannot reach the secrets in the data directory or the
 * processes. This file gives it access to what it needs: the workspace, the Python environments, our own modules.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { taskUserOf } from '@svc/proto/task-user.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { CliError, EXIT, messageOf } from '../cli-error.ts';
import type { LiteConfig } from './config.ts';
import { claimTaskAccount, isOwnAccount, makeHome } from './task-accounts.ts';

const PYTHON_FOLDER = join(import.meta.dirname, '..', '..', '..', 'python');
/** Tests from the editor run this engine, with the Node of lite. */
const ENGINE_FOLDER = join(import.meta.dirname, '..', '..', 'server', 'engine', 'single-run');

type Closed = { folder: string; at: string; error: string };

/** Returns the default of `executor.task_user`. Empty means the same user as lite. */
export async function defaultTaskUser(
  config: LiteConfig,
  dataDirectory: string,
  self = process.getuid?.(),
): Promise<string> {
  if (self !== 0 || config.chosen('executor.task_user') !== undefined) return '';
  return claimTaskAccount(dataDirectory);
}

/** Undefined means the same user as lite. */
export function liteTaskUser(name: string): TaskUser | undefined {
  try {
    const user = taskUserOf(name);
    if (user && isOwnAccount(user.name)) makeHome(user);
    return user;
  } catch (error) {
    throw new CliError(messageOf(error), { exitCode: EXIT.usage, cause: error });
  }
}

/** Resolves with the folders that were opened. Rejects if the user still cannot reach something. */
export async function letReach(input: {
  user: TaskUser;
  python: string;
  workspace: string;
  /** The folder of Python environments. */
  cache: string;
}): Promise<string[]> {
  const { user, python, workspace, cache } = input;
  mkdirSync(cache, { recursive: true });
  const folders = [cache, PYTHON_FOLDER, ENGINE_FOLDER, dirname(process.execPath), ...(workspace ? [workspace] : [])];
  const ours = ['svc_runtime', 'airflow', 'svc', 'cosmos'].map((name) => join(PYTHON_FOLDER, name));
  const child = spawn(python, ['-I', join(PYTHON_FOLDER, 'svc_runtime', 'passage.py')], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {}); // the end of the process reports the failure
  child.stdin.end(JSON.stringify({ gid: user.gid, folders, ours }));
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [answer, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new CliError(`folders could not be opened for the user "${user.name}": ${errors.trim()}`);
  const { opened, closed } = JSON.parse(answer) as { opened: string[]; closed: Closed[] };
  const [first] = closed;
  if (first) throw unreachable(user, first);
  return opened;
}

function unreachable({ name }: TaskUser, { folder, at, error }: Closed): CliError {
  return new CliError(
    `started by root, lite runs tasks as the user "${name}", who must be able to read ${folder} and may not enter ${at}; giving it an entry in its access list failed (${error})`,
    {
      hint: `let others pass (chmod o+x ${at}), or move it elsewhere, or let tasks read all that root can: --executor.task-user root`,
    },
  );
}

/** Describes the user for the log of a start. */
export const describeTaskUser = (user: TaskUser, opened: readonly string[]): string =>
  `author code runs as the user "${user.name}", who cannot read the secrets of this installation` +
  (opened.length === 0 ? '' : `; the group of that user may now enter ${opened.join(', ')}`);
