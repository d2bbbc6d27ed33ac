// Builds .cache/python-<hash>: the Python environment that compiles DAG files, with the packages of
// python/requirements.txt and nothing else. Safe to call from several processes at once; does nothing when it is there.
//
//   node scripts/python-env.ts      # prints the path of its interpreter
//
// Needs Python 3.10 or newer (PYTHON names another interpreter) and, the first time, a reachable package index.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '..');
const REQUIREMENTS = join(ROOT, 'python', 'requirements.txt');
const OLDEST = [3, 10] as const;
// A builder that died leaves its lock behind; no build takes this long.
const STALE_LOCK_MS = 300_000;
const POLL_MS = 200;

export class PythonEnvironmentError extends Error {}

/** The interpreter of the environment, which is built first when it is missing. */
export async function pythonEnvironment(): Promise<string> {
  const base = process.env['PYTHON'] ?? 'python3';
  const version = baseVersion(base);
  const hash = createHash('sha256').update(readFileSync(REQUIREMENTS)).update(version).digest('hex').slice(0, 12);
  const target = join(ROOT, '.cache', `python-${hash}`);
  const python = join(target, 'bin', 'python');
  const stamp = join(target, 'complete.json');
  const lock = `${target}.lock`;
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  while (!existsSync(stamp)) {
    if (!takeLock(lock)) {
      await delay(POLL_MS);
      continue;
    }
    try {
      if (!existsSync(stamp)) build({ base, target, python, stamp, version });
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  return python;
}

function baseVersion(python: string): string {
  const text = run('finding Python', python, ['-c', 'import sys; print("%d.%d.%d" % sys.version_info[:3])']);
  const [major = 0, minor = 0] = text.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new PythonEnvironmentError(`${python} is Python ${text}; set PYTHON to an interpreter of 3.10 or newer`);
  }
  return text;
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > STALE_LOCK_MS) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

interface BuildInput {
  readonly base: string;
  readonly target: string;
  readonly python: string;
  readonly stamp: string;
  readonly version: string;
}

function build({ base, target, python, stamp, version }: BuildInput): void {
  rmSync(target, { recursive: true, force: true });
  run('making the environment', base, ['-m', 'venv', target]);
  run('installing python/requirements.txt', python, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-deps',
    '-r',
    REQUIREMENTS,
  ]);
  run('trying the packages', python, ['-c', 'import jinja2, pendulum, dateutil.relativedelta']);
  writeFileSync(stamp, `${JSON.stringify({ python: version })}\n`);
}

function run(what: string, command: string, args: readonly string[]): string {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  if (result.error) throw new PythonEnvironmentError(`${what}: cannot run ${command}: ${result.error.message}`);
  if (result.status !== 0) {
    const tail = `${result.stdout}\n${result.stderr}`.trim().split('\n').slice(-10).join('\n  ');
    throw new PythonEnvironmentError(`${what} failed with exit code ${result.status}:\n  ${tail}`);
  }
  return result.stdout.trim();
}

if (process.argv[1] === import.meta.filename) {
  try {
    process.stdout.write(`${await pythonEnvironment()}\n`);
  } catch (error) {
    if (!(error instanceof PythonEnvironmentError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
