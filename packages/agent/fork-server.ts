/**
 * One Python server process (python/svc_runtime/run_server): it has a DAG version loaded and forks a process per attempt.
 *
 *   spawned ──load──▶ ready | failed ──▶ fork, kill, exits … ──▶ ended
 *
 * When it ends by itself, so do the attempts it has forked: the kernel kills them, and they are reported as killed.
 */
import { createInterface } from 'node:readline';
import { FORK_SERVER_VARIABLE, endMarkedProcesses } from '@svc/proto/marked-processes.ts';
import type { ProcessExit } from './exit-cause.ts';
import { spawnServer } from './server-process.ts';
import type { ServerProcess, ServerProcessInput } from './server-process.ts';
import type { SpareProcess, SpareProcesses } from './spare-process.ts';

export type LoadRequest = {
  socket: string;
  dags_folder: string;
  dag_id: string;
  fileloc: string;
  source: { path: string; module: string; text: string; files: Record<string, string> };
  bundle: { dags: string; import_roots: readonly string[]; plugins: readonly string[] } | null;
  env: Record<string, string>;
} & Isolation;

/** How the attempts of a server are kept from each other; what is not set is left to the operating system. */
export type Isolation = {
  /** Folder for homes, temporary and working folders of attempts. With it, attempts are kept apart. */
  places?: string;
  /** The control plane has started the worker on its own machine, where people edit their projects. */
  is_local?: boolean;
  /** Nobody else has shared memory on this machine. */
  owns_machine?: boolean;
  /** Bytes by which the server may grow after the version was loaded; 0: any. */
  max_growth?: number;
};

type Taken = SpareProcess & { ordered: Promise<void> };

export type ForkListener = {
  /** `isTaken`: it is the spare process that the attempt has taken. */
  forked(pid: number, isTaken: boolean): void;
  exited(exit: ProcessExit): void;
};

export type ForkServer = {
  readonly python: string;
  /** Once, before anything is forked. */
  load(request: LoadRequest): void;
  /** Rejects with a `LoadFailure` when the file cannot be loaded, or the process ends before it is. */
  readonly ready: Promise<void>;
  readonly running: number;
  /** Returns the spare process that it takes for this attempt, when there is one. It may be given its job after `ordered`. */
  fork(attempt: { attemptId: string; key: string }, listener: ForkListener): Taken | undefined;
  kill(attemptId: string, signal: number): void;
  /** Modules that an attempt had to load for itself: where it is worthwhile they are loaded here, for all that follow. */
  loadLate(names: readonly string[]): void;
  /** Called with what an attempt left behind. */
  onUnclean(listener: (reason: string) => void): void;
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
  | { event: 'forked'; attempt: string; pid: number; taken: boolean }
  | { event: 'spare'; key: string }
  | { event: 'unclean'; reason: string }
  | {
      event: 'exit';
      attempt: string;
      status: number | null;
      signal: number | null;
      error?: string | null;
      unclean?: string;
    };

/** Of the end of its standard error; what a DAG file prints while it is loaded is among it. */
const KEPT_CHARACTERS = 8_000;
/** It ends what it runs, which takes a moment; a DAG file that is being loaded may never let it. */
const CLOSE_MS = 5_000;
/** Of a module that attempts had to load: what it hears twice it loads, or never will. */
const TOLD_TIMES = 2;
/** Ten times what a large provider loads. What says more is no list of modules. */
const TOLD_NAMES = 5_000;
const LONGEST_NAME = 200;
const KILLED: ProcessExit = { status: null, signal: 9 };

type Companions = { user?: ServerProcessInput['user']; /** Without, none is kept ready. */ spares?: SpareProcesses };

export const startForkServer = (input: ServerProcessInput, spares?: SpareProcesses): ForkServer =>
  talkTo(spawnServer(input), { user: input.user, ...(spares && { spares }) });

/** Of a process that was spawned in this turn. */
export function talkTo({ python, child, marker }: ServerProcess, { user, spares }: Companions = {}): ForkServer {
  const attempts = new Map<string, ForkListener>();
  const lateNames = new Map<string, number>();
  const uncleanListeners: ((reason: string) => void)[] = [];
  const tellUnclean = (reason: string): void => uncleanListeners.forEach((listener) => listener(reason));
  let stderrTail = '';
  let isReady = false;
  let isGone = false;
  const { promise: ready, resolve: loaded, reject: notLoaded } = Promise.withResolvers<void>();
  ready.catch(() => {}); // whoever forks awaits it
  const { promise: ended, resolve: gone } = Promise.withResolvers<void>();

  const send = (command: object, onSent?: () => void): void =>
    void child.stdin.write(`${JSON.stringify(command)}\n`, onSent);
  /** Only while nothing waits to be written: the order must be there before the job, which goes another way. */
  const takeSpare = (): SpareProcess | undefined => (child.stdin.writableLength === 0 ? spares?.take() : undefined);

  function handle(event: ServerEvent): void {
    switch (event.event) {
      case 'ready':
        isReady = true;
        return loaded();
      case 'failed':
        return notLoaded(new LoadFailure(event.error, [event.traceback ?? '', stderrTail].filter(Boolean).join('\n')));
      case 'forked':
        return attempts.get(event.attempt)?.forked(event.pid, event.taken);
      case 'spare':
        return spares?.expect(event.key);
      case 'unclean':
        return tellUnclean(event.reason);
      case 'exit': {
        const listener = attempts.get(event.attempt);
        attempts.delete(event.attempt);
        const { status, signal, error, unclean } = event;
        if (unclean !== undefined) tellUnclean(unclean);
        return listener?.exited({ status, signal, error: error ?? undefined, unclean });
      }
    }
  }

  /** Programs that tasks had started may still be running: an attempt is over when nothing of it is left. */
  async function end(how: string, signal?: NodeJS.Signals): Promise<void> {
    isGone = true;
    spares?.drop();
    await endMarkedProcesses(FORK_SERVER_VARIABLE, marker, user);
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
    python,
    load: (request) => send({ op: 'load', ...request }),
    ready,
    ended,
    get running() {
      return attempts.size;
    },
    fork({ attemptId, key }, listener) {
      if (isGone) {
        void ended.then(() => listener.exited(KILLED));
        return undefined;
      }
      attempts.set(attemptId, listener);
      const taken = takeSpare();
      const { promise: ordered, resolve } = Promise.withResolvers<void>();
      send({ op: 'fork', attempt: attemptId, key, takes: taken?.key }, resolve);
      return taken && { ...taken, ordered };
    },
    loadLate(names) {
      const news: string[] = [];
      for (const name of names) {
        const told = lateNames.get(name) ?? 0;
        const isNews = told === 0 ? name.length <= LONGEST_NAME && lateNames.size < TOLD_NAMES : told < TOLD_TIMES;
        if (!isNews) continue;
        lateNames.set(name, told + 1);
        news.push(name);
      }
      if (news.length > 0) send({ op: 'load_late', names: news });
    },
    onUnclean: (listener) => void uncleanListeners.push(listener),
    kill: (attemptId, signal) => send({ op: 'kill', attempt: attemptId, signal }),
    close() {
      child.stdin.end();
      const late = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
      void ended.then(() => clearTimeout(late));
    },
  };
}

function parse(line: string): ServerEvent | undefined {
  try {
    return JSON.parse(line) as ServerEvent;
  } catch {
    return undefined;
  }
}
