/**
 * `svc check` over Airflow's own example DAGs and those of provider packages, from PyPI. Prints one JSON line per file that does
 * not load, with the reason, and one per package with the count: `node scripts/check-corpus.ts [package[==version] …]`.
 * Examples of providers are in their source archives only; of Airflow and the standard provider, in the wheel.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const CACHE = join(ROOT, '.cache', 'check-corpus');
const DEFAULT_PACKAGES = ['apache-airflow-core==3.2.2', 'apache-airflow-providers-standard'];
/** What examples import while they are loaded, and Airflow's own environment has. */
const AT_LOAD = ['httpx', 'requests'];
const MOST_OUTPUT = 256 * 1_024 * 1_024;

type Report = {
  totals: { files: number; loads: number; dags: number; runs_as_on_airflow: number; gone: number; fixable: number };
  files: { file: string; loads: boolean; problems: { line: number | null; message: string; instead: string }[] }[];
};

const print = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

async function pythonWithPackages(): Promise<string> {
  const folder = join(CACHE, 'environment');
  const python = join(folder, 'bin', 'python');
  if (existsSync(join(folder, 'complete'))) return python;
  await run('python3', ['-m', 'venv', '--clear', folder]);
  await run(python, ['-m', 'pip', 'install', '-q', '-r', join(ROOT, 'python', 'requirements.txt'), ...AT_LOAD]);
  writeFileSync(join(folder, 'complete'), '');
  return python;
}

/** The package unpacked, by the name asked for; from the source archive where the wheel has no examples. */
async function unpacked(python: string, name: string): Promise<string> {
  const folder = join(CACHE, name.replaceAll(/[^\w.-]+/g, '-'));
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

async function check(python: string, name: string): Promise<Report['totals']> {
  const folder = await unpacked(python, name);
  const examples = join(folder, 'examples');
  rmSync(examples, { recursive: true, force: true });
  for (const path of exampleFolders(join(folder, 'package'))) {
    // Airflow's examples import each other as airflow.example_dags; nothing else of the package may be beside them.
    cpSync(path, join(examples, 'dags', path.endsWith('system') ? 'system' : 'airflow/example_dags'), {
      recursive: true,
    });
  }
  const { stdout } = await run(join(ROOT, 'bin', 'svc'), ['check', examples, '--json'], {
    env: { ...process.env, SVC_PYTHON: python },
    maxBuffer: MOST_OUTPUT,
  }).catch((error: { stdout?: string }) => {
    // Exit code 1 says that a file does not load, and the report is there all the same.
    if (!error.stdout) throw error;
    return { stdout: error.stdout };
  });
  const { files, totals } = JSON.parse(stdout) as Report;
  for (const { file, loads, problems } of files) {
    const [problem] = problems;
    if (!loads)
      print({ package: name, file, line: problem?.line, message: problem?.message, instead: problem?.instead });
  }
  return totals;
}

const packages = process.argv.length > 2 ? process.argv.slice(2) : DEFAULT_PACKAGES;
const python = await pythonWithPackages();
let files = 0;
let loads = 0;
for (const name of packages) {
  const totals = await check(python, name);
  files += totals.files;
  loads += totals.loads;
  print({
    package: name,
    files: totals.files,
    loads: totals.loads,
    dags: totals.dags,
    as_on_airflow: totals.runs_as_on_airflow,
  });
}
print({
  packages: packages.length,
  files,
  loads,
  loads_percent: Math.round((loads / Math.max(files, 1)) * 1_000) / 10,
});
