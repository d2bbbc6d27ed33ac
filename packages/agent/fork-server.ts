/**
 * One Python server process (python/svc_runtime/run_server). It has a DAG version loaded and forks a process per
 * attempt.
 *
 *   spawned ──load──▶ ready | failed ──▶ fork, kill, exits … ──▶ ended
 *
 * When it ends unexpectedly, the kernel kills the attempts that it has forked, and they are reported as killed.
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

/** How the attempts of a server are isolated from each other. The operating system decides what is not set here. */
export type Isolation = {
  /** The folder for homes, temporary and working folders of attempts. With it, attempts are isolated. */
  places?: string;
  /** True when the control plane has started the worker on its own machine, where people edit their projects. */
  is_local?: boolean;
  /** True when all shared memory of this machine belongs to the worker, as in a pod. */
  owns_machine?: boolean;
  /** How many bytes the server may grow after the version was loaded; 0: no limit. */
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
  /** Called once, before the first fork. */
  load(request: LoadRequest): void;
  /** Rejects with a `LoadFailure` when the file cannot be loaded, or the process ends before that. */
  readonly ready: Promise<void>;
  readonly running: number;
  /**
   * Forks a process for the attempt. Returns the spare process that the attempt takes, if there is one. Its job may be
   * sent after `ordered`.
   */
  fork(attempt: { attemptId: string; key: string }, listener: ForkListener): Taken | undefined;
  kill(attemptId: string, signal: number): void;
  /** Receives modules that an attempt had to load. The server loads them for later attempts if that is worthwhile. */
  loadLate(names: readonly string[]): void;
  /** The listener gets what an attempt left behind. */
  onUnclean(listener: (reason: string) => void): void;
  /** Ends the server and its attempts. */
  close(): void;
  /** Resolves when it is gone, with everything that it left behind. */
  readonly ended: Promise<void>;
};

export class LoadFailure extends Error {
  readonly traceback: string;
  /** Set when the file was not the cause: a signal has killed the process during the load. */
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
      usage?: { cpu: number; memory: number };
    };

/** How much of the end of its standard error is kept. This includes what a DAG file prints while it is loaded. */
const KEPT_CHARACTERS = 8_000;
/** It ends its attempts, which takes a moment. A DAG file that is being loaded may keep it from doing so. */
const CLOSE_MS = 5_000;
/** How often the server is told about a late module. After the second time it loads the module or never will. */
const TOLD_TIMES = 2;
/** Ten times what a large provider loads. A longer list cannot be a list of modules. */
const TOLD_NAMES = 5_000;
const LONGEST_NAME = 200;
const KILLED: ProcessExit = { status: null, signal: 9 };

type Companions = {
  user?: ServerProcessInput['user'];
  /** Without `spares`, no process is kept ready. */ spares?: SpareProcesses;
};

export const startForkServer = (input: ServerProcessInput, spares?: SpareProcesses): ForkServer =>
  talkTo(spawnServer(input), { user: input.user, ...(spares && { spares }) });

/** Takes a process that was spawned in this turn. */
export function talkTo({ python, child, marker }: ServerProcess, { user, spares }: Companions = {}): ForkServer {
  const attempts = new Map<string, ForkListener>();
  const lateNames = new Map<string, number>();
  const uncleanListeners: ((reason: string) => void)[] = [];
  const tellUnclean = (reason: string): void => uncleanListeners.forEach((listener) => listener(reason));
  let stderrTail = '';
  let isReady = false;
  let isGone = false;
  const { promise: ready, resolve: loaded, reject: notLoaded } = Promise.withResolvers<void>();
  ready.catch(() => {}); // the code that forks awaits it
  const { promise: ended, resolve: gone } = Promise.withResolvers<void>();

  const send = (command: object, onSent?: () => void): void =>
    void child.stdin.write(`${JSON.stringify(command)}\n`, onSent);
  /** Takes it only while no write is pending: the order must arrive before the job, which uses another connection. */
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
        const { status, signal, error, unclean, usage } = event;
        if (unclean !== undefined) tellUnclean(unclean);
        return listener?.exited({ status, signal, error: error ?? undefined, unclean, usage });
      }
    }
  }

  /** Ends programs that tasks had started, because an attempt is over when none of its processes is left. */
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
    else child.kill('SIGKILL'); // the protocol is broken, so nothing that it sends can be trusted
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
