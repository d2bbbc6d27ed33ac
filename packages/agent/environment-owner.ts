/**
 * Whose an environment is while it is built: installing a package may run its code, so that is done as the user tasks run
 * as. When it is whole it is taken from that user, who may read it then and no longer change it.
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

/** A folder that is the user's own. */
export function makeFolderFor({ uid, gid }: TaskUser, folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, uid, gid);
}

/**
 * Everybody may read it then, as the packages of the machine. From the top down: by the time a folder is read nobody else can
 * put anything into it, so that no link leads us elsewhere.
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

/** What the user may still be changing is taken first: what is removed must be what was looked at. */
export function removeFolderOf(user: TaskUser | undefined, folder: string): void {
  if (user && existsSync(folder)) takeOver(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Where packages come from is what whoever started us has set for pip, whose file the other user may not be able to read. */
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
