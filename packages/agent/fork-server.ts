/**
 * One Python server process (python/svc_runtime/run_server): it has a DAG version loaded and forks a process per attempt.
 *
 *   spawned ──load──▶ ready | failed ──▶ fork, kill, exits … ──▶ ended
 *
 * When it ends by itself, so do the attempts it has forked: the kernel kills them, and they are reported as killed.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { FORK_SERVER_VARIABLE, endMarkedProcesses } from '@svc/proto/marked-processes.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { ProcessExit } from './exit-cause.ts';
import { asUser } from './settings.ts';

export type LoadRequest = {
  socket: string;
  dags_folder: string;
  dag_id: string;
  fileloc: string;
  source: { path: string; module: string; text: string; files: Record<string, string> };
  bundle: { dags: string; import_roots: readonly string[]; plugins: readonly string[] } | null;
  env: Record<string, string>;
};

export type ForkListener = {
  forked(pid: number): void;
  exited(exit: ProcessExit): void;
};

export type ForkServer = {
  readonly python: string;
  /** Once, before anything is forked. */
  load(request: LoadRequest): void;
  /** Rejects with a `LoadFailure` when the file cannot be loaded, or the process ends before it is. */
  readonly ready: Promise<void>;
  readonly running: number;
  fork(attemptId: string, listener: ForkListener): void;
  kill(attemptId: string, signal: number): void;
  /** Ends it, and what it runs. */
  close(): void;
  /** Resolves when it is gone, with all it left behind. */
  readonly ended: Promise<void>;
};

export class LoadFailure extends Error {
  readonly traceback: string;
  /** When it was not the file that failed: somebody has killed the process meanwhile. */
  readonly killedBy: NodeJS.Signals | undefined;

  constructor(message: string, traceback: string, killedBy?: NodeJS.Signals) {
    super(message);
    this.traceback = traceback;
    this.killedBy = killedBy;
  }
}

type ServerEvent =
  | { event: 'ready' }
  | { event: 'failed'; error: string; traceback?: string }
  | { event: 'forked'; attempt: string; pid: number }
  | { event: 'exit'; attempt: string; status: number | null; signal: number | null; error?: string | null };

/** Of the end of its standard error; what a DAG file prints while it is loaded is among it. */
const KEPT_CHARACTERS = 8_000;
const KILLED: ProcessExit = { status: null, signal: 9 };
let started = 0;

export function startForkServer(input: {
  python: string;
  env: Readonly<Record<string, string | undefined>>;
  /** As whom it runs, and so whatever it forks; without one, as ourselves. */
  user?: TaskUser | undefined;
  /** It makes nothing ready for others. */
  isForOne?: boolean | undefined;
}): ForkServer {
  const marker = `${process.pid}.${(started += 1)}`;
  const child = spawn(input.python, ['-m', 'svc_runtime.run_server', ...(input.isForOne ? ['--one-attempt'] : [])], {
    env: { ...input.env, [FORK_SERVER_VARIABLE]: marker },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...asUser(input.user),
  });
  const attempts = new Map<string, ForkListener>();
  let stderrTail = '';
  let isReady = false;
  let isGone = false;
  const { promise: ready, resolve: loaded, reject: notLoaded } = Promise.withResolvers<void>();
  ready.catch(() => {}); // whoever forks awaits it
  const { promise: ended, resolve: gone } = Promise.withResolvers<void>();

  const send = (command: object): void => void child.stdin.write(`${JSON.stringify(command)}\n`);

  function handle(event: ServerEvent): void {
    switch (event.event) {
      case 'ready':
        isReady = true;
        return loaded();
      case 'failed':
        return notLoaded(new LoadFailure(event.error, [event.traceback ?? '', stderrTail].filter(Boolean).join('\n')));
      case 'forked':
        return attempts.get(event.attempt)?.forked(event.pid);
      case 'exit': {
        const listener = attempts.get(event.attempt);
        attempts.delete(event.attempt);
        return listener?.exited({ status: event.status, signal: event.signal, error: event.error ?? undefined });
      }
    }
  }

  /** Programs that tasks had started may still be running: an attempt is over when nothing of it is left. */
  async function end(how: string, signal?: NodeJS.Signals): Promise<void> {
    isGone = true;
    await endMarkedProcesses(FORK_SERVER_VARIABLE, marker, input.user);
    if (!isReady)
      notLoaded(new LoadFailure(`the Python process ended while it loaded the DAG file: ${how}`, stderrTail, signal));
    for (const listener of attempts.values()) listener.exited(KILLED);
    attempts.clear();
    gone();
  }

  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-KEPT_CHARACTERS);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = parse(line);
    if (event) handle(event);
    else child.kill('SIGKILL'); // not our protocol any more: nothing it sends can be trusted
  });
  child.stdin.on('error', () => {}); // its end is noticed anyway
  child.once('error', (error) => void end(error.message));
  child.once('exit', (code, signal) => void end(signal ?? `exit code ${code}`, signal ?? undefined));
  return {
    python: input.python,
    load: (request) => send({ op: 'load', ...request }),
    ready,
    ended,
    get running() {
      return attempts.size;
    },
    fork(attemptId, listener) {
      if (isGone) return void ended.then(() => listener.exited(KILLED));
      attempts.set(attemptId, listener);
      send({ op: 'fork', attempt: attemptId });
    },
    kill: (attemptId, signal) => send({ op: 'kill', attempt: attemptId, signal }),
    close: () => void child.stdin.end(),
  };
}

function parse(line: string): ServerEvent | undefined {
  try {
    return JSON.parse(line) as ServerEvent;
  } catch {
    return undefined;
  }
}
