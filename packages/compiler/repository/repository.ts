/**
 * An Airflow repository: a folder with its DAGs in `dags/` (or, when something else marks it as one, in itself), and around
 * them what they need. What is found here is recorded in every artifact, so that whoever runs a task does not look again.
 *
 *   dags/  config/  plugins/  and the folder itself     on the path of Python, as Airflow and Astronomer's images have it
 *   requirements.txt, else pyproject.toml               the environment of all its DAGs
 *   packages.txt, the Dockerfile of an Airflow image    read as far as they say what is installed and set; the rest is named
 *   svc.yaml without a DAG file of its own              settings of the whole repository, as its registry
 */
import { statSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import type { FileLimitError } from '@svc/spec/files/limits.ts';
import { loadProject } from '@svc/spec/project/load.ts';
import type { LoadedProject } from '@svc/spec/project/load.ts';
import { PYTHON_LINES } from '@svc/spec/project/python-lines.ts';
import type { PythonLine } from '@svc/spec/project/python-lines.ts';
import type { BundleSection } from '@svc/spec/schema.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { readDockerfile } from './dockerfile.ts';
import { imageFiles } from './image-files.ts';
import type { ImageFiles } from './image-files.ts';
import { packagesOfImage } from './image-packages.ts';
import type { ReadDockerfile } from './dockerfile.ts';
import type { IgnoreSyntax } from './ignore-rules.ts';
import { logicalLines } from './requirement-line.ts';
import type { Note } from './requirement-line.ts';
import { installList, readRequirements } from './requirements.ts';
import type { Requirements, WantedStep } from './requirements.ts';
import { repositoryFiles } from './repository-files.ts';
import type { RepositoryFiles } from './repository-files.ts';
import { repositorySettings, startupScript } from './settings.ts';
import { missingSystemPackages } from './system-packages.ts';

const SETTINGS_FILE = 'svc.yaml';

export type RepositoryProject = Extract<LoadedProject, { ok: true }>['project'];

export type Repository = {
  readonly root: string;
  readonly bundle: BundleSection;
  readonly ignoreSyntax: IgnoreSyntax;
  readonly requirements: Requirements;
  /** Packages that its files import because Airflow or its image has them. */
  readonly ofImage: readonly string[];
  /** Of svc.yaml, or its defaults; with everything there is to install. */
  readonly project: RepositoryProject;
  /** Whether anything of `project` was said by the repository. */
  readonly hasSettings: boolean;
  /** Its Dockerfile makes an image of Airflow. */
  readonly hasAirflowImage: boolean;
  /** Set for its DAG files and tasks. */
  readonly env: Readonly<Record<string, string>>;
  /** Files whose change may change what is installed or set, relative to the root. */
  readonly settingsFiles: readonly string[];
  readonly notes: readonly Note[];
  /** Of svc.yaml, and of files above a bound: nothing of the repository is compiled while there are any. */
  readonly problems: readonly RepositoryProblem[];
};

export type RepositoryProblem = Note & { column: number | null; instead?: string };

/** Keys of svc.yaml that are about one DAG. */
const OF_ONE_DAG = ['dag_id', 'dag_source', 'description', 'tasks'] as const;

export function readRepository(
  root: string,
  dagsFolder: string,
  files: RepositoryFiles = repositoryFiles(root),
): Repository {
  const file = ['Dockerfile', 'Containerfile'].find((name) => isFile(join(root, name)));
  const docker = file === undefined ? undefined : dockerfileOf(files, file);
  const startup = startupScript(files);
  const given = { ...startup?.variables, ...docker?.env };
  const settings = repositorySettings(files, given);
  const image = docker?.files ?? imageFiles(files);
  const dags = namedDags(settings, files, image) ?? dagsFolder;
  const requirements = readRequirements(root, files, wantedOf(root, docker, file ?? ''));
  const debian = [...new Set([...debianOf(files), ...(docker?.apt ?? [])])];
  const loaded = loadSettings(root, files);
  const major = docker?.airflowMajor ?? requirements.airflowMajor;
  const syntax = settings['AIRFLOW__CORE__DAG_IGNORE_FILE_SYNTAX'] ?? (major === 2 ? 'regexp' : 'glob');
  const { env, notes: envNotes } = environmentOf(given, file ?? startup?.file ?? '');
  const bundle = bundleOf({ root, dags, settings, image, localFolders: requirements.localFolders });
  const folders = [...bundle.import_roots.filter((name) => !name.includes('=')), 'include'];
  const ofImage = packagesOfImage({ root, base: docker ? docker.base : null, folders, files, requirements });
  const dependencies = [...loaded.project.dependencies, ...installList(requirements), ...ofImage];
  const systemPackages = [...new Set([...loaded.project.system_packages, ...debian])];
  const line = pythonLineOf(docker?.base);
  return {
    root,
    bundle,
    ignoreSyntax: syntax === 'regexp' ? 'regexp' : 'glob',
    requirements,
    ofImage,
    project: {
      ...loaded.project,
      ...(line !== undefined && !loaded.says('python_version') && { python_version: line }),
      dependencies,
      system_packages: systemPackages,
    } as RepositoryProject,
    hasSettings: loaded.isThere || dependencies.length + systemPackages.length > 0 || Object.keys(env).length > 0,
    hasAirflowImage: docker?.base !== undefined,
    env,
    settingsFiles: [
      ...requirements.files,
      'packages.txt',
      'airflow.cfg',
      '.env',
      SETTINGS_FILE,
      ...(file ? [file] : []),
      ...(startup ? [startup.file] : []),
    ],
    notes: [
      ...requirements.notes,
      ...(docker?.notes ?? []),
      ...(docker && docker.base === undefined ? [unreadBase(file ?? '')] : []),
      ...otherWorkdir(docker, file ?? ''),
      ...installedOfImage(ofImage, docker?.base, file ?? 'requirements.txt'),
      ...envNotes,
      ...missingSystemPackages(debian),
    ],
    problems: [...loaded.problems, ...files.refused.map(asProblem)],
  };
}

/** Where projects list what they need, when there is no requirements.txt (of Amazon MWAA: `requirements/requirements.txt`). */
const PROJECT_FILES = ['pyproject.toml', 'Pipfile', 'environment.yml', 'environment.yaml', 'setup.cfg'];

/**
 * The steps of the Dockerfile. What lies in the repository and is not installed by them comes first, as in the images of
 * Astronomer, which install requirements.txt by themselves (ONBUILD).
 */
function wantedOf(root: string, docker: ReadDockerfile | undefined, file: string): WantedStep[] {
  const steps = (docker?.steps ?? []).map(({ flags, lines }) => ({
    flags,
    items: lines.map(({ text, line }) => ({ kind: 'line' as const, text, at: { file, line, message: '' } })),
  }));
  const read = new Set(steps.flatMap(({ items }) => items.map(({ text }) => text)));
  const own = ['requirements.txt', 'requirements/requirements.txt', ...PROJECT_FILES].find((name) =>
    isFile(join(root, name)),
  );
  // A pyproject.toml next to a Dockerfile that installs packages is about tools more often than about the image.
  const constraints = isFile(join(root, 'constraints.txt'))
    ? [{ kind: 'constraints' as const, file: 'constraints.txt' }]
    : [];
  if (own === undefined && steps.length === 0) return [{ flags: [], items: constraints }];
  const isRead = own === undefined || read.has(`-r ${own}`) || (own !== 'requirements.txt' && steps.length > 0);
  if (isRead) return steps.map((step, at) => (at === 0 ? { ...step, items: [...step.items, ...constraints] } : step));
  return [{ flags: [], items: [{ kind: 'requirements', file: own }, ...constraints] }, ...steps];
}

/** In the order of Airflow: DAGs, configuration, plugins; then what images have beside them. */
function bundleOf(input: {
  root: string;
  dags: string;
  settings: Readonly<Record<string, string | undefined>>;
  image: ImageFiles;
  localFolders: readonly string[];
}): BundleSection {
  const { root, dags, settings, image, localFolders } = input;
  const there = (name: string | undefined): string[] =>
    name !== undefined && isFolder(join(root, name)) ? [name] : [];
  const setting = inHome(settings['AIRFLOW__CORE__PLUGINS_FOLDER']);
  const named = setting === '' ? undefined : image.place(setting);
  const plugins = there(named).length > 0 ? there(named) : there('plugins');
  const places = (settings['PYTHONPATH'] ?? '').split(':').filter((path) => /^[/$~{]/.test(path));
  const python = places.flatMap((path) => [...there(image.place(inHome(path))), ...importNames(inHome(path), image)]);
  const packages = isFile(join(root, 'pyproject.toml')) || isFile(join(root, 'setup.py')) ? there('src') : [];
  return {
    dags,
    import_roots: [...new Set([dags, ...there('config'), ...plugins, '.', ...packages, ...localFolders, ...python])],
    plugins,
  };
}

/** The DAGs folder that the settings name, relative to the repository. */
export function namedDags(
  settings: Readonly<Record<string, string | undefined>>,
  files: RepositoryFiles,
  image: ImageFiles,
): string | undefined {
  const path = inHome(settings['AIRFLOW__CORE__DAGS_FOLDER']).replace(/\/+$/, '');
  if (path === '') return undefined;
  const named = image.place(path);
  if (named !== undefined) return files.kindOf(named) === 'folder' ? named : undefined;
  // Mounted below another folder of the image: /opt/airflow/pkg/dags, where the repository itself is `pkg`.
  const name = posix.basename(path);
  if (files.kindOf(name) !== 'folder') return undefined;
  image.add({ to: posix.dirname(path), from: '.' });
  return name;
}

/** Settings may name Airflow's home by its variable. */
const inHome = (path = ''): string =>
  path.trim().replace(/^(?:\$\{?AIRFLOW_HOME\}?|\{AIRFLOW_HOME\}|~\/airflow|\$\{?PWD\}?)(?=\/|$)/, '/opt/airflow');

/**
 * A folder on the path that holds the repository itself: `/opt/airflow` when the image has the repository in `/opt/airflow/pkg`.
 * `pkg=.` makes it importable under the name that it has there.
 */
function importNames(path: string, image: ImageFiles): string[] {
  const folder = posix.join(path, '/');
  return image.copied.flatMap(({ to, from }) => {
    const name = to.startsWith(folder) ? to.slice(folder.length) : '';
    return /^[A-Za-z_]\w*(?:\/[A-Za-z_]\w*)*$/.test(name) && name !== from ? [`${name}=${from}`] : [];
  });
}

export const asProblem = ({ file, line, message, instead }: FileLimitError): RepositoryProblem => ({
  file,
  line,
  column: null,
  message,
  instead,
});

export const dockerfileOf = (files: RepositoryFiles, file: string): ReadDockerfile | undefined => {
  const text = files.text('dockerfile', file);
  return text === undefined ? undefined : files.within(() => readDockerfile(text, file, files));
};

const PACKAGES_FILE = 'packages.txt';

const debianOf = (files: RepositoryFiles): string[] =>
  (files.within(() => logicalLines(files.text('systemPackages', PACKAGES_FILE) ?? '', PACKAGES_FILE)) ?? []).flatMap(
    ({ text }) => text.split(' '),
  );

type Settings = {
  project: RepositoryProject;
  isThere: boolean;
  says(key: string): boolean;
  problems: Repository['problems'];
};

function loadSettings(root: string, files: RepositoryFiles): Settings {
  const text = files.text('project', SETTINGS_FILE);
  const says = (key: string): boolean => new RegExp(`^["']?${key}["']?\\s*:`, 'm').test(text ?? '');
  // The name of the repository is also that of its image.
  const name =
    basename(root)
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .replace(/^-+/, '')
      .slice(0, 200) || 'repository';
  const loaded = loadProject(text ?? '', name);
  const plain = loadProject('', name);
  if (!plain.ok) throw new Error(`the defaults of ${SETTINGS_FILE} are not valid`);
  const at = { file: SETTINGS_FILE, line: null, column: null };
  const foreign = OF_ONE_DAG.filter(says).map((key) => ({
    ...at,
    message: `${key} is about one DAG, and this file is about a whole repository: set it in the DAG file`,
  }));
  const problems = loaded.ok ? foreign : loaded.problems.map((problem) => ({ ...at, ...problem }));
  return { project: loaded.ok ? loaded.project : plain.project, isThere: text !== undefined, says, problems };
}

/** The image's Python is that of the environment only in images we build. */
function pythonLineOf(base = ''): PythonLine | undefined {
  const line = /-python-?(\d+\.\d+)/.exec(base)?.[1];
  return line !== undefined && Object.hasOwn(PYTHON_LINES, line) ? (line as PythonLine) : undefined;
}

/** What belongs to the machine, and what svc sets itself. */
const NOT_OURS_TO_SET =
  /^(?:PATH|HOME|USER|SHELL|LD_.*|PYTHON.*|PIP_.*|UV_.*|SVC_.*|AIRFLOW_HOME|AIRFLOW__CORE__(?:DAGS|PLUGINS)_FOLDER|AIRFLOW_CONFIG|DEBIAN_FRONTEND)$/;

/** Names that DAG files and tasks may be given. */
export const isForTasks = (name: string): boolean => !NOT_OURS_TO_SET.test(name);

function environmentOf(
  given: Readonly<Record<string, string>>,
  file: string,
): { env: Record<string, string>; notes: Note[] } {
  const names = Object.keys(given).filter(isForTasks);
  const secret = names.filter((name) => /^AIRFLOW_(?:CONN|VAR)_/.test(name) || isSensitiveName(name));
  const env = Object.fromEntries(
    names.filter((name) => !secret.includes(name)).map((name) => [name, given[name] ?? '']),
  );
  const message = `${secret.join(', ')} is not recorded, as everybody who may see a DAG would see it: keep it in a connection or variable ("svc import" makes them of AIRFLOW_CONN_ and AIRFLOW_VAR_)`;
  return { env, notes: secret.length === 0 ? [] : [{ file, line: null, message }] };
}

const unreadBase = (file: string): Note => ({
  file,
  line: null,
  message: 'is not read: its base is neither an image of Airflow nor one of Astronomer',
});

function installedOfImage(names: readonly string[], base: string | undefined, file: string): Note[] {
  if (names.length === 0) return [];
  const source = base === undefined ? 'which Airflow itself needs,' : `of the image ${base}`;
  const message = `${names.join(', ')} ${source} ${names.length === 1 ? 'is' : 'are'} imported, so svc installs ${names.length === 1 ? 'it' : 'them'} in the newest version. List a package in requirements.txt to choose its version`;
  return [{ file, line: null, message }];
}

/** Processes of the image start elsewhere than in Airflow's home. */
function otherWorkdir(docker: ReadDockerfile | undefined, file: string): Note[] {
  const folder = docker?.base === undefined ? undefined : docker.files.place(docker.workdir);
  if (folder === undefined || folder === '.') return [];
  const message = `WORKDIR is ${folder} of the repository, but files are opened relative to the repository itself`;
  return [{ file, line: null, message }];
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
