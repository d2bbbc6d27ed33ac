/**
 * Python environments of the checkout's own tools and clients, in .cache/: with exactly the packages of the requirements
 * files, built when missing or made for others.
 *
 * Needs Python 3.10 or newer (PYTHON names another interpreter) and, the first time, a reachable package index.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CACHE } from './paths.ts';

const STAMP = 'complete.txt';
/** Package indexes have bad moments; the pauses between tries grow. */
const TRIES = 4;
const FIRST_PAUSE_MS = 2_000;
const MAX_OUTPUT_BYTES = 64 << 20;

export class VirtualEnvironmentError extends Error {}

type Output = 'stdout' | 'stderr';

type Wanted = {
  /** Of its folder in .cache/. */
  readonly name: string;
  /** Every package is pinned in one of these files: nothing else is installed. */
  readonly requirements: readonly string[];
};

/** Under way in this process; others that want the same wait for it. */
const builds = new Map<string, Promise<void>>();

/**
 * Its interpreter. Run programs with `-m`: the scripts beside it know only the place where it was built.
 * Safe to call several times at once, from several processes too.
 */
export async function virtualEnvironment({ name, requirements }: Wanted): Promise<string> {
  const target = join(CACHE, name);
  const stamp = requirements.map((file) => readFileSync(file, 'utf8')).join('');
  if (readIfThere(join(target, STAMP)) !== stamp) {
    const building = builds.get(target) ?? build({ target, requirements, stamp }).finally(() => builds.delete(target));
    builds.set(target, building);
    await building;
  }
  return join(target, 'bin', 'python');
}

/** Under another name first, and renamed when complete: nobody ever sees half of it. */
async function build(input: { target: string; requirements: readonly string[]; stamp: string }): Promise<void> {
  const { target, requirements, stamp } = input;
  const unfinished = `${target}-${process.pid}`;
  mkdirSync(CACHE, { recursive: true });
  try {
    await run('making the environment', process.env['PYTHON'] ?? 'python3', ['-m', 'venv', '--clear', unfinished]);
    await install(join(unfinished, 'bin', 'python'), requirements);
    writeFileSync(join(unfinished, STAMP), stamp);
    if (readIfThere(join(target, STAMP)) === stamp) return; // another process was faster
    rmSync(target, { recursive: true, force: true });
    renameSync(unfinished, target);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function install(python: string, requirements: readonly string[]): Promise<void> {
  const files = requirements.flatMap((file) => ['-r', file]);
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', ...files];
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run(`installing ${requirements.join(' and ')}`, python, args);
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

const execute = promisify(execFile);

/** Does not block this process, so that several environments can be made at the same time. */
async function run(what: string, command: string, args: readonly string[]): Promise<void> {
  try {
    await execute(command, args, { maxBuffer: MAX_OUTPUT_BYTES });
  } catch (error) {
    const { code, message, stdout = '', stderr = '' } = error as Error & { code?: unknown } & Record<Output, string>;
    if (typeof code === 'string') throw new VirtualEnvironmentError(`${what}: cannot run ${command}: ${message}`);
    const tail = `${stdout}\n${stderr}`.trim().split('\n').slice(-10).join('\n  ');
    throw new VirtualEnvironmentError(`${what} failed with exit code ${String(code)}:\n  ${tail}`);
  }
}
