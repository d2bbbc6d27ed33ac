/**
 * Reads the pickled conf of runs in Airflow 2. A Python process does it for all runs of a page, and creates no objects:
 * python/svc_runtime/plain_pickle.py.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { machinePython } from '@svc/compiler/python-environment.ts';
import type { SourceRun } from '@svc/server/db/imports/airflow/source-types.ts';
import { CliError } from '../cli-error.ts';

const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'python', 'svc_runtime', 'plain_pickle.py');

type Environment = Readonly<Record<string, string | undefined>>;

/** Replaces pickled conf by JSON text. A conf that is not plain data stays as it is. */
export async function readPickles(env: Environment, runs: readonly SourceRun[]): Promise<SourceRun[]> {
  const pickles = runs.flatMap(({ conf }) => (conf instanceof Uint8Array ? [conf] : []));
  if (pickles.length === 0) return [...runs];
  const texts = (await unpickle(env, pickles)).values();
  return runs.map((run) => (run.conf instanceof Uint8Array ? { ...run, conf: texts.next().value || run.conf } : run));
}

/** Returns the JSON text of each pickle, or an empty text if it is not plain data. */
export async function unpickle(env: Environment, pickles: readonly Uint8Array[]): Promise<string[]> {
  const python = await pythonOf(env);
  // Isolated: neither the folder of the script nor the environment of the user adds modules.
  const child = spawn(python, ['-I', SCRIPT], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stdin.on('error', () => {}); // the exit code says more
  child.stdin.end(pickles.map((bytes) => `${Buffer.from(bytes).toString('base64')}\n`).join(''));
  const code = await ended;
  const lines = output.split('\n');
  if (code !== 0 || lines.length !== pickles.length + 1)
    throw new CliError(`the conf of runs cannot be read: ${python} ended with exit code ${code}`);
  return lines.slice(0, -1);
}

async function pythonOf(env: Environment): Promise<string> {
  try {
    return await machinePython(env);
  } catch (error) {
    if (!(error instanceof PythonEnvironmentError)) throw error;
    throw new CliError('Airflow 2 pickles the conf of runs, and reading it needs Python 3.10 or newer', {
      hint: 'install Python, or set SVC_PYTHON to an interpreter',
      cause: error,
    });
  }
}
