/**
 * What there is to compile below a directory.
 *
 *   a directory with svc.yaml or dag.py      one project; nothing below it is looked at
 *   any other .py file that mentions         a file of a plain dags folder, which needs no svc.yaml
 *   both "dag" and "airflow"
 *
 * Hidden directories and a fixed list of others are skipped; `exclude_paths` is about images and has no say here.
 */
import { readFile, readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';

export const PROJECT_FILE = 'svc.yaml';
const DEFAULT_SOURCE = 'dag.py';

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
  /** Where the DAGs come from, as the API calls it. */
  bundleName: string;
  /** A plain file itself; of a project, where its svc.yaml would be. */
  path: string;
};

/** Airflow's name for the one bundle of a plain dags folder. */
const PLAIN_BUNDLE = 'dags-folder';

/** In the order of their names, so that two runs report alike. */
export async function discover(workspace: string): Promise<Unit[]> {
  const root = resolve(workspace);
  if (!(await isDirectory(root))) throw new Error(`${workspace} is not a directory`);
  const units: Unit[] = [];
  await visit(root);
  return units;

  async function visit(directory: string): Promise<void> {
    const entries = (await readdir(directory, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = new Set(entries.map((entry) => entry.name));
    if (names.has(PROJECT_FILE) || names.has(DEFAULT_SOURCE)) {
      const name = relative(root, directory) || basename(directory);
      units.push({
        kind: 'project',
        name,
        root: directory,
        bundleName: basename(directory),
        path: join(directory, PROJECT_FILE),
      });
      return;
    }
    for (const entry of entries) {
      const path = join(directory, entry.name);
      // A link is followed for files only: a linked directory could lead around in a circle.
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !SKIPPED.has(entry.name)) await visit(path);
      } else if (entry.name.endsWith('.py') && (await looksLikeDagFile(path))) {
        units.push({ kind: 'file', name: relative(root, path), root, bundleName: PLAIN_BUNDLE, path });
      }
    }
  }
}

/** Airflow's own test, so that helper modules beside DAG files are not executed one by one. */
async function looksLikeDagFile(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).size > MAX_FILE_BYTES) return false;
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
