// The build file of a DAG image, made from svc.yaml. It is pure.
//
// Nothing from svc.yaml may become a line, an instruction, a shell word or a variable. Three rules ensure this:
//
// 1. Free text (dependencies, paths) is only an ASCII element of a JSON array. A builder neither splits such an array,
//   nor searches it for here-documents, nor passes it to a shell.
// 2. Text that a builder interprets even there ($ and wildcards in COPY) or cannot hold (half a surrogate pair, NUL) is
//   refused with the name of its key.
// 3. Everything else is matched against a pattern here as well, whatever the loader of svc.yaml has already accepted.
import { posix } from 'node:path';
import { DEFAULT_BASE_REPOSITORY, baseImageName } from '@svc/spec/project/base-images.ts';
import { connectorPackages } from '@svc/spec/project/connectors.ts';
import type { ProjectFile } from '@svc/spec/project/schema.ts';
import { usageError } from '../cli-error.ts';

export type Project = ProjectFile & { dag_id: string };

export type BuildFileInput = {
  readonly project: Project;
  /**
   * Project directories of the DAG's task groups, relative to the DAG directory. `whole` if one of them is the DAG
   * directory.
   */
  readonly groupDirectories: readonly string[] | 'whole';
  /**
   * A repository is copied whole, and its packages are installed without Airflow. Its variables are part of every
   * version.
   */
  readonly isRepository?: boolean | undefined;
  /** True if svc.yaml alone defines the DAG (`dbt:`), so there is no file to copy. */
  readonly hasNoSource?: boolean | undefined;
  /** The version of svc, because every release has its base images. */
  readonly version: string;
  /** The repository of base images, if it is not the default. */
  readonly baseRepository?: string | undefined;
};

/** A user id that no host uses. It is a number, because Kubernetes cannot tell whether a user name is root. */
export const TASK_USER = '10001:10001';

/** The folder of the DAG in its image, and the working directory of its tasks. */
export const DAG_DIRECTORY = '/opt/svc/dag';

/** The limit of Linux. */
const MAX_PATH = 4_096;

/**
 * Linux allows about 2 MiB of arguments and environment for one process. Half of it leaves room for the environment.
 */
const MAX_ARGUMENT_BYTES = 1_048_576;

/**
 * The names arrive as "$@". Without Pattern-Only, apt reads an unknown name as a regular expression and installs every
 * package that matches.
 */
const APT_SCRIPT = [
  'set -e',
  'export DEBIAN_FRONTEND=noninteractive',
  'apt-get update',
  'apt-get install -y --no-install-recommends -o APT::Cmd::Pattern-Only=true -- "$@"',
  'rm -rf /var/lib/apt/lists/*',
].join('; ');

export function renderBuildFile(input: BuildFileInput): string {
  const { project } = input;
  const lines = [
    // This line also ends the part of the file in which `# escape=` and `# syntax=` have a meaning.
    '# Made by svc for one build and removed after it.',
    `FROM ${baseImage(input)}`,
    'USER 0:0',
    ...systemPackages(project),
    ...pythonPackages(project, input.isRepository === true),
    `WORKDIR ${DAG_DIRECTORY}`,
    ...copies(input),
    `USER ${TASK_USER}`,
    labels(project),
    'ENTRYPOINT ["svc-agent"]',
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the base of a DAG image: the project's own, unchanged, or ours for its Python line. */
export function baseImage(input: Pick<BuildFileInput, 'project' | 'version' | 'baseRepository'>): string {
  const { project, version, baseRepository = DEFAULT_BASE_REPOSITORY } = input;
  return project.base_image === undefined
    ? matching('base image', baseImageName(baseRepository, project.python_version, version), IMAGE)
    : matching('base_image', project.base_image, IMAGE);
}

function systemPackages({ system_packages: names }: Project): string[] {
  if (names.length === 0) return [];
  const checked = names.map((name, index) => {
    const key = `system_packages[${index}]`;
    if (name.endsWith('-')) {
      throw usageError(`${key} is ${JSON.stringify(name)}: apt would remove a package whose name ends with "-"`);
    }
    return matching(key, name, DEBIAN_PACKAGE);
  });
  return [run('system_packages', ['sh', '-c', APT_SCRIPT, 'sh'], checked)];
}

/**
 * Packages of a repository may depend on Airflow, so our installer is used, which omits it. All our base images contain
 * the installer.
 */
function pythonPackages({ dependencies, connectors }: Project, leavesOutAirflow: boolean): string[] {
  const given = dependencies.map((text, index) => literal(`dependencies[${index}]`, text));
  const fromConnectors = connectorPackages(connectors)
    .map((text) => literal('connectors', text))
    .filter((name) => !given.includes(name));
  const packages = [...given, ...fromConnectors];
  if (packages.length === 0) return [];
  const installer = leavesOutAirflow
    ? ['-m', 'svc_runtime.install_packages']
    : ['-m', 'pip', 'install', '--no-cache-dir'];
  return [run('dependencies', ['python', ...installer, '--'], packages)];
}

/**
 * Copies only the DAG file and what its groups need. The task user owns them, because transformation tools write next
 * to their project.
 */
function copies({ project, groupDirectories, isRepository, hasNoSource }: BuildFileInput): string[] {
  if (isRepository) return [copy('.')];
  const dagSource = insidePath('dag_source', project.dag_source);
  if (dagSource === '.' || project.dag_source.endsWith('/')) {
    throw usageError(`dag_source is ${JSON.stringify(project.dag_source)}: name the DAG file, such as dag.py`);
  }
  const directories =
    groupDirectories === 'whole'
      ? ['.']
      : groupDirectories.map((path) => insidePath('the project of a task group', path));
  if (directories.includes('.')) return [copy('.')];
  return [...new Set([...(hasNoSource ? [] : [dagSource]), ...directories])].map(copy);
}

/**
 * Returns files that dbt writes into its projects and that are not part of them. `directories` is as for
 * `groupDirectories`.
 */
export function leftoversOf(directories: readonly string[]): string[] {
  // Each pattern starts with a slash, because models may be in a folder named logs.
  return directories.flatMap((path) => {
    const folder = posix.normalize(path).replace(/\/+$/, '');
    return ['target', 'logs', '.user.yml'].map((name) => `${folder === '.' ? '' : folder}/${name}`);
  });
}

function copy(path: string): string {
  // The leading ./ keeps a name from being read as a flag or a URL.
  const [from, to] = path === '.' ? ['./', `${DAG_DIRECTORY}/`] : [`./${path}`, `${DAG_DIRECTORY}/${path}`];
  return `COPY --chown=${TASK_USER} ${jsonArray([from, to])}`;
}

function labels(project: Project): string {
  const dagId = matching('dag_id', project.dag_id, DAG_ID);
  const schemaVersion = matching('schema_version', project.schema_version, SCHEMA_VERSION);
  return `LABEL svc.dag_id="${dagId}" svc.schema_version="${schemaVersion}"`;
}

function run(key: string, command: readonly string[], values: readonly string[]): string {
  const bytes = values.reduce((sum, value) => sum + Buffer.byteLength(value) + 1, 0);
  if (bytes > MAX_ARGUMENT_BYTES) {
    throw usageError(
      `${key} adds up to ${bytes} bytes, more than one command takes (${MAX_ARGUMENT_BYTES})`,
      'Build a base image that has them and name it in base_image.',
    );
  }
  return `RUN ${jsonArray(command, values)}`;
}

const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._/:@-]*$/;
const DEBIAN_PACKAGE = /^[a-z0-9][a-z0-9+.-]*(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?$/;
const DAG_ID = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,199}$/;
const SCHEMA_VERSION = /^\d+\.\d+$/;

function matching(key: string, value: string, pattern: RegExp): string {
  if (pattern.test(value)) return value;
  throw usageError(`${key} is ${JSON.stringify(value)}, which does not match ${pattern.source}`);
}

/** Returns text that reaches a process unchanged as one argument. */
function literal(key: string, value: string): string {
  if (/[\r\n\u0085\u2028\u2029]/.test(value)) throw usageError(`${key} must not contain a line break`);
  if (value === '' || value.includes('\0') || !value.isWellFormed()) {
    throw usageError(`${key} is ${JSON.stringify(value)}, which no program can be given as an argument`);
  }
  return value;
}

function insidePath(key: string, value: string): string {
  literal(key, value);
  const path = posix.normalize(value).replace(/\/+$/, '');
  if (posix.isAbsolute(path) || path.split('/').includes('..')) {
    throw usageError(`${key} is ${JSON.stringify(value)}: it must lie inside the DAG directory`);
  }
  if (path.length > MAX_PATH) throw usageError(`${key} is ${path.length} characters long; ${MAX_PATH} is the most`);
  const special = /[$*?[\]\\]/.exec(path)?.[0];
  if (special !== undefined) {
    throw usageError(
      `${key} is ${JSON.stringify(value)}: container tools give ${special} in a path a meaning of its own`,
      `Rename it without ${special}.`,
    );
  }
  return path === '' ? '.' : path;
}

/**
 * Writes one value per line, because BuildKit refuses lines beyond 65,535 bytes. It writes only ASCII and no `<<`, so
 * that even a builder that searches for here-documents first finds none.
 */
function jsonArray(words: readonly string[], values: readonly string[] = []): string {
  return `[${[words.map(jsonText).join(', '), ...values.map(jsonText)].join(', \\\n  ')}]`;
}

const jsonText = (value: string): string =>
  JSON.stringify(value)
    .replaceAll('<<', String.raw`<\u003c`)
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
