/**
 * The shared libraries of the packaged Postgres need several names, but npm packages cannot contain symbolic links. An
 * install script of the package creates the links. If install scripts are disabled, as in newer npm, the links are
 * missing.
 */
import { lstat, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** Creates the missing links in the folder with `bin` and `lib`. Returns false if some cannot be created. */
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

/**
 * Returns the links that the package lists, relative to the folder, because a copy has another name. A package may list
 * none.
 */
async function listedLinks(folder: string): Promise<{ source: string; target: string }[]> {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return (JSON.parse(list) as { source: string; target: string }[]).map(({ source, target }) => ({
    source: relative('native', source),
    target: relative('native', target),
  }));
}
