/**
 * Runs a DAG or a task in a Python process of this machine (python/svc_runtime/testing/program.py). The order and the
 * result are one line of JSON each, on a channel of their own: standard streams belong to the tasks and the debugger.
 */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { CliError, messageOf } from '../cli-error.ts';
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
  /** True: variables and connections that no file has are asked for. */
  asks: boolean;
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

export type AskedSecret = { kind: 'variable' | 'connection'; name: string };
/** Returns null if there is none of that name. */
export type AnswerSecret = (asked: AskedSecret) => Promise<string | null>;

/** Logs of the tasks go to standard error, so that standard output has the result alone. */
export async function runLocally(
  context: CliContext,
  {
    python,
    env,
    order,
    cwd,
    answerSecret,
  }: {
    python: string;
    env: Readonly<Record<string, string>>;
    order: LocalOrder;
    cwd?: string;
    /** Needed if the order says `asks`. */
    answerSecret?: AnswerSecret;
  },
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
  let text = '';
  const lines = createInterface({ input: channel, crlfDelay: Infinity });
  lines.on('line', (line) => {
    if (!line.startsWith('{"asks":')) text = line;
    else if (answerSecret) void answerLine(line, answerSecret).then((answer) => channel.write(`${answer}\n`));
  });
  const how = await ended;
  if (text === '') throw new CliError(`the test has ended without a result: Python ended with ${how}`);
  const answer = JSON.parse(text) as Answer;
  if ('problem' in answer) throw new CliError(answer.problem);
  return answer.result;
}

async function answerLine(line: string, answerSecret: AnswerSecret): Promise<string> {
  const { asks } = JSON.parse(line) as { asks: AskedSecret };
  try {
    return JSON.stringify({ text: await answerSecret(asks) });
  } catch (error) {
    return JSON.stringify({ problem: messageOf(error) });
  }
}
