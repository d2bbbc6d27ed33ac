/**
 * Python environments of tasks, and of compiling. A DAG without dependencies runs in the base environment; one that has them
 * (`dependencies` and `connectors` of svc.yaml, requirements of a repository) gets a virtual environment of its own, kept by
 * the content of the list, so that all versions and DAGs with the same list share it. Packages are installed by uv when it is
 * on the PATH, else by pip (python/svc_runtime/install_packages.py), and never Airflow itself.
 *
 * In an image that was built for the DAG they are installed already (SVC_DEPENDENCIES=installed, set by the control plane).
 *
 * It is built beside its final place and renamed into it: whoever finds one finds a whole one. Whatever its packages may run
 * code in is run as the user tasks run as.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { HAS_PIP, ensurePython, userCacheFolder } from '@svc/compiler/python-environment.ts';
import { runPython } from '@svc/compiler/run-python.ts';
import type { PythonRun } from '@svc/compiler/run-python.ts';
import type { ReportedProvider } from '@svc/spec/installed-providers.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { makeFolderFor, pipConfiguration, removeFolderOf, takeOver } from './environment-owner.ts';
import { LIST_PROVIDERS } from './installed-providers.ts';
import { withProviderCompanions } from './provider-companions.ts';
import { asUser, taskEnvironment } from './settings.ts';

export type PythonEnvironments = {
  /** The interpreter for the given packages. Rejects with an `EnvironmentFailure`. */
  get(dependencies: readonly string[]): Promise<string>;
  /** Provider packages in it, as Airflow knows them: by their entry point, or by its own names. By their own metadata. */
  providers(dependencies: readonly string[]): Promise<ReportedProvider[]>;
};

/** What the author can read in the task's log. */
export class EnvironmentFailure extends Error {
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.output = output;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
/** As the user of tasks. */
type RunPython = (
  command: string,
  args: readonly string[],
  more?: Environment,
  onLine?: (line: string) => void,
) => Promise<PythonRun>;

const STAMP = 'complete.json';
const INSTALLER = join(import.meta.dirname, '..', '..', 'python', 'svc_runtime', 'install_packages.py');
/** Part of the key: what an earlier release made may be made of something else. */
const FORMAT = 4;
const NAMED_PACKAGES = 5;
const SITE_PACKAGES = 'import sysconfig; print(sysconfig.get_path("purelib"))';
/** The packages every task needs come from the base environment; the project's own stand before them. */
const ADD_BASE = `
import os, sys, sysconfig
with open(os.path.join(sysconfig.get_path("purelib"), "svc-base.pth"), "w") as file:
    file.write(sys.argv[1] + "\\n")
`;

export function createPythonEnvironments(input: {
  env: Environment;
  /** As whom tasks run; without one, as ourselves. */
  user?: TaskUser | undefined;
  say: (text: string) => void;
  /** How far the installer is; of no interest afterwards. */
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
  };
}

/** Noted when the environment was made: a task of a millisecond is over before Python could be asked. */
async function providersOf(python: string, run: RunPython): Promise<ReportedProvider[]> {
  const noted = notedIn(join(dirname(python), '..', STAMP));
  if (noted) return noted;
  const result = await run(python, ['-c', LIST_PROVIDERS]);
  if (result.code !== 0) throw new EnvironmentFailure('asking Python for its packages failed', result.errors);
  return JSON.parse(result.output) as ReportedProvider[];
}

/** The base environment has no such note, nor have those that an earlier release made. */
function notedIn(stamp: string): ReportedProvider[] | undefined {
  try {
    return (JSON.parse(readFileSync(stamp, 'utf8')) as { providers?: ReportedProvider[] }).providers;
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

/** Code of packages that are built runs with it: nothing of the control plane's. */
function withoutPrivate(env: Environment): Environment {
  const kept = taskEnvironment(env);
  const names = [...Object.keys(process.env), ...Object.keys(env)];
  return Object.fromEntries(names.map((name) => [name, kept[name]]));
}

async function ensureVenv(build: Build): Promise<string> {
  const cache = userCacheFolder(build.env);
  const target = join(cache, `venv-${build.key}`);
  if (!existsSync(join(target, STAMP)) || !existsSync(join(target, 'bin', 'python')))
    await buildVenv(build, cache, target);
  return join(target, 'bin', 'python');
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
    // Giving each environment an installer of its own takes longer than installing most packages: the base's is used.
    const sharesPip = (await run(python, ['-c', HAS_PIP])).code === 0;
    await step(python, ['-m', 'venv', ...(sharesPip ? ['--without-pip'] : []), draft], 'making a Python environment');
    const basePackages = await step(python, ['-c', SITE_PACKAGES], 'asking Python for its packages');
    await step(own, ['-c', ADD_BASE, basePackages], 'naming the packages of every task');
    const options = ['--python', own, ...(uv === undefined ? [] : ['--uv', uv])];
    const installed = await run(
      sharesPip ? python : own,
      [INSTALLER, ...options, '--', ...withProviderCompanions(dependencies)],
      more,
      (line) => {
        const { progress } = eventOf(line);
        if (progress !== undefined) onProgress(progress);
      },
    );
    if (installed.code !== 0) throw notInstalled(installed, dependencies);
    const providers: unknown = JSON.parse(
      await step(own, ['-c', LIST_PROVIDERS], 'asking the environment for its packages'),
    );
    if (user) takeOver(draft);
    writeFileSync(join(draft, STAMP), `${JSON.stringify({ dependencies, providers })}\n`);
    moveIntoPlace(draft, target);
  } catch (error) {
    if (error instanceof EnvironmentFailure) throw error;
    throw new EnvironmentFailure(`the environment cannot be made in ${cache}: ${(error as Error).message}`, '');
  } finally {
    for (const folder of [draft, settings]) removeFolderOf(user, folder);
  }
}

/** On the PATH, and for the user who is to run it. */
async function usableUv(env: Environment, run: RunPython): Promise<string | undefined> {
  const places = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = places.map((folder) => join(folder, 'uv')).find((path) => existsSync(path));
  return found !== undefined && (await run(found, ['--version'])).code === 0 ? found : undefined;
}

type InstallerEvent = { progress?: string; failed?: string; entry?: string | null };

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
  const packages = dependencies.filter((entry) => !entry.startsWith('-c '));
  const more = packages.length - NAMED_PACKAGES;
  return packages.slice(0, NAMED_PACKAGES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Somebody else's whole one may be there by now, and is as good as ours; a broken one makes room. */
function moveIntoPlace(draft: string, target: string): void {
  if (existsSync(target) && !existsSync(join(target, STAMP))) rmSync(target, { recursive: true, force: true });
  try {
    renameSync(draft, target);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOTEMPTY', 'EEXIST'].includes(code)) throw error;
  }
}
