/**
 * What there is to compile at a path.
 *
 *   a directory with svc.yaml or dag.py      one project; nothing below it is looked at
 *   a directory with a folder dags/          an Airflow repository: every DAG file and zip in that folder that
 *                                            .airflowignore does not leave out (repository/find-repository.ts)
 *   any other .py file that mentions         a file of a plain dags folder, which needs no svc.yaml
 *   both "dag" and "airflow"
 *
 * Hidden directories and a fixed list of others are skipped; `exclude_paths` is about images and has no say here.
 * Linked directories are followed, each real directory once, so that links in a circle come to an end.
 */
import { readdir, realpath, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { FileLimitError } from '@svc/spec/files/limits.ts';
import { READING } from '@svc/spec/files/read-text.ts';
import { PROJECT_DEFAULTS } from '@svc/spec/project/schema.ts';
import { enclosingRepository, findRepository } from './repository/find-repository.ts';
import { noRules } from './repository/ignore-rules.ts';
import type { IgnoreRules } from './repository/ignore-rules.ts';
import type { Repository } from './repository/repository.ts';
import { PROJECT_FILE } from './reading/unit-problem.ts';
import { readProject } from './reading/read-project.ts';
import { asProblem } from './repository/repository.ts';
import { dagFilesOfZip } from './repository/zip-entries.ts';
import { looksLikeDagFile } from './repository/dag-file.ts';

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
/** Within the DAGs folder of a repository Airflow looks everywhere; these never hold DAGs. */
const NEVER_DAGS = new Set(['__pycache__', 'node_modules', 'site-packages', 'venv']);
export type Unit = {
  kind: 'project' | 'file';
  /** Names it to people: the path below the workspace. */
  name: string;
  /** The folder that paths in the artifact are relative to. */
  root: string;
  /** A plain file itself (within a zip: that of the zip and its name in it); of a project, where its svc.yaml is or would be. */
  path: string;
  /** DAG files of a project without svc.yaml that will not be compiled: it has one source. */
  overlooked: readonly string[];
  /** What the file belongs to. */
  repository?: Repository;
  /** It is the one to tell what there is to say about its repository. */
  isFirst?: boolean;
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
  if (!info.isDirectory() && !info.isFile()) throw new DiscoverError(`${path} is neither a directory nor a file`);
  const around = await enclosingRepository(root);
  if (around !== undefined) {
    const units = (await discoverBelow(around.root)).filter(({ path: at }) => at === root || at.startsWith(root + sep));
    const nameOf = ({ kind, path: at, root: home }: Unit): string => relative(root, kind === 'project' ? home : at);
    if (units.length > 0) return withFirst(units.map((unit) => ({ ...unit, name: nameOf(unit) || basename(root) })));
  }
  if (info.isDirectory()) return discoverBelow(root);
  const unit = unitOfFile(root);
  // Somebody names it, so it is compiled, though .airflowignore leaves it out or it does not look like a DAG file.
  return [around && unit.kind === 'file' ? { ...unit, ...inRepository({ repository: around }), isFirst: true } : unit];
}

/** A file somebody named. Of a project, its svc.yaml or DAG file stands for the project. */
function unitOfFile(path: string): Unit {
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
  if (existsSync(project.path)) {
    const read = readProject(project);
    if (read.ok && read.project.dag_source === name) return project;
  }
  return { kind: 'file', name, root: directory, path, overlooked: [] };
}

/** How a folder is looked at: within a repository, or as part of a workspace. */
type Place = {
  repository?: Repository | undefined;
  rules: IgnoreRules;
  /** Files by themselves do not count. */
  projectsOnly?: boolean;
};

async function discoverBelow(root: string): Promise<Unit[]> {
  const units: Unit[] = [];
  const seen = new Set<string>();
  const links: { path: string; place: Place }[] = [];
  const plain: Place = { rules: noRules('glob') };
  /** Of .airflowignore, by repository. */
  const unread = new Map<string, IgnoreRules>();

  const isNew = async (directory: string): Promise<boolean> => {
    const real = await realpath(directory);
    if (seen.has(real)) return false;
    seen.add(real);
    return true;
  };
  const add = (unit: Pick<Unit, 'kind' | 'path'> & Partial<Unit>): void =>
    void units.push({ name: relative(root, unit.path) || basename(root), root, overlooked: [], ...unit });

  async function visit(directory: string, place: Place): Promise<void> {
    if (!(await isNew(directory))) return;
    READING.publish({ path: directory });
    const entries = await entriesOf(directory);
    if (entries === undefined) {
      // Not silently left out: compiling it will fail and say why, and everything else is compiled all the same.
      add({ kind: 'file', path: directory, ...inRepository(place) });
      return;
    }
    const names = new Set(entries.map((entry) => entry.name));
    const repository = place.repository ? undefined : await findRepository(directory);
    if (repository) return visitRepository(repository, entries);
    const inDags = place.repository !== undefined && place.repository.bundle.dags !== '.';
    if (names.has(PROJECT_FILE) || (names.has(DEFAULT_SOURCE) && !inDags)) {
      add({
        kind: 'project',
        name: relative(root, directory) || basename(directory),
        root: directory,
        path: join(directory, PROJECT_FILE),
        overlooked: names.has(PROJECT_FILE) ? [] : otherDagFiles(directory, entries),
      });
      return;
    }
    await visitEntries(directory, entries, place);
  }

  async function visitEntries(directory: string, entries: readonly Dirent[], place: Place): Promise<void> {
    const rules = place.repository ? place.rules.within(directory) : place.rules;
    for (const entry of entries) await look(directory, entry, { ...place, rules });
  }

  /** Its DAGs folder first; beside it only projects and repositories of their own are looked for. */
  async function visitRepository(repository: Repository, entries: readonly Dirent[]): Promise<void> {
    const { root: home, bundle } = repository;
    const place = { repository, rules: noRules(repository.ignoreSyntax) };
    unread.set(home, place.rules);
    if (bundle.dags === '.') return visitEntries(home, entries, place);
    await visit(join(home, bundle.dags), place);
    const own = new Set([...bundle.import_roots, ...bundle.plugins, 'include', 'config', 'plugins', 'dags']);
    for (const entry of entries) {
      if (entry.isDirectory() && !own.has(entry.name)) await look(home, entry, { ...plain, projectsOnly: true });
    }
  }

  async function look(directory: string, entry: Dirent, place: Place): Promise<void> {
    const path = join(directory, entry.name);
    const isLink = entry.isSymbolicLink() && (await isDirectory(path));
    if (entry.isDirectory() || isLink) {
      const skipped = place.repository && place.repository.bundle.dags !== '.' ? NEVER_DAGS : SKIPPED;
      if (entry.name.startsWith('.') || skipped.has(entry.name) || place.rules.ignores(path, 'folder')) return;
      if (isLink) links.push({ path, place });
      else await visit(path, place);
    } else if (place.projectsOnly || place.rules.ignores(path, 'file')) {
      return;
    } else if (place.repository && isTest(relative(place.repository.root, path))) {
      return;
    } else if (entry.name.endsWith('.py') && looksLikeDagFile(path, { ifUnreadable: true })) {
      add({ kind: 'file', path, ...inRepository(place) });
    } else if (place.repository && entry.name.endsWith('.zip')) {
      lookInto(path, place);
    }
  }

  function lookInto(archive: string, place: Place): void {
    let names: string[] | undefined;
    try {
      names = dagFilesOfZip(archive, relative(place.repository?.root ?? root, archive));
    } catch (error) {
      if (!(error instanceof FileLimitError)) throw error;
      return add({ kind: 'file', path: archive, ...refusedIn(place, error) });
    }
    // One that cannot be read is compiled as a file, which says so.
    if (names === undefined) return add({ kind: 'file', path: archive, ...inRepository(place) });
    for (const name of names) add({ kind: 'file', path: join(archive, name), ...inRepository(place, archive) });
  }

  if ((await entriesOf(root)) === undefined) throw new DiscoverError(`${root} cannot be read`);
  await visit(root, plain);
  // After everything that is really here, so that a directory is known by its own name and not by that of a link to it.
  for (let link = links.shift(); link !== undefined; link = links.shift()) await visit(link.path, link.place);
  const told = units.map((unit) => withNotes(unit, unread.get(unit.repository?.root ?? '')));
  return withFirst(told.sort((a, b) => (a.name < b.name ? -1 : 1)));
}

/** Tests of DAGs name DAGs and Airflow, but pytest collects them. */
export const isTest = (path: string): boolean =>
  /(?:^|\/)tests?\/(?:.*\/)?(?:test_[^/]*|[^/]*_test|conftest)\.py$/.test(path);

function withNotes(unit: Unit, rules: IgnoreRules | undefined): Unit {
  const { repository, root } = unit;
  if (!repository || !rules) return unit;
  const inRoot = <T extends { file: string }>(found: T): T => ({ ...found, file: relative(root, found.file) });
  const notes = [...repository.notes, ...rules.problems.map(inRoot)];
  const problems = [...repository.problems, ...rules.refused.map((error) => inRoot(asProblem(error)))];
  return { ...unit, repository: { ...repository, notes, problems } };
}

/** With the reason why the file is not compiled. */
function refusedIn(place: Place, error: FileLimitError): ReturnType<typeof inRepository> {
  const found = inRepository(place);
  return found?.repository && { ...found, repository: { ...found.repository, problems: [asProblem(error)] } };
}

/** A zipped DAG file has its zip on the path, before all others. */
function inRepository(
  { repository, projectsOnly }: Omit<Place, 'rules'>,
  archive?: string,
): Pick<Unit, 'root' | 'repository'> | undefined {
  if (!repository || projectsOnly) return undefined;
  const { bundle, root } = repository;
  const roots = archive === undefined ? bundle.import_roots : [relative(root, archive), ...bundle.import_roots];
  return { root, repository: { ...repository, bundle: { ...bundle, import_roots: roots } } };
}

/** What there is to say about a repository is said once, with the first of its files. */
function withFirst(units: readonly Unit[]): Unit[] {
  const told = new Set<string>();
  return units.map((unit) => {
    const { repository } = unit;
    if (!repository || told.has(repository.root)) return { ...unit, ...(repository && { isFirst: false }) };
    told.add(repository.root);
    return { ...unit, isFirst: true };
  });
}

/** Sorted; undefined when the directory cannot be read. */
const entriesOf = (directory: string): Promise<Dirent[] | undefined> =>
  readdir(directory, { withFileTypes: true }).then(
    (entries) => entries.sort((a, b) => (a.name < b.name ? -1 : 1)),
    () => undefined,
  );

function otherDagFiles(directory: string, entries: readonly Dirent[]): string[] {
  const names = entries.map((entry) => entry.name).filter((name) => name.endsWith('.py') && name !== DEFAULT_SOURCE);
  return names.filter((name) => looksLikeDagFile(join(directory, name), { ifUnreadable: true }));
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
