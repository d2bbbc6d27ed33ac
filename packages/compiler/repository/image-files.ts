/**
 * What of the repository an image has where, by its COPY and ADD instructions. A path of the image leads to the file of the
 * repository that was copied there last; Airflow's home stands for the repository itself.
 */
import { posix } from 'node:path';
import { insideRepository } from './settings.ts';

export type RepositoryLook = {
  /** By a path relative to the repository. */
  kindOf(path: string): 'file' | 'folder' | undefined;
};

/** `to`: a path of the image; `from`: relative to the repository. */
export type CopiedPath = { readonly to: string; readonly from: string };

export type ImageFiles = {
  /** `place` ends with a slash when it is a folder for sure. */
  copy(sources: readonly string[], place: string, workdir: string): void;
  add(copied: CopiedPath): void;
  /** Where the repository has what the image has at this path; undefined when it does not have it. */
  place(path: string): string | undefined;
  readonly copied: readonly CopiedPath[];
};

export const absolute = (path: string, workdir: string): string => posix.resolve('/', workdir, path);

export function imageFiles(look: RepositoryLook, before: readonly CopiedPath[] = []): ImageFiles {
  const copied = [...before];
  const add = (entry: CopiedPath): void => void copied.push(entry);

  function copy(sources: readonly string[], place: string, workdir: string): void {
    const to = absolute(place, workdir);
    const isFolder = sources.length > 1 || /(?:\/|^\.{1,2})$/.test(place);
    for (const source of sources) {
      const from = posix.normalize(source.replace(/^\/+/, '') || '.').replace(/\/$/, '');
      if (from.startsWith('..')) continue;
      // Which files match a pattern is of no interest: a path below the place is looked for in the pattern's folder.
      if (/[*?[]/.test(from)) add({ to, from: posix.dirname(from) });
      else if (look.kindOf(from) === 'folder' || !isFolder) add({ to, from });
      else add({ to: posix.join(to, posix.basename(from)), from });
    }
  }

  function place(path: string): string | undefined {
    const wanted = posix.normalize(path).replace(/(?<=.)\/$/, '');
    for (const { to, from } of copied.toReversed()) {
      const rest = wanted === to ? '' : wanted.startsWith(to === '/' ? to : `${to}/`) ? wanted.slice(to.length) : null;
      if (rest === null) continue;
      const found = posix.join(from, rest.replace(/^\//, ''));
      if (look.kindOf(found) !== undefined) return found;
    }
    const found = insideRepository(wanted);
    return found !== undefined && look.kindOf(found) !== undefined ? found : undefined;
  }

  return { copy, add, place, copied };
}
