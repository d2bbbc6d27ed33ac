/** The files of a repository that may have old spellings in them. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { CliError, EXIT } from '../cli-error.ts';

const SKIPPED = new Set(['__pycache__', 'node_modules', 'venv', 'env', 'site-packages', 'build', 'dist', 'target']);
/** Python, and what operators take as template files. */
const KINDS = /\.(?:py|sql|hql|sh|bash|j2|jinja|jinja2)$/;
const MOST_FILES = 50_000;

export type RepositoryFiles = {
  /** The directory that paths are relative to. */
  root: string;
  /** Sorted, with `/`. */
  files: string[];
};

/** `path` may be one file. Hidden directories and those of tools are left out; links to directories are not followed. */
export function repositoryFiles(path: string): RepositoryFiles {
  const full = resolve(path);
  const info = statSync(full, { throwIfNoEntry: false });
  if (info === undefined) {
    throw new CliError(`${path} does not exist`, {
      exitCode: EXIT.notFound,
      hint: 'name a directory of DAG files, or one file',
    });
  }
  if (!info.isDirectory()) return { root: dirname(full), files: [basename(full)] };
  const files: string[] = [];
  const visit = (directory: string): void => {
    for (const entry of entriesOf(directory)) {
      const below = join(directory, entry.name);
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !SKIPPED.has(entry.name)) visit(below);
      } else if (KINDS.test(entry.name) && (entry.isFile() || isFile(below))) {
        files.push(relative(full, below));
      }
      if (files.length > MOST_FILES) {
        throw new CliError(`there are more than ${MOST_FILES} files in ${path}`, {
          exitCode: EXIT.usage,
          hint: 'name the directory of the DAG files',
        });
      }
    }
  };
  visit(full);
  return { root: full, files: files.sort() };
}

const entriesOf = (directory: string) => {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return []; // compiling says so
  }
};

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
