// The compiler as the rest of the program sees it: a warm Python process that turns DAG files into specs.
//
// One process serves many requests and forks a child per file (python/svc_runtime/compile_server.py), so a hostile file
// cannot reach it. If the process itself dies, every open request fails and the next one starts a new process.

import { approximated, parseExact } from '@svc/spec/exact-json.ts';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { BundleSection } from '@svc/spec/schema.ts';
import type { AnswerValue, ValueKind } from '@svc/spec/values-read.ts';
import type { CompileAnswer } from './compile-answer.ts';
import { userCacheFolder } from './python-environment.ts';
import { createReading } from './values/reading.ts';
import type { Reading } from './values/reading.ts';

export interface CompileLimits {
  readonly wall_seconds?: number;
  readonly cpu_seconds?: number;
  readonly memory_bytes?: number;
  readonly file_bytes?: number;
  readonly open_files?: number;
  readonly processes?: number;
  readonly output_bytes?: number;
  readonly output_keep_bytes?: number;
  readonly result_bytes?: number;
  readonly max_tasks?: number;
}

export interface CompileRequest {
  /** Absolute path of the DAG file. */
  readonly path: string;
  /** Absolute path of the folder that paths in the spec are relative to; also the first entry of sys.path. */
  readonly dagsFolder: string;
  /** When the file belongs to a repository, whose root `dagsFolder` is then. */
  readonly bundle?: BundleSection | undefined;
  /** What the file needs to be installed; counts where environments can be made (compiler-pool.ts). */
  readonly dependencies?: readonly string[] | undefined;
  /** Set while the file is loaded. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly limits?: CompileLimits;
  /** What svc.yaml adds to the DAG of the file, or has instead of a file (python/svc_runtime/dbt/from_yaml.py). */
  readonly groups?: object | undefined;
}

export type { CompileAnswer, CompileError, CompiledDag } from './compile-answer.ts';

/** The type of an error that came of what had to be installed, and not of the file. */
export const ENVIRONMENT_ERROR = 'environment';

export interface CompilerOptions {
  /** Interpreter with jinja2 and pendulum (python-environment.ts). */
  readonly python: string;
  /** Files compiled at once; default 1. */
  readonly jobs?: number;
  /** Where answers are kept for files that do not change; default: nowhere (python/svc_runtime/compile/cache.py). */
  readonly cacheFolder?: string | undefined;
  /** Begin with the process now, for requests that will come soon; default: with the first request. */
  readonly startsAtOnce?: boolean;
  /** Compiled files may read what this user's group may; without one, when root compiles, whatever root may. */
  readonly taskUser?: { readonly gid: number; readonly home: string } | undefined;
  /** Answers what files read while they load. Without it, files get defaults, with a warning, or are refused. */
  readonly answerValue?: AnswerValue | undefined;
}

export interface Compiler {
  readonly compile: (request: CompileRequest) => Promise<CompileAnswer>;
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly resolve: (answer: CompileAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly reading: Reading | undefined;
}

/** A line of the compiler process: a question of a file, or the answer to a request. */
type Line = { id: number } & ({ asked: { kind: ValueKind; name: string; declared: boolean } } | CompileAnswer);

const PYTHON_FOLDER = join(import.meta.dirname, '..', '..', 'python');
const STDERR_KEPT = 4_000;
const LAST_WORDS_MS = 1_000;

export function createCompiler(options: CompilerOptions): Compiler {
  const { python, jobs = 1, cacheFolder, startsAtOnce = false, taskUser, answerValue } = options;
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  let nextId = 1;
  const waiting = new Map<number, Waiting>();

  const start = (): ChildProcessByStdio<Writable, Readable, Readable> => {
    const group = taskUser ? ['--group', String(taskUser.gid)] : [];
    const keep = ['--keep', join(userCacheFolder(process.env), 'compiled')];
    const cache = cacheFolder === undefined ? [] : ['--cache', cacheFolder];
    const words = ['-m', 'svc_runtime.compile_server', '--jobs', String(jobs), ...keep, ...cache, ...group];
    const started = spawn(python, words, {
      env: { ...childEnvironment(), ...(taskUser && { HOME: taskUser.home }) },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let complaint = '';
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-STDERR_KEPT);
    });
    createInterface({ input: started.stdout }).on('line', (line) => answer(line));
    const end = (reason: string): void => {
      if (child === started) child = undefined;
      const error = new Error(`the DAG compiler stopped: ${reason}${complaint ? `\n${complaint}` : ''}`);
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.once('error', (error) => end(error.message));
    started.once('close', (code, signal) => end(signal ?? `exit code ${code}`));
    // `close` waits for the pipes, which a process left behind may hold: what is not answered shortly after the end
    // never will be.
    started.once('exit', (code, signal) => {
      const timer = setTimeout(() => end(signal ?? `exit code ${code}`), LAST_WORDS_MS);
      started.once('close', () => clearTimeout(timer));
    });
    // A broken pipe is told by `close`; without a listener it would end this process.
    started.stdin.on('error', () => {});
    return started;
  };

  const answer = (line: string): void => {
    let parsed: Line;
    try {
      parsed = parseExact(line) as Line;
    } catch {
      // Not our protocol any more: whoever wrote this, the process cannot be trusted. `close` fails what is open.
      child?.kill('SIGKILL');
      return;
    }
    if ('asked' in parsed) return void passOn(parsed.id, parsed.asked);
    const { id, duration_ms: duration, ...rest } = parsed;
    const open = waiting.get(id);
    waiting.delete(id);
    // Python writes 12.0; digits are for what authors wrote.
    const whole = { ...rest, duration_ms: approximated(duration) } as CompileAnswer;
    open?.resolve(open.reading?.complete(whole) ?? whole);
  };

  /** The file waits for the answer, so it is always given one. */
  const passOn = async (id: number, asked: { kind: ValueKind; name: string; declared: boolean }): Promise<void> => {
    const { kind, name, declared } = asked;
    const found = await waiting.get(id)?.reading?.answer({ kind, name, isDeclared: declared === true });
    child?.stdin.write(
      `${JSON.stringify({ id, answer: found ?? { refusal: 'nothing answers here', instead: '' } })}\n`,
    );
  };

  if (startsAtOnce) child = start();
  return {
    compile: ({ path, dagsFolder, bundle, env, limits, groups }) =>
      new Promise((resolve, reject) => {
        child ??= start();
        const id = nextId++;
        waiting.set(id, { resolve, reject, reading: answerValue && createReading(answerValue) });
        const values = answerValue !== undefined;
        const request = { id, path, dags_folder: dagsFolder, bundle, env, limits: limits ?? {}, groups, values };
        child.stdin.write(`${JSON.stringify(request)}\n`);
      }),
    // Files under way are compiled to their end, for which each has a limit of its own. `exit`, not `close`: a process that a
    // file left behind may hold the pipes open.
    close: () =>
      new Promise((resolve) => {
        if (!child || child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', () => resolve());
        child.stdin.end();
      }),
  };
}

// A DAG file is the author's code: it may see the author's environment, but nothing of the control plane's.
const PRIVATE = /^(SVC_|PG|DATABASE_URL$)/;
// Our own modules keep their bytecode: without it every start compiles them anew (some 300 ms).
const UNWANTED = new Set(['PYTHONDONTWRITEBYTECODE', 'PYTHONHOME', 'PYTHONPYCACHEPREFIX', 'PYTHONSTARTUP']);

function childEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !PRIVATE.test(name) && !UNWANTED.has(name));
  return {
    ...Object.fromEntries(inherited),
    PYTHONPATH: PYTHON_FOLDER,
    // A fixed seed makes set order, and with it the spec, the same every time.
    PYTHONHASHSEED: '0',
    PYTHONUNBUFFERED: '1',
    PYTHONNOUSERSITE: '1',
  };
}
