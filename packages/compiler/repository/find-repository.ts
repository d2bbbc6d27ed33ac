/** Which folders are Airflow repositories, and which one a path lies in. */
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { IGNORE_FILE } from './ignore-rules.ts';
import { imageFiles } from './image-files.ts';
import { dockerfileOf, namedDags, readRepository } from './repository.ts';
import type { Repository } from './repository.ts';
import { repositoryFiles } from './repository-files.ts';
import type { RepositoryFiles } from './repository-files.ts';
import { looksLikeDagFile } from './dag-file.ts';
import { repositorySettings } from './settings.ts';

const DAGS = 'dags';
/** Beside a folder `dags/` nobody has these by accident. */
const MARKS = [
  'airflow.cfg',
  'airflow_settings.yaml',
  'config',
  'include',
  'packages.txt',
  'plugins',
  'pyproject.toml',
  'requirements.txt',
];
/** In a folder that has its DAG files directly. */
const FLAT_MARKS = [IGNORE_FILE, 'airflow.cfg', 'airflow_settings.yaml', 'packages.txt', 'plugins', 'requirements.txt'];
/** Files that may name the DAGs folder. */
const SETTINGS = ['airflow.cfg', 'Dockerfile', '.env'];
const MOST_LEVELS = 12;

/** Undefined when the folder is none. */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  const names = new Set(await readdir(folder).catch(() => []));
  if (names.has('dag.py')) return undefined;
  const files = repositoryFiles(folder);
  if (names.has('svc.yaml') && namesDagFile(files)) return undefined;
  const named = SETTINGS.some((name) => names.has(name)) ? dagsBySettings(files) : undefined;
  if (named !== undefined && named !== '.' && named !== DAGS) return readRepository(folder, named, files);
  if (names.has(DAGS) && (await isFolder(join(folder, DAGS)))) {
    const isOne =
      MARKS.some((mark) => names.has(mark)) || names.has('svc.yaml') || (await holdsDags(join(folder, DAGS)));
    return isOne || isAirflowImage(files) ? readRepository(folder, DAGS, files) : undefined;
  }
  if (names.has('svc.yaml')) return undefined;
  const isFlat = FLAT_MARKS.some((mark) => names.has(mark)) || isAirflowImage(files);
  return isFlat && hasDagFile(folder, names) ? readRepository(folder, '.', files) : undefined;
}

/** The repository in whose DAGs folder the path lies; undefined for the root itself. */
export async function enclosingRepository(path: string): Promise<Repository | undefined> {
  let folder = dirname(path);
  for (let level = 0; level < MOST_LEVELS && folder !== dirname(folder); level += 1, folder = dirname(folder)) {
    const found = await findRepository(folder);
    if (!found) continue;
    return (path + sep).startsWith(join(folder, found.bundle.dags) + sep) ? found : undefined;
  }
  return undefined;
}

/** As opposed to a folder of projects that happens to be called dags. */
async function holdsDags(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  if (entries.some(({ name }) => name === IGNORE_FILE || /\.(py|zip)$/.test(name))) return true;
  const folders = entries.filter((entry) => entry.isDirectory());
  const projects = await Promise.all(
    folders.map(async ({ name }) =>
      (await readdir(join(folder, name)).catch(() => [])).some((file) => file === 'svc.yaml' || file === 'dag.py'),
    ),
  );
  return folders.length > 0 && !projects.includes(true);
}

const namesDagFile = (files: RepositoryFiles): boolean =>
  /^["']?dag_source["']?\s*:/m.test(files.text('project', 'svc.yaml') ?? '');

/** Another place than dags/: its settings say where. */
function dagsBySettings(files: RepositoryFiles): string | undefined {
  const docker = dockerfileOf(files, 'Dockerfile');
  const settings = repositorySettings(files, docker?.env ?? {});
  return namedDags(settings, files, docker?.files ?? imageFiles(files));
}

const isAirflowImage = (files: RepositoryFiles): boolean => dockerfileOf(files, 'Dockerfile')?.base !== undefined;

function hasDagFile(folder: string, names: ReadonlySet<string>): boolean {
  for (const name of names) {
    if (!name.endsWith('.py')) continue;
    if (looksLikeDagFile(join(folder, name), { ifUnreadable: false })) return true;
  }
  return false;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
