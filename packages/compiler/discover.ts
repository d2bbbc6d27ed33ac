/**
 * What there is to compile at a path.
 *
 *   a directory with svc.yaml or dag.py      one project; nothing below it is looked at
 *   any other .py file that mentions         a file of a plain dags folder, which needs no svc.yaml
 *   both "dag" and "airflow"
 *
 * Hidden directories and a fixed list of others are skipped; `exclude_paths` is about images and has no say here.
 * Linked directories are followed, each real directory once, so that links in a circle come to an end.
 */
import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { loadProject } from '@svc/spec/project/load.ts';
import { PROJECT_DEFAULTS } from '@svc/spec/project/schema.ts';

export const PROJECT_FILE = 'svc.yaml';
const DEFAULT_SOURCE = PROJECT_DEFAULTS.dag_source;

const SKIPPED = new Set([
  '__pycache__',
  'node_modules',
  'venv',
  'env',
  'site-packages',
  'build',
  'dist',
  'target',
  'plugins',
  'tests',
]);
/** A DAG file is text a person wrote. What is larger is data, and is not opened. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

export type Unit = {
  kind: 'project' | 'file';
  /** Names it to people: the path below the workspace. */
  name: string;
  /** The folder that paths in the artifact are relative to. */
  root: string;
  /** A plain file itself; of a project, where its svc.yaml is or would be. */
  path: string;
  /** DAG files of a project without svc.yaml that will not be compiled: it has one source. */
  overlooked: readonly string[];
};

/** There is nothing at the path that could be looked at. */
export class DiscoverError extends Error {}

/** In the order of their names, so that two runs report alike. */
export async function discover(path: string): Promise<Unit[]> {
  const root = resolve(path);
  const info = await stat(root).catch((error: NodeJS.ErrnoException) => {
    throw new DiscoverError(
      error.code === 'ENOENT' ? `${path} does not exist` : `${path} cannot be read: ${error.code}`,
    );
  });
  if (info.isDirectory()) return discoverBelow(root);
  if (!info.isFile()) throw new DiscoverError(`${path} is neither a directory nor a file`);
  return [await unitOfFile(root)];
}

/** A file somebody named. Of a project, its svc.yaml or DAG file stands for the project. */
async function unitOfFile(path: string): Promise<Unit> {
  const directory = dirname(path);
  const name = basename(path);
  const project: Unit = {
    kind: 'project',
    name: basename(directory),
    root: directory,
    path: join(directory, PROJECT_FILE),
    overlooked: [],
  };
  if (name === PROJECT_FILE || name === DEFAULT_SOURCE) return project;
  if (!name.endsWith('.py')) throw new DiscoverError(`${path} is no DAG file: its name does not end with .py`);
  const text = await readFile(project.path, 'utf8').catch(() => undefined);
  const loaded = text === undefined ? undefined : loadProject(text, basename(directory));
  if (loaded?.ok && loaded.project.dag_source === name) return project;
  return { kind: 'file', name, root: directory, path, overlooked: [] };
}

async function discoverBelow(root: string): Promise<Unit[]> {
  const units: Unit[] = [];
  const seen = new Set<string>();
  const links: string[] = [];

  async function visit(directory: string): Promise<void> {
    const real = await realpath(directory);
    if (seen.has(real)) return;
    seen.add(real);
    const entries = await entriesOf(directory);
    if (entries === undefined) {
      // Not silently left out: compiling it will fail and say why, and everything else is compiled all the same.
      units.push({ kind: 'file', name: relative(root, directory), root, path: directory, overlooked: [] });
      return;
    }
    const names = new Set(entries.map((entry) => entry.name));
    if (names.has(PROJECT_FILE) || names.has(DEFAULT_SOURCE)) {
      units.push({
        kind: 'project',
        name: relative(root, directory) || basename(directory),
        root: directory,
        path: join(directory, PROJECT_FILE),
        overlooked: names.has(PROJECT_FILE) ? [] : await otherDagFiles(directory, entries),
      });
      return;
    }
    for (const entry of entries) await look(directory, entry);
  }

  async function look(directory: string, entry: Dirent): Promise<void> {
    const path = join(directory, entry.name);
    if (entry.isDirectory() || (entry.isSymbolicLink() && (await isDirectory(path)))) {
      if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) return;
      if (entry.isDirectory()) await visit(path);
      else links.push(path);
    } else if (entry.name.endsWith('.py') && (await looksLikeDagFile(path))) {
      units.push({ kind: 'file', name: relative(root, path), root, path, overlooked: [] });
    }
  }

  if ((await entriesOf(root)) === undefined) throw new DiscoverError(`${root} cannot be read`);
  await visit(root);
  // After everything that is really here, so that a directory is known by its own name and not by that of a link to it.
  for (let link = links.shift(); link !== undefined; link = links.shift()) await visit(link);
  return units.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Sorted; undefined when the directory cannot be read. */
const entriesOf = (directory: string): Promise<Dirent[] | undefined> =>
  readdir(directory, { withFileTypes: true }).then(
    (entries) => entries.sort((a, b) => (a.name < b.name ? -1 : 1)),
    () => undefined,
  );

async function otherDagFiles(directory: string, entries: readonly Dirent[]): Promise<string[]> {
  const names = entries.map((entry) => entry.name).filter((name) => name.endsWith('.py') && name !== DEFAULT_SOURCE);
  const marks = await Promise.all(names.map((name) => looksLikeDagFile(join(directory, name))));
  return names.filter((_, index) => marks[index]);
}

/** Airflow's own test, so that helper modules beside DAG files are not executed one by one. */
async function looksLikeDagFile(path: string): Promise<boolean> {
  try {
    const info = await stat(path);
    // Opening a pipe would wait for somebody to write to it.
    if (!info.isFile() || info.size > MAX_FILE_BYTES) return false;
    const text = (await readFile(path, 'latin1')).toLowerCase();
    return text.includes('dag') && text.includes('airflow');
  } catch {
    return true; // unreadable: compiling it says so
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
