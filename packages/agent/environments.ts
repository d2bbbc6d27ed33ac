/**
 * Python environments for tasks and for compiling. A DAG without dependencies runs in the base environment. A DAG with
 * dependencies (`dependencies` and `connectors` of svc.yaml, requirements of a repository) gets a virtual environment.
 * Its key is the content of the list, so all versions and DAGs with the same list share it. uv installs the packages if
 * it is on the PATH, else pip does (python/svc_runtime/install_packages.py). Airflow itself is never installed.
 *
 * In an image that was built for the DAG they are installed already (SVC_DEPENDENCIES=installed, set by the control
 * plane).
 *
 * An environment is built next to its final place and then renamed, so an existing one is always complete. All steps
 * that may run code of packages run as the user of tasks.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { HAS_PIP, ensurePython, userCacheFolder } from '@svc/compiler/python-environment.ts';
import { runPython } from '@svc/compiler/run-python.ts';
import type { PythonRun } from '@svc/compiler/run-python.ts';
import type { LeftOut } from '@svc/compiler/compiler-pool.ts';
import type { ReportedProvider } from '@svc/spec/installed-providers.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { makeFolderFor, pipConfiguration, removeFolderOf, takeOver } from './environment-owner.ts';
import { LIST_PROVIDERS } from './installed-providers.ts';
import { withProviderCompanions } from './provider-companions.ts';
import { asUser, taskEnvironment } from './settings.ts';

export type PythonEnvironments = {
  /** Returns the interpreter for the packages. Rejects with an `EnvironmentFailure`. */
  get(dependencies: readonly string[]): Promise<string>;
  /**
   * Returns the provider packages in it, as Airflow identifies them: by their entry point, or by Airflow's own names.
   */
  providers(dependencies: readonly string[]): Promise<ReportedProvider[]>;
  /** Returns the packages that the environment lacks because they could not be built. */
  leftOut(dependencies: readonly string[]): Promise<readonly LeftOut[]>;
};

/** An error that the author can read in the task's log. */
export class EnvironmentFailure extends Error {
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.output = output;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
/** Runs Python as the user of tasks. */
type RunPython = (
  command: string,
  args: readonly string[],
  more?: Environment,
  onLine?: (line: string) => void,
) => Promise<PythonRun>;

const STAMP = 'complete.json';
const INSTALLER = join(import.meta.dirname, '..', '..', 'python', 'svc_runtime', 'install_packages.py');
/** Part of the key, because an earlier release may have built environments differently. */
const FORMAT = 5;
const NAMED_PACKAGES = 5;
const DAY_MS = 86_400_000;
const SITE_PACKAGES = 'import sysconfig; print(sysconfig.get_path("purelib"))';
/** The packages that every task needs come from the base environment. The project's own come before them. */
const ADD_BASE = `
import os, sys, sysconfig
with open(os.path.join(sysconfig.get_path("purelib"), "svc-base.pth"), "w") as file:
    file.write(sys.argv[1] + "\\n")
`;

export function createPythonEnvironments(input: {
  env: Environment;
  /** The user that runs tasks. Without one it is the user of the agent. */
  user?: TaskUser | undefined;
  say: (text: string) => void;
  /** Called with the progress of the installer, a text for the time of the installation only. */
  onProgress?: (text: string) => void;
}): PythonEnvironments {
  const { env, user, say, onProgress = () => {} } = input;
  const own = user ? taskEnvironment(env, user) : withoutPrivate(env);
  const run: RunPython = (command, args, more = {}, onLine = undefined) =>
    runPython({ command, args, env: { ...own, ...more }, as: asUser(user), onLine });
  const building = new Map<string, Promise<string>>();
  /** By interpreter. */
  const asked = new Map<string, Promise<ReportedProvider[]>>();
  let base: Promise<string> | undefined;

  async function basePython(): Promise<string> {
    base ??= ensurePython({ env, say });
    try {
      return await base;
    } catch (error) {
      base = undefined; // what was missing may be installed by the next time
      throw new EnvironmentFailure((error as Error).message, '');
    }
  }

  async function get(dependencies: readonly string[]): Promise<string> {
    const python = await basePython();
    if (dependencies.length === 0 || env['SVC_DEPENDENCIES'] === 'installed') return python;
    const key = createHash('sha256')
      .update(JSON.stringify([FORMAT, python, ...dependencies]))
      .digest('hex')
      .slice(0, 16);
    const known = building.get(key) ?? ensureVenv({ python, dependencies, key, env, user, run, say, onProgress });
    building.set(key, known);
    known.catch(() => building.delete(key));
    return known;
  }

  return {
    get,
    async providers(dependencies) {
      const python = await get(dependencies);
      const known = asked.get(python) ?? providersOf(python, run);
      asked.set(python, known);
      known.catch(() => asked.delete(python));
      return known;
    },
    leftOut: async (dependencies) => notedIn(stampOf(await get(dependencies)))?.left_out ?? [],
  };
}

const stampOf = (python: string): string => join(dirname(python), '..', STAMP);

/** Uses the list that is stored with the environment, because a short task ends before Python can be asked. */
async function providersOf(python: string, run: RunPython): Promise<ReportedProvider[]> {
  const noted = notedIn(stampOf(python))?.providers;
  if (noted) return noted;
  const result = await run(python, ['-c', LIST_PROVIDERS]);
  if (result.code !== 0) throw new EnvironmentFailure('asking Python for its packages failed', result.errors);
  return JSON.parse(result.output) as ReportedProvider[];
}

type Noted = { providers?: ReportedProvider[]; left_out?: LeftOut[]; system?: string };

/** Returns undefined for the base environment, which has no such file, and for environments of earlier releases. */
function notedIn(stamp: string): Noted | undefined {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8')) as Noted;
  } catch {
    return undefined;
  }
}

type Build = {
  python: string;
  dependencies: readonly string[];
  key: string;
  env: Environment;
  user: TaskUser | undefined;
  run: RunPython;
  say: (text: string) => void;
  onProgress: (text: string) => void;
};

/** Removes the control plane's own variables, because code of packages runs while they are built. */
function withoutPrivate(env: Environment): Environment {
  const kept = taskEnvironment(env);
  const names = [...Object.keys(process.env), ...Object.keys(env)];
  return Object.fromEntries(names.map((name) => [name, kept[name]]));
}

async function ensureVenv(build: Build): Promise<string> {
  const cache = userCacheFolder(build.env);
  const target = join(cache, `venv-${build.key}`);
  const python = join(target, 'bin', 'python');
  if (!existsSync(join(target, STAMP)) || !existsSync(python) || mayBeWhole(notedIn(stampOf(python))))
    await buildVenv(build, cache, target);
  return join(target, 'bin', 'python');
}

/** A package that could not be built can perhaps be built after system packages have been installed. */
const mayBeWhole = (noted: Noted | undefined): boolean =>
  (noted?.left_out?.length ?? 0) > 0 && noted?.system !== systemMark();

/** Changes when Debian packages are installed, and once a day, because other ways to install leave no trace. */
function systemMark(): string {
  const changed = statSync('/var/lib/dpkg/status', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return `${changed} ${Math.floor(Date.now() / DAY_MS)}`;
}

async function buildVenv(build: Build, cache: string, target: string): Promise<void> {
  const { python, dependencies, env, user, run, say, onProgress } = build;
  const draft = `${target}.building-${process.pid}-${randomBytes(4).toString('hex')}`;
  const settings = `${draft}-settings`;
  let more: Environment = {};
  const step = async (command: string, args: readonly string[], what: string): Promise<string> => {
    const result = await run(command, args, more);
    if (result.code === 0) return result.output.trim();
    throw new EnvironmentFailure(
      `${what} failed: ${result.missing ?? result.lastLine}`,
      `${result.output}${result.errors}`,
    );
  };
  try {
    mkdirSync(cache, { recursive: true });
    const uv = await usableUv(env, run);
    say(`making a Python environment with ${shortList(dependencies)}${uv === undefined ? '' : ', with uv'}`);
    if (user) {
      makeFolderFor(user, draft);
      makeFolderFor(user, settings);
      more = pipConfiguration(env, user, settings);
    }
    const own = join(draft, 'bin', 'python');
    // Installing pip into each environment takes longer than installing most packages, so the base's pip is used.
    const sharesPip = (await run(python, ['-c', HAS_PIP])).code === 0;
    await step(python, ['-m', 'venv', ...(sharesPip ? ['--without-pip'] : []), draft], 'making a Python environment');
    const basePackages = await step(python, ['-c', SITE_PACKAGES], 'asking Python for its packages');
    await step(own, ['-c', ADD_BASE, basePackages], 'naming the packages of every task');
    const options = ['--python', own, ...(uv === undefined ? [] : ['--uv', uv]), '--leave-out'];
    const leftOut: LeftOut[] = [];
    const installed = await run(
      sharesPip ? python : own,
      [INSTALLER, ...options, '--', ...withProviderCompanions(dependencies)],
      more,
      (line) => {
        const { progress, left_out: entry, why = '' } = eventOf(line);
        if (progress !== undefined) onProgress(progress);
        if (entry !== undefined) leftOut.push({ entry, why });
      },
    );
    if (installed.code !== 0) throw notInstalled(installed, dependencies);
    const providers: unknown = JSON.parse(
      await step(own, ['-c', LIST_PROVIDERS], 'asking the environment for its packages'),
    );
    if (user) takeOver(draft);
    writeFileSync(
      join(draft, STAMP),
      `${JSON.stringify({ dependencies, providers, left_out: leftOut, system: systemMark() })}\n`,
    );
    moveIntoPlace(draft, target);
  } catch (error) {
    if (error instanceof EnvironmentFailure) throw error;
    throw new EnvironmentFailure(`the environment cannot be made in ${cache}: ${(error as Error).message}`, '');
  } finally {
    for (const folder of [draft, settings]) removeFolderOf(user, folder);
  }
}

/** Returns the uv on the PATH, if the user of tasks can run it. */
async function usableUv(env: Environment, run: RunPython): Promise<string | undefined> {
  const places = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = places.map((folder) => join(folder, 'uv')).find((path) => existsSync(path));
  return found !== undefined && (await run(found, ['--version'])).code === 0 ? found : undefined;
}

type InstallerEvent = { progress?: string; failed?: string; entry?: string | null; left_out?: string; why?: string };

function eventOf(line: string): InstallerEvent {
  try {
    return JSON.parse(line) as InstallerEvent;
  } catch {
    return {};
  }
}

function notInstalled(run: PythonRun, dependencies: readonly string[]): EnvironmentFailure {
  const { failed, entry } = eventOf(run.output.trim().split('\n').at(-1) ?? '');
  const what = entry ?? shortList(dependencies);
  return new EnvironmentFailure(`installing ${what} failed: ${failed ?? run.missing ?? run.lastLine}`, run.errors);
}

function shortList(dependencies: readonly string[]): string {
  const packages = dependencies.filter((entry) => !entry.startsWith('-'));
  const more = packages.length - NAMED_PACKAGES;
  return packages.slice(0, NAMED_PACKAGES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * Keeps a complete environment that another process has put there meanwhile. A broken one is replaced, and so is one
 * that lacks packages which can perhaps be built now.
 */
function moveIntoPlace(draft: string, target: string): void {
  const there = existsSync(join(target, STAMP)) ? notedIn(join(target, STAMP)) : undefined;
  if (existsSync(target) && (there === undefined || mayBeWhole(there))) {
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
