/**
 * The shared libraries of the packaged Postgres have several names each, and npm packages cannot hold symbolic links. The
 * package makes them when it is installed; where install scripts are not allowed, as newer npm has it, nobody did.
 */
import { lstat, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** Makes the links that are missing in the folder with `bin` and `lib`. False when some cannot be made. */
export async function addMissingLinks(folder: string): Promise<boolean> {
  try {
    for (const { source, target } of await listedLinks(folder)) {
      const path = join(folder, target);
      if (await lstat(path).catch(() => undefined)) continue;
      await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error; // another process was faster
      });
    }
    return true;
  } catch {
    return false;
  }
}

/** As the package lists them, but relative to the folder, which has another name in a copy. A package may have none. */
async function listedLinks(folder: string): Promise<{ source: string; target: string }[]> {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return (JSON.parse(list) as { source: string; target: string }[]).map(({ source, target }) => ({
    source: relative('native', source),
    target: relative('native', target),
  }));
}
