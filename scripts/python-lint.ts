// Checks the Python side: ruff (rules and format), then mypy. The settings are in python/pyproject.toml, the versions in
// python/requirements-dev.txt; they are installed into .cache/ the first time.
//
//   node scripts/python-lint.ts         # says what is wrong
//   node scripts/python-lint.ts --fix   # formats, and repairs what ruff can repair safely

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { VirtualEnvironmentError, virtualEnvironment } from '@svc/testing/virtual-environment.ts';

const PYTHON = join(import.meta.dirname, '..', 'python');
const REQUIREMENTS = ['requirements.txt', 'requirements-dev.txt'].map((name) => join(PYTHON, name));

const MYPY = ['mypy', '--no-error-summary'];
const CHECKS = [['ruff', 'check', '--quiet'], ['ruff', 'format', '--check', '--quiet'], MYPY];
const REPAIRS = [['ruff', 'check', '--quiet', '--fix'], ['ruff', 'format', '--quiet'], MYPY];

/** Runs all of them, whatever the first ones find. */
function lint(python: string, commands: readonly (readonly string[])[]): boolean {
  const results = commands.map((args) => spawnSync(python, ['-m', ...args], { cwd: PYTHON, stdio: 'inherit' }));
  return results.every(({ status }) => status === 0);
}

try {
  const python = await virtualEnvironment({ name: 'python-lint', requirements: REQUIREMENTS });
  if (!lint(python, process.argv.includes('--fix') ? REPAIRS : CHECKS)) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof VirtualEnvironmentError)) throw error;
  process.stderr.write(`python-lint: ${error.message}\n`);
  process.exitCode = 1;
}
