/**
 * Starts Python with a channel on descriptor 3, where lines of JSON go in both directions. Standard streams belong to
 * the tasks, the tests and the debugger.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';

export const PYTHON_FOLDER = join(import.meta.dirname, '..', '..', '..', 'python');

export type PythonOnChannel = {
  child: ChildProcess;
  send(line: string): void;
  /** How it has ended, in words. Rejects if it could not be started. */
  ended: Promise<string>;
};

export function startPython(input: {
  python: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string | undefined;
  /** Another user, to whom the process belongs. */
  as?: { uid?: number; gid?: number };
  /** The process gets the terminal itself. */
  isInteractive?: boolean;
  /** The process leads a group, so that it can be stopped with its children. It has no input. */
  isOwnGroup?: boolean;
  onOutput: (chunk: Buffer) => void;
  onLine: (line: string) => void;
}): PythonOnChannel {
  const { isInteractive = false, isOwnGroup = false, onOutput, onLine } = input;
  const output = isInteractive ? 'inherit' : 'pipe';
  const child = spawn(input.python, [...input.args], {
    env: { ...input.env, PYTHONUNBUFFERED: '1', SVC_NODE: process.execPath },
    cwd: input.cwd,
    ...input.as,
    detached: isOwnGroup,
    stdio: [isOwnGroup ? 'ignore' : 'inherit', output, output, 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput);
  const channel = child.stdio[3] as Duplex;
  channel.on('error', () => {}); // the end of the process says more
  createInterface({ input: channel, crlfDelay: Infinity }).on('line', onLine);
  return {
    child,
    send: (line) => void channel.write(`${line}\n`),
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    }),
  };
}
