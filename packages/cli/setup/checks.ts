/** Requirements of svc on this machine: how to check each of them, and what to do if it is missing. */
import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ensurePython } from '@svc/compiler/python-environment.ts';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { runnableBinaries } from '@svc/local-postgres/cluster-binaries.ts';
import { BUNDLE_STAMP, UI_VERSIONS, bundleFolder } from '@svc/web/bundle.ts';
import { CONFIG_KEYS } from '@svc/server/config/keys.ts';
import { monacoFolder } from '@svc/web/editor.ts';
import { SECRETS_ARE_OBSERVED, TASKS_RUN_AS_SERVER } from '@svc/server/config/boot-checks.ts';
import type { Environment } from '../context.ts';

export type CheckResult = { name: string; status: 'ok' | 'missing' | 'warning'; detail: string; next?: string };

const LITE_PORT = 8_088;
const ENOUGH_BYTES = 1_000_000_000;
const MIN_NODE = 24;

export async function runChecks(env: Environment): Promise<CheckResult[]> {
  return Promise.all([
    checkNode(),
    checkPython(env),
    checkWebUi(env),
    checkEditor(env),
    checkPostgres(),
    checkDisk(env),
    checkPort(),
    checkSecrets(env),
    checkTasks(env),
  ]);
}

/** Reports what a server in this environment would do. A configuration file is not read. */
async function checkSecrets(env: Environment): Promise<CheckResult> {
  const isEnforced = env['SVC_AUTH_SECRET_LIVENESS_MODE'] === 'enforce';
  return {
    name: 'Secrets',
    status: 'ok',
    detail: isEnforced
      ? 'auth.secret_liveness_mode is enforce: a task that is over reads no more secrets'
      : SECRETS_ARE_OBSERVED,
  };
}

/** Reports the user that lite would use for author code. A configuration file is not read. */
export async function checkTasks(env: Environment, isRoot = process.getuid?.() === 0): Promise<CheckResult> {
  const chosen = env['SVC_EXECUTOR_TASK_USER'] ?? '';
  const isAnother = isRoot && chosen !== 'root';
  const user = chosen === '' ? 'a user of its own for each data directory' : `the user "${chosen}"`;
  const detail = `started by root, lite runs tasks as ${user}, who cannot read its keys and passwords`;
  return { name: 'Tasks', status: 'ok', detail: isAnother ? detail : TASKS_RUN_AS_SERVER };
}

async function checkNode(): Promise<CheckResult> {
  const major = Number(process.versions.node.split('.')[0]);
  const detail = `Node ${process.versions.node}`;
  if (major >= MIN_NODE) return { name: 'Node', status: 'ok', detail };
  return {
    name: 'Node',
    status: 'missing',
    detail,
    next: `install Node ${MIN_NODE}; on Linux, npm brings it along unless told to omit optional packages`,
  };
}

async function checkPython(env: Environment): Promise<CheckResult> {
  let isBuilding = false;
  try {
    const python = await ensurePython({ env, say: () => (isBuilding = true) });
    return { name: 'Python', status: 'ok', detail: isBuilding ? `${python} (made just now)` : python };
  } catch (error) {
    if (!(error instanceof PythonEnvironmentError)) throw error;
    return { name: 'Python', status: 'missing', detail: error.message, next: error.hint };
  }
}

async function checkWebUi(env: Environment): Promise<CheckResult> {
  const asked = env['SVC_UI_AIRFLOW_VERSION'] || CONFIG_KEYS['ui.airflow_version'].default;
  const version = UI_VERSIONS.find((known) => known === asked);
  if (version === undefined) {
    const detail = `there is no web UI of Airflow ${asked}`;
    return {
      name: 'Web UI',
      status: 'missing',
      detail,
      next: `set SVC_UI_AIRFLOW_VERSION to ${UI_VERSIONS.join(' or ')}`,
    };
  }
  const folder = env['SVC_UI_DIST_DIR'] || bundleFolder(env, version);
  const marker = env['SVC_UI_DIST_DIR'] ? 'index.html' : BUNDLE_STAMP;
  if (existsSync(join(folder, marker))) {
    return {
      name: 'Web UI',
      status: 'ok',
      detail: env['SVC_UI_DIST_DIR'] ? folder : `Airflow ${version} in ${folder}`,
    };
  }
  return {
    name: 'Web UI',
    status: 'missing',
    detail: `not in ${folder}`,
    next: 'run `svc setup`; without a network, copy the folder here and set SVC_UI_DIST_DIR',
  };
}

async function checkEditor(env: Environment): Promise<CheckResult> {
  const folder = monacoFolder(env['SVC_UI_MONACO_DIR'] ?? '');
  if (folder !== undefined) return { name: 'Editor', status: 'ok', detail: folder };
  return {
    name: 'Editor',
    status: 'warning',
    detail: 'the code editor is not installed',
    next: 'install svc again (in a checkout: `npm ci`), or point SVC_UI_MONACO_DIR to a copy of it',
  };
}

async function checkPostgres(): Promise<CheckResult> {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'x64' : process.arch}`;
  try {
    await runnableBinaries(undefined);
    return { name: 'Postgres', status: 'ok', detail: `embedded, for ${platform}` };
  } catch {
    return {
      name: 'Postgres',
      status: 'warning',
      detail: `no embedded Postgres for ${platform}`,
      next: 'install svc again with optional packages (in a checkout: `npm ci`), or set SVC_DATABASE_URL to a Postgres of yours',
    };
  }
}

async function checkDisk(env: Environment): Promise<CheckResult> {
  const home = env['SVC_HOME'] || env['HOME'] || homedir();
  try {
    accessSync(home, constants.W_OK);
    const { bavail, bsize } = await statfs(home);
    const free = bavail * bsize;
    const detail = `${(free / 1e9).toFixed(1)} GB free in ${home}`;
    if (free >= ENOUGH_BYTES) return { name: 'Disk', status: 'ok', detail };
    return { name: 'Disk', status: 'warning', detail, next: 'free some space: Postgres stops when the disk is full' };
  } catch {
    return {
      name: 'Disk',
      status: 'missing',
      detail: `${home} cannot be written to`,
      next: 'set SVC_HOME to a directory that can',
    };
  }
}

async function checkPort(): Promise<CheckResult> {
  const isFree = await new Promise<boolean>((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(LITE_PORT, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  if (isFree) return { name: 'Port', status: 'ok', detail: `${LITE_PORT} is free` };
  return {
    name: 'Port',
    status: 'warning',
    detail: `${LITE_PORT} is in use, perhaps by a running svc lite`,
    next: 'start another one with `svc lite --port <number>`',
  };
}
