/**
 * The example DAGs of provider packages, from the source archives of the very versions that our tests run (providers/requirements.txt),
 * as one repository: `dags/system/<provider>/…` as their authors lay them out, and beside them what they import of the tests of
 * Airflow's repository. Unpacked once into the cache.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from '../paths.ts';

const PROVIDERS = join(import.meta.dirname, '..', 'providers');
const HELPERS = join(import.meta.dirname, 'helpers');
const DOWNLOAD =
  'download --quiet --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation --dest'.split(' ');
/** Source archives are asked what they are by what would build them. */
const BUILDS_ARCHIVES = 'flit_core==3.12.0';

/** Of the packages with examples: smtp, ssh and common.compat have none. */
const WITH_EXAMPLES =
  'amazon common-io common-sql dbt-cloud ftp google http papermill postgres redis sftp slack sqlite';

const pins = (): string[] =>
  readFileSync(join(PROVIDERS, 'requirements.txt'), 'utf8')
    .split('\n')
    .filter((line) => WITH_EXAMPLES.split(' ').some((name) => line.startsWith(`apache-airflow-providers-${name}==`)));

/** The folder of the DAG files; paths of examples are relative to it. */
export function providerExamples(): string {
  const kept = join(CACHE, 'provider-example-repository', digest());
  if (!existsSync(kept)) {
    const draft = `${kept}.${process.pid}`;
    rmSync(draft, { recursive: true, force: true });
    for (const source of sources(join(draft, 'archives')))
      cpSync(join(source, 'tests', 'system'), join(draft, 'dags', 'system'), { recursive: true });
    for (const path of globSync('**/{conftest.py,tests}', { cwd: join(draft, 'dags') }))
      rmSync(join(draft, 'dags', path), { recursive: true, force: true }); // of pytest, which is in neither environment
    cpSync(join(PROVIDERS, 'tests_common'), join(draft, 'dags', 'tests_common'), { recursive: true });
    cpSync(HELPERS, join(draft, 'dags', 'system'), { recursive: true });
    rmSync(join(draft, 'archives'), { recursive: true });
    renameSync(draft, kept);
  }
  return join(kept, 'dags');
}

/** Every example there is, by path. */
export const exampleFiles = (dags: string): string[] => globSync('system/**/example_*.py', { cwd: dags }).toSorted();

/** Of the versions, and of what we lay beside them. */
function digest(): string {
  const hash = createHash('sha256').update(pins().join('\n'));
  for (const folder of [join(PROVIDERS, 'tests_common'), HELPERS, import.meta.filename])
    for (const path of folder.endsWith('.ts') ? [folder] : globSync(`${folder}/**/*.py`).toSorted())
      hash.update(path.slice(folder.length)).update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}

function sources(folder: string): string[] {
  const tools = join(folder, 'tools');
  mkdirSync(folder, { recursive: true });
  execFileSync(process.env['PYTHON'] ?? 'python3', ['-m', 'venv', tools]);
  const pip = join(tools, 'bin', 'pip');
  execFileSync(pip, ['install', '--quiet', '--disable-pip-version-check', BUILDS_ARCHIVES]);
  execFileSync(pip, [...DOWNLOAD, folder, ...pins()]);
  for (const archive of globSync('*.tar.gz', { cwd: folder }))
    execFileSync('tar', ['-xzf', join(folder, archive), '-C', folder]);
  return readdirSync(folder)
    .filter((name) => name.startsWith('apache_airflow_providers_') && !name.endsWith('.tar.gz'))
    .map((name) => join(folder, name));
}
