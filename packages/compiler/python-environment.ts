/**
 * The Python that compiles DAG files: an environment of our own in the user's cache, with the packages of
 * python/requirements.txt and nothing else, or the interpreter that SVC_PYTHON names.
 *
 * An environment is built beside its final place and renamed into it, so whoever finds one finds a whole one, and two
 * builders at once cost time but break nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { PythonEnvironmentError, explainFailure } from './python-failures.ts';
import { runPython } from './run-python.ts';

const REQUIREMENTS = join(import.meta.dirname, '..', '..', 'python', 'requirements.txt');
const OLDEST = '3.10';
/** The machine's own first: it is what the user expects, and most likely to have working certificates and proxies. */
const CANDIDATES = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python'];
const PIP_INSTALL =
  '-m pip install --quiet --no-deps --disable-pip-version-check --no-input --root-user-action=ignore -r'.split(' ');
const STAMP = 'complete.json';
const UNFINISHED = '.building-';
const DAY_MS = 86_400_000;

type Environment = Readonly<Record<string, string | undefined>>;

export type PythonOptions = {
  readonly env: Environment;
  /** Default: `svc` in the user's cache. */
  readonly cacheFolder?: string;
  /** Told what takes time. Not called when everything is there already. */
  readonly say?: (text: string) => void;
};

/** Where environments are kept unless told otherwise. */
export function userCacheFolder(env: Environment): string {
  return join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'svc');
}

/** Where a compiler keeps its answers. */
export const compiledFolder = (env: Environment): string => join(userCacheFolder(env), 'compiled-files');

/** The path of the interpreter. The first time, its environment is built. */
export async function ensurePython(options: PythonOptions): Promise<string> {
  const { env, say = () => {} } = options;
  const named = env['SVC_PYTHON'];
  if (named) {
    // An image knows its own: importing the packages once more would take as long as the start of the task itself.
    if (env['SVC_PYTHON_CHECKED'] !== named && !isOurs(named)) await checkNamed(named, env);
    return named;
  }
  const cache = options.cacheFolder ?? userCacheFolder(env);
  const base = await findPython(env);
  const target = join(cache, folderFor(base.version));
  const python = join(target, 'bin', 'python');
  // The interpreter is a link to the machine's own, which may have been removed since.
  if (!existsSync(join(target, STAMP)) || !existsSync(python)) await build({ base, target, cache, env, say });
  return python;
}

function folderFor(version: string): string {
  const hash = createHash('sha256').update(readFileSync(REQUIREMENTS)).update(version).digest('hex').slice(0, 12);
  return `python-${hash}`;
}

/**
 * One that was made here, of the same packages, which were tried then: lite names it to every agent, and trying them once more
 * is 0.2 s of processor time at each start.
 */
function isOurs(python: string): boolean {
  const folder = dirname(dirname(python));
  try {
    const made = JSON.parse(readFileSync(join(folder, STAMP), 'utf8')) as { python: string };
    return basename(folder) === folderFor(made.python) && existsSync(python);
  } catch {
    return false;
  }
}

/**
 * The installer of the machine's own Python, its compiled files included, for the environment that its first argument names:
 * `ensurepip` unpacks and compiles another, which takes 5 s of processor time, most of all that an environment takes.
 */
const COPY_PIP = `
import pip, os, shutil, sys, sysconfig
packages = os.path.join(sys.argv[1], 'lib', 'python' + sysconfig.get_python_version(), 'site-packages')
source = os.path.dirname(pip.__file__)
shutil.copytree(source, os.path.join(packages, 'pip'))
for name in os.listdir(os.path.dirname(source)):
    if name.startswith('pip-') and name.endswith('-info'):
        shutil.copytree(os.path.join(os.path.dirname(source), name), os.path.join(packages, name))
`;

/** An interpreter for scripts that need only the standard library: the one of SVC_PYTHON, or the machine's own. */
export const machinePython = async (env: Environment): Promise<string> =>
  env['SVC_PYTHON'] || (await findPython(env)).command;

/** An interpreter of the machine's own that has pip: for what need not wait until the environment is made. */
export async function pythonWithPip(env: Environment): Promise<string | undefined> {
  const command = await machinePython(env).catch(() => undefined);
  if (command === undefined) return undefined;
  const looked = await runPython({ command, args: ['-c', HAS_PIP], env });
  return looked.code === 0 ? command : undefined;
}

/** Looked for, not imported, which takes longer than the answer is worth. Ends with 0 where there is one. */
export const HAS_PIP = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pip") is None)';

const VERSION_SCRIPT = 'import sys; print("%d.%d.%d" % sys.version_info[:3])';

async function findPython(env: Environment): Promise<{ command: string; version: string }> {
  const tooOld: string[] = [];
  for (const command of CANDIDATES) {
    const result = await runPython({ command, args: ['-c', VERSION_SCRIPT], env });
    const version = result.output.trim();
    if (result.code !== 0 || !/^\d+\.\d+\.\d+$/.test(version)) continue;
    if (isRecent(version)) return { command, version };
    tooOld.push(`${command} is ${version}`);
  }
  const found = tooOld.length === 0 ? 'there is no python3 on the PATH' : tooOld.join(', ');
  throw new PythonEnvironmentError(
    `compiling DAG files needs Python ${OLDEST} or newer: ${found}`,
    'Install it (Debian and Ubuntu: apt install python3 python3-venv), or set SVC_PYTHON to an interpreter that has jinja2 and pendulum.',
  );
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

async function checkNamed(python: string, env: Environment): Promise<void> {
  const result = await runPython({ command: python, args: ['-c', `${VERSION_SCRIPT}; import jinja2, pendulum`], env });
  const version = result.output.split('\n')[0]?.trim() ?? '';
  if (result.code === 0 && isRecent(version)) return;
  if (result.missing !== undefined) {
    throw new PythonEnvironmentError(
      `SVC_PYTHON is ${python}, which cannot be run: ${result.missing}`,
      `Set it to the path of a Python ${OLDEST} or newer that has jinja2 and pendulum, or unset it.`,
    );
  }
  if (version !== '' && !isRecent(version)) {
    throw new PythonEnvironmentError(
      `SVC_PYTHON is ${python}, which is Python ${version}`,
      `Set it to Python ${OLDEST} or newer, or unset it.`,
    );
  }
  throw new PythonEnvironmentError(
    `SVC_PYTHON is ${python}, which lacks packages: ${result.lastLine}`,
    `Install them (${python} -m pip install jinja2 pendulum), or unset SVC_PYTHON to have an environment made for you.`,
  );
}

async function build(input: {
  base: { command: string; version: string };
  target: string;
  cache: string;
  env: Environment;
  say: (text: string) => void;
}): Promise<void> {
  const { base, target, cache, env, say } = input;
  const draft = `${target}${UNFINISHED}${process.pid}-${randomBytes(4).toString('hex')}`;
  makeFolder(cache);
  removeUnfinished(cache);
  const python = join(draft, 'bin', 'python');
  const step = async (text: string, command: string, args: readonly string[]): Promise<void> => {
    say(text);
    const result = await runPython({ command, args, env });
    if (result.code !== 0) throw explainFailure(text, result);
  };
  try {
    const making = `making a Python ${base.version} environment in ${target}`;
    await step(making, base.command, ['-m', 'venv', draft, '--without-pip']);
    const copied = await runPython({ command: base.command, args: ['-c', COPY_PIP, draft], env });
    if (copied.code !== 0) await step(making, base.command, ['-m', 'venv', draft, '--clear']);
    await step('installing jinja2 and pendulum', python, [...PIP_INSTALL, REQUIREMENTS]);
    await step('trying the packages', python, ['-c', 'import jinja2, pendulum']);
    writeFileSync(join(draft, STAMP), `${JSON.stringify({ python: base.version })}\n`);
    moveIntoPlace(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function makeFolder(cache: string): void {
  try {
    mkdirSync(cache, { recursive: true });
  } catch (error) {
    throw new PythonEnvironmentError(
      `the folder ${cache} cannot be made: ${(error as Error).message}`,
      'Set XDG_CACHE_HOME to a folder that can be written to, or SVC_PYTHON to an interpreter that has jinja2 and pendulum.',
    );
  }
}

/** Somebody else's whole environment may be there by now, and is as good as ours; a broken one makes room. */
function moveIntoPlace(draft: string, target: string): void {
  if (existsSync(target) && !existsSync(join(target, 'bin', 'python'))) {
    const aside = `${draft}-replaced`;
    renameSync(target, aside);
    rmSync(aside, { recursive: true, force: true });
  }
  try {
    renameSync(draft, target);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOTEMPTY', 'EEXIST'].includes(code)) throw error;
  }
}

/** What builders that were killed left behind. */
function removeUnfinished(cache: string): void {
  for (const name of readdirSync(cache).filter((entry) => entry.includes(UNFINISHED))) {
    const path = join(cache, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > DAY_MS) rmSync(path, { recursive: true, force: true });
  }
}
