/** What is kept out of the image: the project's own ignore file and `exclude_paths` in one, and the build file beside it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { excludePatterns } from '@svc/spec/project/exclude-patterns.ts';
import { usageError } from '../cli-error.ts';
import { atProcessEnd } from './at-process-end.ts';
import { removeLeftovers, temporaryName } from './leftovers.ts';

export const BUILD_FILE_PREFIX = '.svc-build-';

/**
 * In an ignore file the last matching line wins. Ours come last, so that no `!` of the project's brings an excluded path
 * back, and among its own lines the order stays what the author meant.
 */
export function mergeIgnoreFile(own: string | undefined, excludePaths: readonly string[]): string {
  const ownLines = own === undefined ? [] : own.replace(/^\uFEFF/, '').split(/\r?\n/);
  // Checked by the loader too. A line that slips in here could bring back what another keeps out.
  if (excludePaths.some((entry) => /[\r\n]/.test(entry)))
    throw usageError('exclude_paths must not contain a line break');
  const ours = excludePatterns(excludePaths).filter((pattern) => !/^[\s\u0085]*!/.test(pattern));
  return [...ownLines.filter((line) => line !== ''), ...ours, `${BUILD_FILE_PREFIX}*`, ''].join('\n');
}

/**
 * The project's own ignore file, as the container tool at hand would look for it: beside the project's build file first,
 * then the tool's own name, then the other one, because a file somebody wrote to keep secrets out is never passed over.
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
 * Puts both files into the build context while `use` runs, under names of our own: the project's files are never touched.
 * BuildKit finds the ignore file by its name, the build file's and `.dockerignore`; podman and buildah are told.
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

/** Never through a link that somebody put there, and never over an existing file. */
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
