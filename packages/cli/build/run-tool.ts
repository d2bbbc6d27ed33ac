/**
 * Runs an external program. Arguments are a list and never pass through a shell. Output arrives line by line, and a
 * stop includes all child processes.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Environment } from '../context.ts';
import { atProcessEnd } from './at-process-end.ts';

export type ToolRun = {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly directory?: string;
  readonly env: Environment;
  /** Written to its standard input, which is empty by default. */
  readonly input?: string;
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
};

const KEPT_LINES = 30;
const KEPT_OUTPUT = 65_536;
const MAX_LINE = 8_192;
/** Time between SIGTERM and SIGKILL, in which the program can clean up. */
const GRACE_MS = 10_000;

/** The program could not be started, or it failed. */
export class ToolFailure extends Error {
  /** True if the program does not exist. */
  readonly isMissing: boolean;
  readonly lastLines: readonly string[];

  constructor(message: string, options: { isMissing?: boolean; lastLines?: readonly string[]; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ToolFailure';
    this.isMissing = options.isMissing ?? false;
    this.lastLines = options.lastLines ?? [];
  }
}

/**
 * Resolves with the standard output of the program (the first 64 KiB). Rejects with the signal's reason if the signal
 * stops it.
 */
export async function runTool(run: ToolRun): Promise<string> {
  const { program, onLine } = run;
  const stop = run.timeoutMs === undefined ? undefined : AbortSignal.timeout(run.timeoutMs);
  const signal = AbortSignal.any([run.signal, stop].filter((one) => one !== undefined));
  signal.throwIfAborted();

  // Registered before the start, so that a signal in between has a listener.
  let started: ChildProcess | undefined;
  using _stop = stopWith(signal, (how) => started && killGroup(started, how));
  const child = spawn(program, run.arguments, {
    env: { ...run.env },
    ...(run.directory !== undefined && { cwd: run.directory }),
    stdio: ['pipe', 'pipe', 'pipe'],
    // The program gets its own process group, so that a stop includes its children.
    detached: true,
  });
  started = child;
  let lastLines: string[] = [];
  let output = '';
  const takeLine = (line: string): void => {
    lastLines = [...lastLines, line].slice(-KEPT_LINES);
    onLine?.(line);
  };
  const ended = ending(child);
  readLines(child.stdout, takeLine);
  readLines(child.stderr, takeLine);
  child.stdout.on('data', (chunk: string) => {
    output = (output + chunk).slice(0, KEPT_OUTPUT);
  });
  // A program may end without reading its input (EPIPE). Its exit code says what happened.
  child.stdin.on('error', () => {});
  child.stdin.end(run.input ?? '');

  const end = await ended;
  if (stop?.aborted && !run.signal?.aborted) {
    throw new ToolFailure(`${program} did not answer within ${run.timeoutMs} ms`, { lastLines });
  }
  signal.throwIfAborted();
  if (end.error !== undefined) {
    const isMissing = (end.error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new ToolFailure(
      isMissing ? `${program} is not installed` : `${program} cannot be started: ${end.error.message}`,
      {
        isMissing,
        cause: end.error,
      },
    );
  }
  if (end.code === 0) return output;
  const how = end.code === null ? `was ended by ${end.signal}` : `ended with exit code ${end.code}`;
  throw new ToolFailure(`${program} ${run.arguments[0] ?? ''} ${how}`.replace('  ', ' '), { lastLines });
}

type End = { code: number | null; signal: NodeJS.Signals | null; error?: Error };

function ending(child: ChildProcess): Promise<End> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/**
 * Stops the process group when the signal aborts (SIGTERM first), and when this process ends. It must be disposed after
 * all output has been read: the group has ended then, and its number may belong to another process.
 */
function stopWith(signal: AbortSignal, kill: (how: NodeJS.Signals) => void): Disposable {
  let force: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    kill('SIGTERM');
    force = setTimeout(() => kill('SIGKILL'), GRACE_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const atEnd = atProcessEnd(() => kill('SIGTERM'));
  return {
    [Symbol.dispose]: () => {
      clearTimeout(force);
      signal.removeEventListener('abort', onAbort);
      atEnd[Symbol.dispose]();
    },
  };
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A carriage return also ends a line, because progress bars use it. A line without an end is cut. */
function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/[\r\n]+/);
    rest = (lines.pop() ?? '').slice(0, MAX_LINE);
    for (const line of lines) if (line.trim() !== '') onLine(line.slice(0, MAX_LINE));
  });
  stream.on('end', () => {
    if (rest.trim() !== '') onLine(rest);
  });
}
