// Compiles the example DAGs of provider packages, as their source packages have them, and prints one JSON line for each file that
// does not compile, one for each package and one for all. Files that import helpers of the tests of Airflow's repository, which no
// package has, are counted apart (`needs_test_helpers`): no user can have them.
//
//   node scripts/provider-examples.ts <python> [package …]      # http amazon …; without any, those in PACKAGES
//
// <python>: the interpreter whose environment counts; where a provider is not installed in it, its classes are recorded.
// Source packages are downloaded once, into .cache/provider-examples (a reachable package index is needed).

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CACHE, ROOT } from '@svc/testing/paths.ts';

const PACKAGES =
  'amazon cncf-kubernetes common-io common-sql databricks dbt-cloud docker ftp google http microsoft-azure mongo mysql openlineage papermill postgres redis sftp slack smtp snowflake sqlite ssh standard';
const FOLDER = join(CACHE, 'provider-examples');
const DOWNLOAD =
  'download --quiet --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation --dest'.split(' ');

type Example = { package: string; file: string; ok: boolean; message?: string };

/** Top-level packages of the repository's tests. Others, pytest too, a user can install. */
const TEST_HELPERS = /No module named '(?:system|tests_common)\b/;
const needsTestHelpers = ({ ok, message = '' }: Example): boolean => !ok && TEST_HELPERS.test(message);

/** Unpacked; the newest that is there already, or else that of the index. */
function sourceOf(name: string): string {
  const prefix = `apache_airflow_providers_${name.replaceAll('-', '_')}-`;
  const there = () =>
    readdirSync(FOLDER)
      .filter((entry) => entry.startsWith(prefix))
      .toSorted();
  mkdirSync(FOLDER, { recursive: true });
  if (there().length === 0) {
    const tools = join(FOLDER, 'tools');
    const pip = join(tools, 'bin', 'pip');
    if (!existsSync(pip)) {
      execFileSync(process.env['PYTHON'] ?? 'python3', ['-m', 'venv', tools]);
      execFileSync(pip, ['install', '--quiet', '--disable-pip-version-check', 'flit_core==3.12.0']);
    }
    execFileSync(pip, [...DOWNLOAD, FOLDER, `apache-airflow-providers-${name}`]);
    const archive = join(FOLDER, there().find((entry) => entry.endsWith('.tar.gz')) ?? '');
    execFileSync('tar', ['-xzf', archive, '-C', FOLDER]);
  }
  return join(FOLDER, there().find((entry) => !entry.endsWith('.tar.gz')) ?? '');
}

async function compile(python: string, folders: readonly string[]): Promise<Example[]> {
  const script = join(ROOT, 'packages', 'testing', 'providers', 'compile_examples.py');
  const env = { ...process.env, PYTHONPATH: join(ROOT, 'python'), PYTHONHASHSEED: '0' };
  const child = spawn(python, [script, ...folders], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const found: Example[] = [];
  for await (const line of createInterface(child.stdout)) {
    const example = JSON.parse(line) as Example;
    found.push(example);
    if (!example.ok && !needsTestHelpers(example)) process.stdout.write(`${line}\n`);
  }
  return found;
}

const [python, ...named] = process.argv.slice(2);
if (python === undefined) {
  process.stderr.write('usage: node scripts/provider-examples.ts <python> [package …]\n');
  process.exitCode = 2;
} else {
  const names = named.length > 0 ? named : PACKAGES.split(' ');
  const examples = await compile(python, names.map(sourceOf));
  const figure = (what: object, some: readonly Example[]) => {
    const apart = some.filter(needsTestHelpers).length;
    const counts = {
      files: some.length - apart,
      compiled: some.filter(({ ok }) => ok).length,
      needs_test_helpers: apart,
    };
    process.stdout.write(`${JSON.stringify({ ...what, ...counts })}\n`);
  };
  for (const [name, some] of Map.groupBy(examples, (example) => example.package)) figure({ package: name }, some);
  figure({ package: 'all' }, examples);
}
