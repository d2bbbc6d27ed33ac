/**
 * Python's unittest, test by test: lists the tests below a folder, runs a module of them in a process of its own and says of
 * each how it ended (python/tests/report.py is the other end).
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ROOT } from './paths.ts';

const REPORT = join(ROOT, 'python', 'tests', 'report.py');

export type PythonModule = { readonly module: string; readonly ids: readonly string[] };

type Ended = { readonly id: string; readonly status: 'passed' | 'failed' | 'skipped'; readonly text: string };

export type ModuleRun = {
  /** What the module printed. */
  readonly output: string;
  /** Why the test did not pass; undefined when it did. */
  failureOf(id: string): string | undefined;
};

export type PythonTests = {
  list(): Promise<PythonModule[]>;
  run(module: PythonModule): Promise<ModuleRun>;
  /** Ends what still runs. */
  stop(): void;
};

/** `folder` has the tests in `tests/`, and is where they import from. */
export function pythonTests({ python, folder }: { python: string; folder: string }): PythonTests {
  const running = new Set<ChildProcess>();

  const report = async <Line>(args: readonly string[]) => {
    const child = spawn(python, [REPORT, folder, ...args], {
      cwd: folder,
      // As the product starts Python: bytecode is kept, because each process would otherwise compile what it imports.
      env: { ...process.env, PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    running.add(child);
    const [output, errors, lines] = [1, 2, 3].map((fd) => collect(child.stdio[fd] as Readable));
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (...how) => resolve(how));
    });
    running.delete(child);
    return {
      lines: parseLines<Line>(lines?.() ?? ''),
      output: output?.() ?? '',
      errors: errors?.() ?? '',
      how: signal === null ? `exit code ${code}` : `signal ${signal}`,
      isWell: code === 0,
    };
  };

  return {
    async list() {
      const { lines, isWell, how, output, errors } = await report<PythonModule>([]);
      if (!isWell) throw new Error(`the Python tests cannot be listed: ${how}\n${output}${errors}`);
      return lines;
    },
    async run({ module, ids }) {
      const { lines, isWell, how, output, errors } = await report<Ended>([module]);
      const ended = new Map(lines.map((line) => [line.id, line]));
      // Errors of no single test, and what the process said at its end: all there is to explain a test that never ran.
      const others = lines.filter(({ id }) => !ids.includes(id)).map(({ id, text }) => `${id}\n${text}`);
      const whatHappened = [`the process ended with ${how}`, ...others, output, errors].join('\n');
      return {
        output,
        failureOf(id) {
          const test = ended.get(id);
          if (test === undefined) return `${id} was not run: ${whatHappened}`;
          if (test.status === 'failed') return test.text;
          if (test.status === 'skipped') return `${id} was skipped, which proves nothing: ${test.text}`;
          return isWell && others.length === 0 ? undefined : `${id} passed, but ${whatHappened}`;
        },
      };
    },
    stop() {
      for (const child of running) child.kill('SIGKILL');
    },
  };
}

function collect(stream: Readable): () => string {
  const pieces: string[] = [];
  stream.setEncoding('utf8').on('data', (piece: string) => pieces.push(piece));
  return () => pieces.join('');
}

/** The last line may be cut off by a crash. */
function parseLines<Line>(text: string): Line[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}
