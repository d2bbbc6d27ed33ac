// Makes the wheel of the package `svc-airflow` in dist/: what DAG files import, for editors, tests and scripts, with the
// engine of `dag.test()` as one file.
//
//   node scripts/build-wheel.ts

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { wheelEnvironment } from '@svc/testing/wheel-environment.ts';

const ROOT = join(import.meta.dirname, '..');
const PYTHON = join(ROOT, 'python');
const ENGINE = join(ROOT, 'packages/server/engine/single-run/main.ts');
const PACKAGES = ['airflow', 'cosmos', 'svc', 'svc_runtime'];

/** Returns the path of the wheel. `directory` is where it goes. */
export async function buildWheel(directory: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), 'svc-wheel-'));
  try {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const name of PACKAGES) {
      cpSync(join(PYTHON, name), join(stage, name), { recursive: true, filter: isSource });
      writeFileSync(join(stage, name, 'py.typed'), '');
    }
    cpSync(join(ROOT, 'LICENSE'), join(stage, 'LICENSE'));
    cpSync(join(ROOT, 'docs/testing.md'), join(stage, 'README.md'));
    const project = readFileSync(join(PYTHON, 'pyproject.toml'), 'utf8').replace(/^version = "0".*$/m, () => '');
    writeFileSync(
      join(stage, 'pyproject.toml'),
      project.replace('[project]\n', () => `[project]\nversion = "${version}"\nreadme = "README.md"\n`),
    );
    await bundleEngine(join(stage, 'svc_runtime/dag_test/engine.mjs'));
    const python = await wheelEnvironment();
    execFileSync(python, [join(PYTHON, 'make_stubs.py'), stage], { stdio: ['ignore', 'ignore', 'inherit'] });
    mkdirSync(directory, { recursive: true });
    const options = ['--no-deps', '--no-build-isolation', '--disable-pip-version-check', '--quiet', '-w', directory];
    execFileSync(python, ['-m', 'pip', 'wheel', ...options, stage], { stdio: ['ignore', 'ignore', 'inherit'] });
    return join(directory, `svc_airflow-${version}-py3-none-any.whl`);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

const isSource = (path: string): boolean => basename(path) !== '__pycache__';

async function bundleEngine(file: string): Promise<void> {
  const { build } = await import('rolldown');
  await build({
    input: ENGINE,
    platform: 'node',
    output: { file, format: 'esm', codeSplitting: false, minify: true },
    logLevel: 'warn',
  });
}

if (import.meta.main) console.log(await buildWheel(join(ROOT, 'dist')));
