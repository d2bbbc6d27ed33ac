/**
 * The owner of an environment while it is built. Installing a package may run its code, so the user that runs tasks
 * installs it. When the environment is complete, the agent takes it over: that user may read it then, but no longer
 * change it.
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TaskUser } from '@svc/proto/task-user.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Creates a folder that belongs to the user. */
export function makeFolderFor({ uid, gid }: TaskUser, folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, uid, gid);
}

/**
 * Makes a tree readable for everyone, like the packages of the machine. Works from the top down: when a folder is read,
 * no other user can add to it, so no link leads elsewhere.
 */
export function takeOver(path: string): void {
  lchownSync(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return;
  const isFolder = found.isDirectory();
  const runs = isFolder || (found.mode & 0o100) !== 0;
  chmodSync(path, runs ? 0o755 : 0o644);
  if (isFolder) for (const name of readdirSync(path)) takeOver(join(path, name));
}

/** Takes the folder over first, because the user may still change it. What is removed must be what was checked. */
export function removeFolderOf(user: TaskUser | undefined, folder: string): void {
  if (user && existsSync(folder)) takeOver(folder);
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Returns the pip configuration of the user that started the agent, because the user of tasks may not be able to read
 * that file.
 */
export function pipConfiguration(env: Environment, user: TaskUser, folder: string): Environment {
  if (env['PIP_CONFIG_FILE'] !== undefined) return {};
  const home = env['HOME'] || homedir();
  const places = [
    join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'pip', 'pip.conf'),
    join(home, '.pip', 'pip.conf'),
  ];
  const found = places.find((place) => existsSync(place));
  if (found === undefined) return {};
  const copy = join(folder, 'pip.conf');
  copyFileSync(found, copy);
  chmodSync(copy, 0o400);
  chownSync(copy, user.uid, user.gid);
  return { PIP_CONFIG_FILE: copy };
}
