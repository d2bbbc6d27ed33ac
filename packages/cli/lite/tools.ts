/**
 * What lite needs in addition to Postgres: a Python environment, the compiler in it, and the bundle of the web UI. They
 * are made at the first start from packages, while Postgres starts, because making them one after the other would take
 * longer.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPythonEnvironments } from '@svc/agent/environments.ts';
import type { PythonEnvironments } from '@svc/agent/environments.ts';
import { createCompilerPool } from '@svc/compiler/compiler-pool.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { compiledFolder, ensurePython, pythonWithPip, userCacheFolder } from '@svc/compiler/python-environment.ts';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { BUNDLE_STAMP, bundleFolder } from '@svc/web/bundle.ts';
import type { UiVersion } from '@svc/web/bundle.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { AnswerValue } from '@svc/spec/values-read.ts';
import type { Environment } from '../context.ts';
import { UiBundleError, ensureUiBundle } from '../setup/ui-bundle.ts';
import { letReach } from './task-user.ts';

export type LiteTools = {
  /** Returns the compiler of the workspace, or rejects with a PythonEnvironmentError. The caller must close it. */
  compiler(): Promise<Compiler>;
  /** The interpreters that have the packages of a DAG. */
  readonly interpreters: PythonEnvironments;
  /** Resolves with the opened folders when the user of author code can read what it needs. Rejects like `compiler`. */
  tasksReachAll(): Promise<string[]>;
  /** Resolves with a message when the bundle is ready or cannot be fetched. */
  readonly webUi: Promise<string>;
  /** Receives progress. Only the last listener is called. */
  onProgress(say: (text: string) => void): void;
  /** Waits briefly for work in progress, because a stop must not wait for a slow network. */
  settle(): Promise<void>;
};

const SETTLE_MS = 3_000;

export function prepareTools(input: {
  env: Environment;
  /** The value of `ui.dist_dir`. If empty, the bundle of the official package is used. */
  distDir: string;
  /** The value of `ui.airflow_version`. */
  uiVersion: UiVersion;
  /** Empty if there is none. Otherwise the compiler will be needed and starts now. */
  workspace: string;
  /** The user that runs author code. Undefined means the same user as lite. */
  taskUser: TaskUser | undefined;
  /** Answers what DAG files read while they load. */
  answerValue: AnswerValue;
}): LiteTools {
  const { env, distDir, uiVersion, workspace, taskUser, answerValue } = input;
  let say: ((text: string) => void) | undefined;
  let last: string | undefined;
  const progress = (text: string): void => {
    last = text;
    say?.(text);
  };
  let making: Promise<string> | undefined;
  const python = (): Promise<string> => {
    making ??= ensurePython({ env, say: progress });
    making.catch(() => {}); // reported to the caller
    return making;
  };
  let reaching: Promise<string[]> | undefined;
  const tasksReachAll = async (): Promise<string[]> => {
    if (!taskUser) return [];
    const found = await python();
    reaching ??= letReach({ user: taskUser, python: found, workspace, cache: userCacheFolder(env) });
    return reaching;
  };
  const interpreters = createPythonEnvironments({ env, user: taskUser, say: progress, onProgress: progress });
  const startCompiler = async (): Promise<Compiler> => {
    await tasksReachAll();
    const jobs = availableParallelism();
    const cacheFolder = compiledFolder(env);
    return createCompilerPool({
      base: createCompiler({ python: await python(), jobs, cacheFolder, startsAtOnce: true, taskUser, answerValue }),
      interpreters,
      open: (other) => createCompiler({ python: other, jobs, cacheFolder, taskUser, answerValue }),
    });
  };
  let compiler = workspace === '' ? undefined : startCompiler();
  compiler?.catch(() => {}); // reported to the caller
  const webUi =
    distDir === ''
      ? fetchWebUi({ env, version: uiVersion, python, progress })
      : Promise.resolve(`Web UI from ${distDir}`);
  webUi.catch(() => {}); // reported to the caller
  return {
    interpreters,
    tasksReachAll,
    compiler() {
      const asked = compiler ?? startCompiler();
      compiler = undefined; // the caller closes it from now on
      return asked;
    },
    webUi,
    onProgress(listener) {
      say = listener;
      if (last !== undefined) listener(last);
    },
    async settle() {
      const closed = compiler?.then((unused) => unused.close());
      await Promise.race([Promise.allSettled([making, webUi, closed]), sleep(SETTLE_MS, undefined, { ref: false })]);
    },
  };
}

/** Without a network, lite still starts and says what is missing. */
async function fetchWebUi(input: {
  env: Environment;
  version: UiVersion;
  python: () => Promise<string>;
  progress: (text: string) => void;
}): Promise<string> {
  const { env, version, python, progress } = input;
  const there = `Web UI of Airflow ${version}`;
  if (existsSync(join(bundleFolder(env, version), BUNDLE_STAMP))) return there;
  try {
    // Runs in parallel with the environment of tasks, which takes as long.
    await ensureUiBundle({ env, version, python: (await pythonWithPip(env)) ?? (await python()), say: progress });
    return there;
  } catch (error) {
    if (error instanceof PythonEnvironmentError) return `Web UI not there: ${error.message}. ${error.hint}`;
    if (error instanceof UiBundleError) return error.message;
    throw error;
  }
}
