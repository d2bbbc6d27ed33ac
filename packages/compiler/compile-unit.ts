/** One project or one plain DAG file, to artifacts that can be registered, or to an error an author can act on. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { applyProject } from '@svc/spec/project/apply.ts';
import { loadProject } from '@svc/spec/project/load.ts';
import type { LoadedProject } from '@svc/spec/project/load.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { validateSpec } from '@svc/spec/validate.ts';
import type { CompileAnswer, CompileError, Compiler } from './compiler.ts';
import type { Unit } from './discover.ts';

export type Artifact = { dagId: string; spec: CompiledSpec; warnings: readonly string[] };

export type UnitProblem = {
  /** Relative to the unit's root. */
  file: string;
  line: number | null;
  column: number | null;
  message: string;
  /** What to do instead; may be empty. */
  instead: string;
  /** The traceback, where there is one. */
  traceback: string;
};

export type CompiledUnit = {
  unit: Unit;
  sourcePath: string;
  seconds: number;
  output: string;
  warnings: UnitProblem[];
} & (
  | { ok: true; artifacts: Artifact[]; project: Extract<LoadedProject, { ok: true }>['project'] | null }
  | { ok: false; problems: UnitProblem[] }
);

export async function compileUnit(compiler: Compiler, unit: Unit): Promise<CompiledUnit> {
  if (unit.kind === 'file') return compilePlainFile(compiler, unit);
  const text = await readIfPresent(unit.path);
  const loaded = loadProject(text, basename(unit.root));
  const place = { unit, sourcePath: unit.path, seconds: 0, output: '', warnings: [] };
  if (!loaded.ok) return { ...place, ok: false, problems: loaded.problems.map(inProjectFile) };
  return compileProject(compiler, unit, loaded);
}

async function compilePlainFile(compiler: Compiler, unit: Unit): Promise<CompiledUnit> {
  const answer = await compiler.compile({ path: unit.path, dagsFolder: unit.root });
  const base = resultOf(unit, unit.path, answer, []);
  if (!answer.ok) return { ...base, ok: false, problems: [fromCompiler(answer.error)] };
  return checked({
    ...base,
    artifacts: answer.dags.map(({ dag_id: dagId, spec }) => ({ dagId, spec, warnings: answer.warnings })),
    project: null,
  });
}

async function compileProject(
  compiler: Compiler,
  unit: Unit,
  loaded: Extract<LoadedProject, { ok: true }>,
): Promise<CompiledUnit> {
  const { project } = loaded;
  const sourcePath = join(unit.root, project.dag_source);
  const answer = await compiler.compile({ path: sourcePath, dagsFolder: unit.root });
  const base = resultOf(unit, sourcePath, answer, loaded.warnings.map(inProjectFile));
  if (!answer.ok) return { ...base, ok: false, problems: [fromCompiler(answer.error)] };
  const refuse = (message: string, instead = ''): CompiledUnit => ({
    ...base,
    ok: false,
    problems: [{ ...NOWHERE, file: 'svc.yaml', message, instead }],
  });

  const [only, ...more] = answer.dags;
  if (!only)
    return {
      ...base,
      ok: false,
      problems: [
        {
          ...NOWHERE,
          file: project.dag_source,
          message: 'the file defines no DAG',
          instead: 'Define a DAG at the top level of the file',
        },
      ],
    };
  if (more.length === 0) {
    const applied = applyProject(only.spec, project);
    if (!applied.ok)
      return {
        ...base,
        ok: false,
        problems: applied.problems.map((message) => ({ ...NOWHERE, file: 'svc.yaml', message })),
      };
    const warnings = [...answer.warnings, ...applied.warnings];
    return checked({ ...base, artifacts: [{ dagId: project.dag_id, spec: applied.spec, warnings }], project });
  }
  // Several DAGs cannot share one id: each keeps its own, and settings for single tasks go to the DAG svc.yaml names.
  const named = answer.dags.find((dag) => dag.dag_id === project.dag_id);
  if (!named && project.tasks) {
    return refuse(
      `the file defines ${answer.dags.length} DAGs, and none of them is "${project.dag_id}", so tasks has no DAG to apply to`,
      'Set dag_id to the DAG the overrides are for',
    );
  }
  const { tasks: _forTheNamedOne, ...shared } = project;
  const applied = answer.dags.map((dag) =>
    applyProject(dag.spec, { ...(dag === named ? project : shared), dag_id: dag.dag_id }),
  );
  const problems = applied.flatMap((result) => (result.ok ? [] : result.problems));
  if (problems.length > 0) return refuse(problems.join('; '));
  const artifacts = applied.flatMap((result) =>
    result.ok ? [{ dagId: result.spec.dag.dag_id, spec: result.spec, warnings: answer.warnings }] : [],
  );
  return checked({ ...base, artifacts, project });
}

const NOWHERE = { line: null, column: null, instead: '', traceback: '' };

type Compiled = {
  unit: Unit;
  sourcePath: string;
  seconds: number;
  output: string;
  warnings: UnitProblem[];
  artifacts: Artifact[];
  project: Extract<LoadedProject, { ok: true }>['project'] | null;
};

/** The compiler and svc.yaml together must give what the control plane accepts; better told here than at registration. */
function checked(result: Compiled): CompiledUnit {
  const problems = result.artifacts.flatMap(({ dagId, spec }) =>
    validateSpec(spec).map((message) => ({ ...NOWHERE, file: spec.source.path, message: `DAG ${dagId}: ${message}` })),
  );
  const { artifacts, project, ...base } = result;
  return problems.length > 0 ? { ...base, ok: false, problems } : { ...base, ok: true, artifacts, project };
}

const resultOf = (unit: Unit, sourcePath: string, answer: CompileAnswer, warnings: UnitProblem[]) => ({
  unit,
  sourcePath,
  seconds: answer.duration_ms / 1_000,
  output: answer.output,
  warnings: [...warnings, ...answer.warnings.map((message) => ({ ...NOWHERE, file: basename(sourcePath), message }))],
});

const inProjectFile = ({ message, line, column }: { message: string; line: number; column: number }): UnitProblem => ({
  ...NOWHERE,
  file: 'svc.yaml',
  line,
  column,
  message,
});

const fromCompiler = (error: CompileError): UnitProblem => ({
  file: error.path,
  line: error.line,
  column: null,
  message: error.message,
  instead: error.instead,
  traceback: error.traceback,
});

/** An absent svc.yaml is an empty one. */
async function readIfPresent(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
