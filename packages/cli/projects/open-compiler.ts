import { availableParallelism } from 'node:os';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { ensurePython } from '@svc/compiler/python-environment.ts';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

/** More than that many files at once only wait for each other. */
const MOST_JOBS = 8;

/** The first use on a machine builds a Python environment, which takes a while: that is told on standard error. */
export async function withCompiler<Result>(
  context: CliContext,
  use: (compiler: Compiler) => Promise<Result>,
): Promise<Result> {
  const say = (text: string): void => void context.stderr.write(`svc: ${text}…\n`);
  const python = await ensurePython({ env: context.env, say }).catch((error: unknown) => {
    if (!(error instanceof PythonEnvironmentError)) throw error;
    throw new CliError(error.message, { exitCode: EXIT.usage, hint: error.hint, cause: error });
  });
  const compiler = createCompiler({ python, jobs: Math.min(availableParallelism(), MOST_JOBS) });
  try {
    return await use(compiler);
  } finally {
    await compiler.close();
  }
}
