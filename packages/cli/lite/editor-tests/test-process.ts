/**
 * The process of a test from the editor. It runs author code, so it is as limited as a process of a task: it belongs to
 * the user of tasks, and it has no settings of the control plane. It also ends after some time, and when it prints too
 * much. With it end the processes of its group.
 */
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { asUser, taskEnvironment } from '@svc/agent/settings.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { Environment } from '../../context.ts';
import { PYTHON_FOLDER, startPython } from '../../local-runs/python-channel.ts';

export const MOST_OUTPUT_BYTES = 1024 * 1024;
const MOST_ANSWER_BYTES = 16 * 1024 * 1024;
const KILL_AFTER_MS = 2_000;
/** A process that has left the group may hold the streams. */
const LAST_WORDS_MS = 1_000;

export type ProcessInput = {
  python: string;
  args: readonly string[];
  /** A line for the channel. */
  order: string | undefined;
  env: Environment;
  cwd: string;
  user: TaskUser | undefined;
  timeoutMs: number;
  onLog: (text: string) => void;
};

export type ProcessEnd = {
  /** The last line of the channel. Empty if there is none. */
  answer: string;
  /** Why it ended, if there is no answer. */
  problem: string;
};

export type TestProcess = { stop(): void; ended: Promise<ProcessEnd> };

export function startTestProcess(input: ProcessInput): TestProcess {
  const { python, args, order, env, cwd, user, timeoutMs, onLog } = input;
  const folder = mkdtempSync(join(tmpdir(), 'svc-editor-test-'));
  if (user) chownSync(folder, user.uid, user.gid);
  const decoder = new StringDecoder('utf8');
  let answer = '';
  let outputBytes = 0;
  let problem: string | undefined;
  const { child, send, ended } = startPython({
    python,
    args,
    env: { ...taskEnvironment(env, user), PYTHONPATH: PYTHON_FOLDER, PYTHONDONTWRITEBYTECODE: '1', TMPDIR: folder },
    as: asUser(user),
    cwd,
    isOwnGroup: true,
    onOutput: (chunk) => {
      if (problem !== undefined) return;
      outputBytes += chunk.length;
      if (outputBytes <= MOST_OUTPUT_BYTES) return onLog(decoder.write(chunk));
      end(`it was stopped because it has printed more than ${MOST_OUTPUT_BYTES / 1024 / 1024} MiB`);
    },
    onLine: (line) => {
      answer = line;
    },
  });
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // the group has ended
    }
  };
  let killing: NodeJS.Timeout | undefined;
  function end(why: string): void {
    if (problem !== undefined) return;
    problem = why;
    signal('SIGTERM');
    killing = setTimeout(() => signal('SIGKILL'), KILL_AFTER_MS);
  }
  let channelBytes = 0;
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    channelBytes += chunk.length;
    if (channelBytes > MOST_ANSWER_BYTES) end('it was stopped because its result is too large for the editor');
  });
  const timer = setTimeout(
    () => end(`it was stopped after ${timeoutMs / 1_000} s (ui.test_timeout_seconds)`),
    timeoutMs,
  );
  child.once('exit', () => {
    signal('SIGKILL');
    setTimeout(() => child.stdio.forEach((stream) => stream?.destroy()), LAST_WORDS_MS).unref();
  });
  if (order !== undefined) send(order);
  return {
    stop: () => end('it was stopped'),
    ended: ended
      .catch((error: NodeJS.ErrnoException) => `an error: ${error.message}`)
      .then((how) => ({
        answer: problem === undefined ? answer : '',
        problem: problem ?? `Python ended with ${how} and without a result`,
      }))
      .finally(() => {
        clearTimeout(timer);
        clearTimeout(killing);
        rmSync(folder, { recursive: true, force: true });
      }),
  };
}
