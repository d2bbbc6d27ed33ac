/**
 * The example DAGs of Airflow and of provider packages, from PyPI, as a repository of their own: unpacked once into the cache.
 * Examples of providers are in their source archives only; of Airflow and the standard provider, in the wheel.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CACHE, ROOT } from '../paths.ts';
import type { AirflowVersion } from './airflow-processes.ts';

const run = promisify(execFile);
const FOLDER = join(CACHE, 'check-corpus');
/** What examples import while they are loaded, and Airflow's own environment has. */
const AT_LOAD = ['httpx', 'requests'];

export const CORE_PACKAGE = 'apache-airflow-core';
export const CORE_EXAMPLES = `${CORE_PACKAGE}==3.2.2`;
export const NEWER_CORE_EXAMPLES = `${CORE_PACKAGE}==3.3.2`;
export const STANDARD_EXAMPLES = 'apache-airflow-providers-standard==1.21.0';

/** The packages whose example DAGs are compared, and the version of Airflow that runs them. */
export const EXAMPLE_PACKAGES: Readonly<Record<string, AirflowVersion>> = {
  [CORE_EXAMPLES]: '3.2.2',
  [STANDARD_EXAMPLES]: '3.2.2',
  [NEWER_CORE_EXAMPLES]: '3.3.2',
};

/** The interpreter of an environment with what the examples import. */
export async function pythonForExamples(): Promise<string> {
  const folder = join(FOLDER, 'environment');
  const python = join(folder, 'bin', 'python');
  const requirements = join(ROOT, 'python', 'requirements.txt');
  const wanted = [readFileSync(requirements, 'utf8'), ...AT_LOAD].join('\n');
  const complete = join(folder, 'complete');
  if (existsSync(complete) && readFileSync(complete, 'utf8') === wanted) return python;
  await run('python3', ['-m', 'venv', '--clear', folder]);
  await run(python, ['-m', 'pip', 'install', '-q', '-r', requirements, ...AT_LOAD]);
  writeFileSync(complete, wanted);
  return python;
}

/** The folder of a repository whose `dags/` has the examples of `name`, a requirement as pip reads it. */
export async function exampleRepository({ python, name }: { python: string; name: string }): Promise<string> {
  const folder = await unpacked(python, name);
  const examples = join(folder, 'examples');
  // Never made anew: others may be running them.
  if (existsSync(examples)) return examples;
  const draft = `${examples}.${process.pid}`;
  for (const path of exampleFolders(join(folder, 'package'))) {
    // Airflow's examples import each other as airflow.example_dags; nothing else of the package may be beside them.
    cpSync(path, join(draft, 'dags', path.endsWith('system') ? 'system' : 'airflow/example_dags'), { recursive: true });
  }
  renameSync(draft, examples);
  return examples;
}

/** The package unpacked, by the name asked for; from the source archive where the wheel has no examples. */
async function unpacked(python: string, name: string): Promise<string> {
  const folder = join(FOLDER, name.replaceAll(/[^\w.-]+/g, '-'));
  if (existsSync(join(folder, 'complete'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  const archives = join(folder, 'archives');
  mkdirSync(archives, { recursive: true });
  const download = ['-m', 'pip', 'download', '-q', '--no-deps', '--disable-pip-version-check', '-d', archives, name];
  await run(python, download);
  await unpackAll(archives, join(folder, 'package'));
  if (exampleFolders(join(folder, 'package')).length === 0) {
    await run(python, [...download, '--no-binary', ':all:']);
    await unpackAll(archives, join(folder, 'package'));
  }
  writeFileSync(join(folder, 'complete'), '');
  return folder;
}

async function unpackAll(archives: string, target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  for (const file of readdirSync(archives)) {
    const path = join(archives, file);
    if (file.endsWith('.whl')) await run('python3', ['-m', 'zipfile', '-e', path, target]);
    else await run('tar', ['-xzf', path, '-C', target]);
  }
}

/** `airflow/example_dags` of Airflow, `example_dags` of the standard provider, `tests/system/<provider>` of the others. */
function exampleFolders(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => /\/(?:airflow|standard)\/example_dags$|\/tests\/system$/.test(path));
}
