/**
 * Packages that come with Airflow: those that Airflow itself needs, and those that are part of its official images. A
 * repository imports them without listing them. Only those that its files import are installed, because all of them would
 * take minutes.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readTextFile } from '@svc/spec/files/read-text.ts';
import { packageOf } from '../outside-packages.ts';
import type { RepositoryFiles } from './repository-files.ts';
import { normalName } from './requirement-line.ts';
import type { Requirements } from './requirements.ts';

/** Airflow itself needs them, so they are wherever Airflow is. */
const OF_AIRFLOW =
  'aiohttp attrs certifi cloudpickle croniter cryptography deprecated dill fastapi fsspec httpx jsonschema markdown msgspec ' +
  'opentelemetry-api packaging pathspec psutil pydantic PyJWT PyYAML python-slugify requests rich sqlalchemy starlette tabulate ' +
  'tenacity termcolor typing-extensions universal-pathlib urllib3 uvicorn';
/** In every image but the slim ones: their providers need them. */
const OF_PROVIDERS =
  'asyncpg azure-identity azure-storage-blob boto3 botocore celery docker elasticsearch gcsfs google-auth google-cloud-bigquery ' +
  'google-cloud-pubsub google-cloud-secret-manager google-cloud-storage grpcio hvac kubernetes mysql-connector-python numpy pandas ' +
  'paramiko protobuf psycopg2-binary pyarrow pyodbc pytz redis s3fs sendgrid slack-sdk snowflake-connector-python sshtunnel statsd';

const OFFICIAL = /(?:^|\/)(?:apache\/airflow|astro-runtime)\b/;

const named = (list: string): string[] => list.split(' ').map(normalName);
const MOST_FILES = 5_000;
/** Deeper folders hold no modules of a repository. */
const MOST_LEVELS = 10;
const SKIPPED = /^(?:\.|__pycache__$|node_modules$|site-packages$|venv$|tests?$)/;
const IMPORT = /^[ \t]*(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b|import[ \t]+([A-Za-z_][\w., \t]*))/gm;

/**
 * Packages that the repository imports and does not list, sorted. `base`: the image of its Dockerfile, or undefined if it is no
 * image of Airflow; `null` if the repository has no Dockerfile.
 */
export function packagesOfImage(input: {
  root: string;
  base: string | null | undefined;
  folders: readonly string[];
  files: RepositoryFiles;
  requirements: Requirements;
}): string[] {
  const { root, base, folders, files, requirements } = input;
  if (base !== null && !OFFICIAL.test(base ?? '')) return [];
  const hasProviders = base !== null && !/:slim-/.test(base ?? '');
  const brought = new Set([...named(OF_AIRFLOW), ...(hasProviders ? named(OF_PROVIDERS) : [])]);
  const listed = new Set(requirements.packages.map(({ name }) => name));
  const found = new Set<string>();
  for (const file of pythonFiles(root, folders)) {
    for (const module of importedBy(textOf(join(root, file)))) {
      const name = normalName(packageOf(module));
      if (!brought.has(name) || listed.has(name) || found.has(name)) continue;
      const top = module.split('.', 1)[0] ?? module;
      const isOwn = folders.some(
        (folder) => files.kindOf(join(folder, top)) ?? files.kindOf(join(folder, `${top}.py`)),
      );
      if (!isOwn) found.add(name);
    }
  }
  return [...found].sort();
}

function* importedBy(text: string): Generator<string, void> {
  for (const [, from, names = ''] of text.matchAll(IMPORT)) {
    if (from !== undefined) yield from;
    else for (const name of names.split(',')) yield name.trim().split(/\s/, 1)[0] ?? '';
  }
}

/** Returns an empty text for a file that is too large for a DAG file, or unreadable: the compiler reports both. */
function textOf(path: string): string {
  try {
    return readTextFile('dagFile', path, path, 'latin1');
  } catch {
    return '';
  }
}

function pythonFiles(root: string, folders: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (folder: string, levels: number): void => {
    for (const entry of entriesOf(join(root, folder))) {
      if (found.size >= MOST_FILES || SKIPPED.test(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && levels > 0) visit(path, levels - 1);
      else if (entry.isFile() && entry.name.endsWith('.py')) found.add(path);
    }
  };
  for (const folder of folders) visit(folder, folder === '.' ? 0 : MOST_LEVELS);
  return [...found].sort();
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
