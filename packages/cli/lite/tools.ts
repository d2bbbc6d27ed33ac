/**
 * What lite needs beside Postgres: a Python environment, the compiler that runs in it, and the web UI's bundle. They are made
 * at the first start only, from packages, and made ready while Postgres comes up: one after the other would take half as
 * long again.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPythonEnvironments } from '@svc/agent/environments.ts';
import { createCompilerPool } from '@svc/compiler/compiler-pool.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { ensurePython, pythonWithPip, userCacheFolder } from '@svc/compiler/python-environment.ts';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { BUNDLE_STAMP, UI_BUNDLE, bundleFolder } from '@svc/web/bundle.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { Environment } from '../context.ts';
import { UiBundleError, ensureUiBundle } from '../setup/ui-bundle.ts';
import { letReach } from './task-user.ts';

export type LiteTools = {
  /** For the workspace; rejects with a PythonEnvironmentError. Whoever asks closes it. */
  compiler(): Promise<Compiler>;
  /** Resolves when whoever author code runs as can read what it must, with what was opened for that; rejects as above. */
  tasksReachAll(): Promise<string[]>;
  /** Resolves, when the bundle is there or cannot be had, with what there is to say about it. */
  readonly webUi: Promise<string>;
  /** Whom to tell how far it is; of several the last. */
  onProgress(say: (text: string) => void): void;
  /** Waits for what is under way, but not for long: a stop must not wait for a slow network. */
  settle(): Promise<void>;
};

const SETTLE_MS = 3_000;

export function prepareTools(input: {
  env: Environment;
  /** `ui.dist_dir`; empty takes the bundle of the official package. */
  distDir: string;
  /** Empty: none. Otherwise somebody will ask for the compiler: begin now. */
  workspace: string;
  /** As whom author code runs; undefined: as ourselves. */
  taskUser: TaskUser | undefined;
}): LiteTools {
  const { env, distDir, workspace, taskUser } = input;
  let say: ((text: string) => void) | undefined;
  let last: string | undefined;
  const progress = (text: string): void => {
    last = text;
    say?.(text);
  };
  let making: Promise<string> | undefined;
  const python = (): Promise<string> => {
    making ??= ensurePython({ env, say: progress });
    making.catch(() => {}); // told to whoever asks
    return making;
  };
  let reaching: Promise<string[]> | undefined;
  const tasksReachAll = async (): Promise<string[]> => {
    if (!taskUser) return [];
    const found = await python();
    reaching ??= letReach({ user: taskUser, python: found, workspace, cache: userCacheFolder(env) });
    return reaching;
  };
  const startCompiler = async (): Promise<Compiler> => {
    await tasksReachAll();
    const jobs = availableParallelism();
    return createCompilerPool({
      base: createCompiler({ python: await python(), jobs, startsAtOnce: true, taskUser }),
      interpreters: createPythonEnvironments({ env, user: taskUser, say: progress, onProgress: progress }),
      open: (other) => createCompiler({ python: other, jobs, taskUser }),
    });
  };
  let compiler = workspace === '' ? undefined : startCompiler();
  compiler?.catch(() => {}); // as above
  const webUi = distDir === '' ? fetchWebUi({ env, python, progress }) : Promise.resolve(`Web UI from ${distDir}`);
  webUi.catch(() => {}); // as above
  return {
    tasksReachAll,
    compiler() {
      const asked = compiler ?? startCompiler();
      compiler = undefined; // no longer ours to close
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

/** Without a network lite starts all the same, and says what is missing. */
async function fetchWebUi(input: {
  env: Environment;
  python: () => Promise<string>;
  progress: (text: string) => void;
}): Promise<string> {
  const { env, python, progress } = input;
  const there = `Web UI of Airflow ${UI_BUNDLE.version}`;
  if (existsSync(join(bundleFolder(env), BUNDLE_STAMP))) return there;
  try {
    // Beside the environment that tasks need, which takes as long.
    await ensureUiBundle({ env, python: (await pythonWithPip(env)) ?? (await python()), say: progress });
    return there;
  } catch (error) {
    if (error instanceof PythonEnvironmentError) return `Web UI not there: ${error.message}. ${error.hint}`;
    if (error instanceof UiBundleError) return error.message;
    throw error;
  }
}
