/**
 * Runs a DAG or a task in a Python process of this machine (python/svc_runtime/testing/program.py). The order and the
 * result are one line of JSON each, on a channel of their own: standard streams belong to the tasks and the debugger.
 */
import { basename, delimiter } from 'node:path';
import { CliError, messageOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { PYTHON_FOLDER, startPython } from './python-channel.ts';
import type { RecordedContext } from './recorded-context.ts';
import type { RecordedValue } from './recorded-try.ts';

export const PROGRAM = 'svc_runtime.testing.program';

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
  /** Template files of a version by name. */
  files: Readonly<Record<string, string>>;
  recorded: RecordedContext | null;
};

export type LocalTask = {
  task_id: string;
  map_index: number;
  state: string | null;
  tries: number;
  seconds: number | null;
  /** What the task returned. */
  value: unknown;
  /** All values that the task pushed, by key. */
  xcoms: Readonly<Record<string, unknown>>;
  error: string | null;
  /** The author's line that raised the error. */
  line: string | null;
  /** Template fields after rendering. */
  rendered: Readonly<Record<string, unknown>>;
};

export type LocalResult = {
  dag_id: string;
  run_id: string;
  logical_date: string | null;
  state: string;
  seconds: number | null;
  tasks: LocalTask[];
};

type NotLoaded = { message: string; line: number | null; path: string; traceback: string };
export type LocalAnswer =
  | { result: LocalResult }
  /** `not_loaded`: the DAG file does not load. */
  | { problem: string; not_loaded?: NotLoaded };

/** The tasks have no result, because the DAG file does not load or the process has ended. */
export class WithoutResult extends CliError {
  readonly error: string;
  readonly line: string | null;

  constructor(message: string, { error, line }: { error: string; line: string | null }) {
    super(message);
    this.error = error;
    this.line = line;
  }
}

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
  let text = '';
  const { send, ended } = startPython({
    python,
    args: ['-m', PROGRAM],
    env: {
      ...context.env,
      ...env,
      PYTHONPATH: [PYTHON_FOLDER, context.env['PYTHONPATH']].filter(Boolean).join(delimiter),
    },
    cwd,
    // A debugger needs the terminal itself.
    isInteractive: order.debugger !== null,
    onOutput: (chunk) => void context.stderr.write(chunk),
    onLine: (line) => {
      if (!line.startsWith('{"asks":')) text = line;
      else if (answerSecret) void answerLine(line, answerSecret).then(send);
    },
  });
  send(JSON.stringify(order));
  const how = await ended;
  if (text === '') {
    const error = `the process has ended by ${how}`;
    throw new WithoutResult(`the test has no result: ${error}`, { error, line: null });
  }
  const answer = JSON.parse(text) as LocalAnswer;
  if ('problem' in answer) {
    throw answer.not_loaded ? notLoaded(answer.problem, answer.not_loaded) : new CliError(answer.problem);
  }
  return answer.result;
}

/** The last line of a traceback has the class of the exception. */
function notLoaded(problem: string, { message, line, path, traceback }: NotLoaded): WithoutResult {
  const error = traceback.trimEnd().split('\n').at(-1) || message;
  return new WithoutResult(problem, { error, line: line === null ? null : `${basename(path)}:${line}` });
}

async function answerLine(line: string, answerSecret: AnswerSecret): Promise<string> {
  const { asks } = JSON.parse(line) as { asks: AskedSecret };
  try {
    return JSON.stringify({ text: await answerSecret(asks) });
  } catch (error) {
    return JSON.stringify({ problem: messageOf(error) });
  }
}
