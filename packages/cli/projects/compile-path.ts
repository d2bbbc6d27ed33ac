/** Compiles everything at the path that a person names, or explains why there is nothing to compile. */
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import type { WorkspaceProgress } from '@svc/compiler/compile-workspace.ts';
import { DiscoverError } from '@svc/compiler/discover.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import type { CliContext } from '../context.ts';
import { withCompiler } from './open-compiler.ts';
import { openValues } from './values.ts';
import type { ValuesOption } from './values.ts';

export async function compilePath(
  context: CliContext,
  path: string,
  { isStrict = false, values, client }: { isStrict?: boolean } & ValuesOption & { client?: Client } = {},
): Promise<CompiledUnit[]> {
  const onProgress = showProgress(context);
  const answerValue = await openValues(context, { path: values, client });
  const units = await withCompiler(
    context,
    (compiler) => compileWorkspace({ workspace: path, compiler, onProgress, isStrict }),
    { answerValue },
  ).catch((error: unknown) => {
    if (!(error instanceof DiscoverError)) throw error;
    throw new CliError(error.message, {
      exitCode: EXIT.notFound,
      hint: 'name a project, an Airflow repository, a directory of projects, a folder of DAG files, or one DAG file',
    });
  });
  if (units.some((unit) => !unit.ok || unit.artifacts.length > 0)) return units;
  if (units.length > 0) {
    throw new CliError(`${path} was compiled, but there is no DAG in it`, {
      exitCode: EXIT.notFound,
      hint: 'a DAG must be a variable at the top level of its file, or opened with "with"; a function decorated with @dag must be called',
    });
  }
  throw new CliError(`there is no DAG in ${path}`, {
    exitCode: EXIT.notFound,
    hint: 'a project is a directory with dag.py or svc.yaml: "svc init my_dag" makes one. Other .py files count when they mention both "dag" and "airflow"',
  });
}

/** Shows progress on one line that is overwritten, only on a terminal. */
function showProgress({ stderr }: CliContext): (progress: WorkspaceProgress) => void {
  const start = performance.now();
  return ({ done, total }) => {
    if (!stderr.isTTY || total < 2) return;
    const left = remainingTime({ done, total, seconds: (performance.now() - start) / 1_000 });
    stderr.write(done === total ? '\r\u001B[K' : `\rcompiling ${done} of ${total}${left}\u001B[K`);
  };
}

/** Before this, the first files and the start of the compiler allow no estimate. */
const ESTIMATED_FROM_SECONDS = 2;

/**
 * Returns the remaining time for a line of progress. It is empty if there is no estimate, or if little time is left.
 */
export function remainingTime({ done, total, seconds }: { done: number; total: number; seconds: number }): string {
  const left = Math.round((seconds / done) * (total - done));
  if (seconds < ESTIMATED_FROM_SECONDS || done === 0 || left < 1) return '';
  return `, about ${left < 90 ? `${left} s` : `${Math.round(left / 60)} min`} left`;
}
