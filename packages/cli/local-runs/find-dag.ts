/** Finds the file of a DAG on this machine, and the Python that has the packages of its project. */
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { connectorPackages } from '@svc/spec/project/connectors.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { compilePath } from '../projects/compile-path.ts';
import { openPython } from '../projects/open-compiler.ts';
import { failedOf, printProblems } from '../projects/report-units.ts';

export type Compiled = Extract<CompiledUnit, { ok: true }>;

export type FoundDag = {
  dagId: string;
  taskIds: readonly string[];
  /** The DAG file. */
  path: string;
  /** The folder that imports and paths of the file start from. */
  root: string;
  /** The sections of an Airflow repository. */
  bundle: object | null;
  /** Variables of the environment that the repository sets. */
  env: Readonly<Record<string, string>>;
  dependencies: readonly string[];
};

/** `named` is a DAG id, or a DAG file that has one DAG. */
export async function findDag(
  context: CliContext,
  named: string,
  { path, values }: { path: string; values?: string | undefined },
): Promise<FoundDag> {
  const isFile = named.endsWith('.py') && existsSync(named) && statSync(named).isFile();
  const units = await compilePath(context, isFile ? named : path, values === undefined ? {} : { values });
  const compiled = units.flatMap((unit): [Compiled, string][] =>
    unit.ok ? unit.artifacts.map(({ dagId }) => [unit, dagId]) : [],
  );
  const found = isFile ? compiled : compiled.filter(([, dagId]) => dagId === named);
  const [first, ...others] = found;
  if (!first) {
    printProblems(context, failedOf(units));
    throw notFound(named, { isFile, path, known: compiled.map(([, dagId]) => dagId) });
  }
  if (others.length > 0) {
    throw usageError(`${named} has several DAGs: ${found.map(([, dagId]) => dagId).join(', ')}`, `name one of them`);
  }
  return describeDag(...first);
}

function notFound(
  named: string,
  { isFile, path, known }: { isFile: boolean; path: string; known: string[] },
): CliError {
  if (isFile) return new CliError(`${named} does not load`, { hint: 'repair the file, then run the command again' });
  const some = known.sort().slice(0, 20).join(', ');
  return new CliError(`there is no DAG ${named} in ${resolve(path)}`, {
    exitCode: EXIT.notFound,
    hint: known.length > 0 ? `there are: ${some}` : 'name the folder of DAGs with --path',
  });
}

/** What a local run needs of a DAG that has been compiled. */
export function describeDag(unit: Compiled, dagId: string): FoundDag {
  const { path, root, repository } = unit.unit;
  const file = unit.unit.kind === 'project' ? resolve(root, unit.source) : path;
  if (!existsSync(file)) throw new CliError(`${file} is inside of a zip file: unpack it to test its DAGs`);
  const { project } = unit;
  const spec = unit.artifacts.find((artifact) => artifact.dagId === dagId)?.spec;
  return {
    dagId,
    taskIds: spec?.tasks.map(({ task_id: id }) => id) ?? [],
    path: file,
    root: root || dirname(file),
    bundle: repository?.bundle ?? null,
    env: repository?.env ?? {},
    dependencies: project === null ? [] : [...project.dependencies, ...connectorPackages(project.connectors)],
  };
}

/** The interpreter that has the packages of the project. The first time, its environment is built. */
export async function pythonOf(context: CliContext, dependencies: readonly string[]): Promise<string> {
  if (dependencies.length === 0) return openPython(context);
  const { createPythonEnvironments, EnvironmentFailure } = await import('@svc/agent/environments.ts');
  const say = (text: string): void => void context.stderr.write(`svc: ${text}…\n`);
  return createPythonEnvironments({ env: context.env, say })
    .get(dependencies)
    .catch((error: unknown) => {
      if (!(error instanceof EnvironmentFailure)) throw error;
      throw new CliError(error.message, { cause: error });
    });
}
