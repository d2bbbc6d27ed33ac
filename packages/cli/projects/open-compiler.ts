import { availableParallelism } from 'node:os';
import { createPythonEnvironments } from '@svc/agent/environments.ts';
import { createCompilerPool } from '@svc/compiler/compiler-pool.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { compiledFolder, ensurePython } from '@svc/compiler/python-environment.ts';
import type { AnswerValue } from '@svc/spec/values-read.ts';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { columnsOf } from '../output/terminal.ts';
import { printable } from '../output/text.ts';

/** More files at once would only wait for each other. */
const MOST_JOBS = 8;

/**
 * Opens a compiler. Its first use on a machine builds a Python environment, which takes a while, so progress goes to
 * standard error.
 */
export async function withCompiler<Result>(
  context: CliContext,
  use: (compiler: Compiler) => Promise<Result>,
  { answerValue }: { answerValue?: AnswerValue | undefined } = {},
): Promise<Result> {
  const say = (text: string): void => void context.stderr.write(`svc: ${text}…\n`);
  const python = await openPython(context);
  const progress = transientLine(context);
  const jobs = Math.min(availableParallelism(), MOST_JOBS);
  const cacheFolder = compiledFolder(context.env);
  const compiler = createCompilerPool({
    base: createCompiler({ python, jobs, cacheFolder, answerValue }),
    interpreters: createPythonEnvironments({ env: context.env, say, onProgress: progress.show }),
    runsElsewhere: true,
    open: (other) => createCompiler({ python: other, jobs, cacheFolder, answerValue }),
  });
  try {
    return await use(compiler);
  } finally {
    progress.clear();
    await compiler.close();
  }
}

/** Shows one line that is overwritten, only on a terminal. */
function transientLine({ stderr }: CliContext): { show: (text: string) => void; clear: () => void } {
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001B[K');
    isShown = false;
  };
  const show = (text: string): void => {
    if (!stderr.isTTY) return;
    stderr.write(`\r${printable(text).slice(0, (columnsOf(stderr) ?? 80) - 1)}\u001B[K`);
    isShown = true;
  };
  return { show, clear };
}

/** Returns only the interpreter, for commands that only read files. */
export function openPython(context: CliContext): Promise<string> {
  const say = (text: string): void => void context.stderr.write(`svc: ${text}…\n`);
  return ensurePython({ env: context.env, say }).catch((error: unknown) => {
    if (!(error instanceof PythonEnvironmentError)) throw error;
    throw new CliError(error.message, { exitCode: EXIT.usage, hint: error.hint, cause: error });
  });
}
