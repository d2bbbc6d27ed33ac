/**
 * Runs a DAG or a task in a Python process of this machine (python/svc_runtime/testing/program.py). The order and the
 * result are one line of JSON each, on a channel of their own: standard streams belong to the tasks and the debugger.
 */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { RecordedValue } from './recorded-try.ts';

const PYTHON_FOLDER = join(import.meta.dirname, '..', '..', '..', 'python');
const PROGRAM = 'svc_runtime.testing.program';

export type Debugger = 'pdb' | 'debugpy';

export type LocalOrder = {
  path: string;
  root: string;
  bundle: object | null;
  dag_id: string;
  task_id: string | null;
  map_index: number | null;
  conf: Readonly<Record<string, unknown>>;
  /** By task id and key. */
  xcoms: readonly RecordedValue[];
  at: string | null;
  connections: string | null;
  variables: string | null;
  answers: Readonly<Record<string, readonly string[]>>;
  debugger: Debugger | null;
  /** A try that runs again. */
  recorded: {
    try_number: number;
    /** Template files of the version by name. */
    files: Readonly<Record<string, string>>;
    run: Readonly<Record<string, string | null>>;
  } | null;
};

export type LocalTask = {
  task_id: string;
  map_index: number;
  state: string | null;
  tries: number;
  seconds: number | null;
  /** What the task returned. */
  value: unknown;
  error: string | null;
  /** The author's line that raised the error. */
  line: string | null;
};

export type LocalResult = {
  dag_id: string;
  run_id: string;
  logical_date: string | null;
  state: string;
  seconds: number | null;
  tasks: LocalTask[];
};

type Answer = { result: LocalResult } | { problem: string };

/** Logs of the tasks go to standard error, so that standard output has the result alone. */
export async function runLocally(
  context: CliContext,
  {
    python,
    env,
    order,
    cwd,
  }: { python: string; env: Readonly<Record<string, string>>; order: LocalOrder; cwd?: string },
): Promise<LocalResult> {
  const isInteractive = order.debugger !== null;
  const child = spawn(python, ['-m', PROGRAM], {
    env: {
      ...context.env,
      ...env,
      PYTHONPATH: [PYTHON_FOLDER, context.env['PYTHONPATH']].filter(Boolean).join(delimiter),
      PYTHONUNBUFFERED: '1',
      SVC_NODE: process.execPath,
    },
    cwd,
    // A debugger needs the terminal itself.
    stdio: ['inherit', isInteractive ? 'inherit' : 'pipe', isInteractive ? 'inherit' : 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => void context.stderr.write(chunk));
  }
  const channel = child.stdio[3] as Duplex;
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  channel.on('error', () => {}); // the end of the process says more
  channel.write(`${JSON.stringify(order)}\n`);
  const chunks: Buffer[] = [];
  channel.on('data', (chunk: Buffer) => chunks.push(chunk));
  const how = await ended;
  const text = Buffer.concat(chunks).toString('utf8').trim();
  if (text === '') throw new CliError(`the test has ended without a result: Python ended with ${how}`);
  const answer = JSON.parse(text) as Answer;
  if ('problem' in answer) throw new CliError(answer.problem);
  return answer.result;
}
