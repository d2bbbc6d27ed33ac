/** The installer (uv) of environments with a real Airflow, in an environment of its own. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from '../paths.ts';

export const BOOTSTRAP = join(CACHE, 'airflow-bootstrap');

export class InstallError extends Error {}

interface Step {
  readonly what: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly hint: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a step to its end. A failure says what to do. */
export const run = ({ what, command, args, hint, env = {} }: Step): string => {
  const result = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  if (result.error) throw new InstallError(`${what}: cannot run ${command}: ${result.error.message}. ${hint}`);
  if (result.status !== 0) {
    const tail = `${result.stdout}\n${result.stderr}`.trim().split('\n').slice(-15).join('\n  ');
    throw new InstallError(`${what} failed with exit code ${result.status}. ${hint}\n  ${tail}`);
  }
  return result.stdout.trim();
};

/** The path of uv, which is fetched first when it is missing. */
export const installerOf = (python: string): string => {
  const uv = join(BOOTSTRAP, 'bin', 'uv');
  if (existsSync(uv)) return uv;
  process.stdout.write('Fetching the installer (uv)\n');
  run({
    what: 'Creating the bootstrap environment',
    command: python,
    args: ['-m', 'venv', BOOTSTRAP],
    hint: 'On Debian the venv module is the package python3-venv.',
  });
  run({
    what: 'Installing uv',
    command: join(BOOTSTRAP, 'bin', 'pip'),
    args: ['install', '--quiet', 'uv'],
    hint: 'Is the Python package index reachable? Check pip.conf and proxy settings.',
  });
  return uv;
};
