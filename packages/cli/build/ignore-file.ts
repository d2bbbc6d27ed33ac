/**
 * What is excluded from the image: the project's own ignore file and `exclude_paths` merged, and the build file itself.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { excludePatterns } from '@svc/spec/project/exclude-patterns.ts';
import { usageError } from '../cli-error.ts';
import { atProcessEnd } from './at-process-end.ts';
import { removeLeftovers, temporaryName } from './leftovers.ts';

export const BUILD_FILE_PREFIX = '.svc-build-';

/**
 * In an ignore file the last matching line wins. Our lines come last, so that no `!` line of the project includes an
 * excluded path again. The project's own lines keep their order.
 */
export function mergeIgnoreFile(own: string | undefined, excludePaths: readonly string[]): string {
  const ownLines = own === undefined ? [] : own.replace(/^\uFEFF/, '').split(/\r?\n/);
  // The loader also checks this. A line break here could add a line that includes excluded files again.
  if (excludePaths.some((entry) => /[\r\n]/.test(entry)))
    throw usageError('exclude_paths must not contain a line break');
  const ours = excludePatterns(excludePaths).filter((pattern) => !/^[\s\u0085]*!/.test(pattern));
  return [...ownLines.filter((line) => line !== ''), ...ours, `${BUILD_FILE_PREFIX}*`, ''].join('\n');
}

/**
 * Returns the project's own ignore file, as the container tool looks for it: next to the project's build file first,
 * then the tool's own name, then the other name. A file that was written to keep secrets out is never ignored.
 */
export function readOwnIgnoreFile(options: {
  directory: string;
  buildFileName: string | undefined;
  firstChoice: '.dockerignore' | '.containerignore';
}): string | undefined {
  const names = [
    options.firstChoice,
    ...['.dockerignore', '.containerignore'].filter((n) => n !== options.firstChoice),
  ];
  const { buildFileName } = options;
  const candidates = [...(buildFileName === undefined ? [] : names.map((name) => buildFileName + name)), ...names];
  for (const name of candidates) {
    const text = readIfPresent(join(options.directory, name));
    if (text !== undefined) return text;
  }
  return undefined;
}

export type BuildFiles = { readonly buildFile: string; readonly ignoreFile: string };

/**
 * Puts both files into the build context while `use` runs, under names of our own, so the project's files stay
 * untouched. BuildKit finds the ignore file by its name, the name of the build file plus `.dockerignore`. podman and
 * buildah receive its name as an argument.
 */
export async function withBuildFiles<Result>(
  options: { directory: string; buildFile: string; ignoreFile: string },
  use: (files: BuildFiles) => Promise<Result>,
): Promise<Result> {
  const { directory } = options;
  removeLeftovers(directory, BUILD_FILE_PREFIX);
  const name = temporaryName(BUILD_FILE_PREFIX);
  const files: BuildFiles = { buildFile: name, ignoreFile: `${name}.dockerignore` };
  const remove = (): void => {
    for (const file of Object.values(files)) rmSync(join(directory, file), { force: true });
  };
  using _ = atProcessEnd(remove);
  try {
    writePrivate(join(directory, files.buildFile), options.buildFile);
    writePrivate(join(directory, files.ignoreFile), options.ignoreFile);
    return await use(files);
  } finally {
    remove();
  }
}

/** Never writes through an existing link or over an existing file. */
function writePrivate(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw usageError(`the build cannot put its two temporary files into ${dirname(path)}: ${(error as Error).message}`);
  }
}

export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
