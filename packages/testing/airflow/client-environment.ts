// Builds .cache/client-venv: a Python environment with the official client of the Airflow API, which a test calls every
// endpoint with. Safe to call from several processes at once; does nothing when it is there.
//
//   node packages/testing/airflow/client-environment.ts # prints the path of its interpreter
//
// Needs Python 3.10 or newer (PYTHON names another interpreter) and, the first time, a reachable package index.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CACHE } from '../paths.ts';

const REQUIREMENTS = join(import.meta.dirname, 'python-client', 'requirements.txt');
const TARGET = join(CACHE, 'client-venv');
const STAMP = 'complete.txt';
/** Package indexes have bad moments; the pauses between tries grow. */
const TRIES = 4;
const FIRST_PAUSE_MS = 2_000;

export class ClientEnvironmentError extends Error {}

/** The interpreter of the environment, which is built first when it is missing or made for other requirements. */
export async function clientEnvironment(): Promise<string> {
  const requirements = readFileSync(REQUIREMENTS, 'utf8');
  if (readIfThere(join(TARGET, STAMP)) !== requirements) await build(requirements);
  return join(TARGET, 'bin', 'python');
}

/** Under another name first, and renamed when complete: nobody ever sees half of it. */
async function build(requirements: string): Promise<void> {
  const unfinished = `${TARGET}-${process.pid}`;
  mkdirSync(CACHE, { recursive: true });
  try {
    run('making the environment', process.env['PYTHON'] ?? 'python3', ['-m', 'venv', '--clear', unfinished]);
    await install(join(unfinished, 'bin', 'python'));
    writeFileSync(join(unfinished, STAMP), requirements);
    if (readIfThere(join(TARGET, STAMP)) === requirements) return; // another process was faster
    rmSync(TARGET, { recursive: true, force: true });
    renameSync(unfinished, TARGET);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function install(python: string): Promise<void> {
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', REQUIREMENTS];
  for (let attempt = 1; ; attempt += 1) {
    try {
      run('installing the official client', python, args);
      return;
    } catch (error) {
      if (attempt === TRIES) throw error;
      await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function run(what: string, command: string, args: readonly string[]): void {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  if (result.error) throw new ClientEnvironmentError(`${what}: cannot run ${command}: ${result.error.message}`);
  if (result.status !== 0) {
    const tail = `${result.stdout}\n${result.stderr}`.trim().split('\n').slice(-10).join('\n  ');
    throw new ClientEnvironmentError(`${what} failed with exit code ${result.status}:\n  ${tail}`);
  }
}

if (import.meta.main) {
  try {
    process.stdout.write(`${await clientEnvironment()}\n`);
  } catch (error) {
    if (!(error instanceof ClientEnvironmentError)) throw error;
    process.stderr.write(`client-env: ${error.message}\n`);
    process.exitCode = 1;
  }
}
