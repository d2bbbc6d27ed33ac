/** One project or one plain DAG file, to artifacts that can be registered, or to an error an author can act on. */
import { basename, join, relative } from 'node:path';
import { placeAt } from '@svc/spec/files/yaml.ts';
import { applyProject } from '@svc/spec/project/apply.ts';
import { connectorPackages } from '@svc/spec/project/connectors.ts';
import { dbtGroups, dbtKeyIn } from '@svc/spec/project/dbt.ts';
import { PROJECT_DEFAULTS } from '@svc/spec/project/schema.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { validateSpec } from '@svc/spec/validate.ts';
import type { ValueRead } from '@svc/spec/values-read.ts';
import { ENVIRONMENT_ERROR } from './compiler.ts';
import type { CompileAnswer, CompileError, Compiler } from './compiler.ts';
import type { NotedDifference } from './differences/table.ts';
import { differenceWarnings } from './differences/warnings.ts';
import type { Unit } from './discover.ts';
import { overlay } from './overlay.ts';
import type { Project } from './overlay.ts';
import { NOWHERE, PROJECT_FILE, inProjectFile } from './reading/unit-problem.ts';
import type { UnitProblem } from './reading/unit-problem.ts';
import type { ReadProject } from './reading/read-project.ts';
import { readHere } from './reading/workspace-reader.ts';
import type { WorkspaceReader } from './reading/workspace-reader.ts';
import type { Repository } from './repository/repository.ts';
import { warningAt } from './warning-place.ts';

export type CompiledDag = {
  dagId: string;
  spec: CompiledSpec;
  warnings: readonly string[];
  /** What works differently than on Airflow: one warning for each row of the table. */
  differences: readonly string[];
  noted: readonly NotedDifference[];
} & Pick<CompileAnswer, 'providers' | 'reads'>;

export type CompiledUnit = {
  unit: Unit;
  /** Where its DAGs come from, as the API calls it. The same whether a project is compiled alone or with its workspace. */
  bundleName: string;
  /** The DAG file, relative to the unit's root. Problems are filed under it, and registering it clears them. */
  source: string;
  seconds: number;
  /** What the file printed. */
  output: string;
  warnings: UnitProblem[];
  /** Variables and connections that the file has read: if one of them changes, the unit is compiled again. */
  reads: readonly ValueRead[];
} & ({ ok: true; artifacts: CompiledDag[]; project: Project | null } | { ok: false; problems: UnitProblem[] });

type Base = Omit<CompiledUnit, 'ok'>;

/** Airflow's name for the one bundle of a plain dags folder. */
const PLAIN_BUNDLE = 'dags-folder';

export async function compileUnit(
  compiler: Compiler,
  unit: Unit,
  reader: WorkspaceReader = readHere,
): Promise<CompiledUnit> {
  if (unit.repository) return compileRepositoryFile(compiler, unit, unit.repository);
  if (unit.kind === 'file') return compilePlainFile(compiler, unit);
  const read = await reader.project(unit);
  return read.ok ? compileProject(compiler, unit, read) : failed(baseOf(unit, read.named), [...read.problems]);
}

async function compilePlainFile(compiler: Compiler, unit: Unit): Promise<CompiledUnit> {
  const answer = await compiler.compile({ path: unit.path, dagsFolder: unit.root });
  const source = relative(unit.root, unit.path);
  const base = withAnswer({ ...EMPTY, unit, bundleName: PLAIN_BUNDLE, source }, answer);
  if (!answer.ok) return failed(base, [fromCompiler(answer.error, source)]);
  return checked(base, answer, { specs: answer.dags.map((dag) => dag.spec), project: null });
}

/** In the environment of its repository, whose settings are laid over every DAG of it; each keeps its own id. */
async function compileRepositoryFile(compiler: Compiler, unit: Unit, repository: Repository): Promise<CompiledUnit> {
  const { root, bundle, env, project, problems, hasSettings } = repository;
  const source = relative(root, unit.path);
  const warnings = unit.isFirst ? repository.notes.map((note) => ({ ...NOWHERE, ...note })) : [];
  const bare: Base = { ...EMPTY, unit, bundleName: basename(root), source, warnings };
  if (problems.length > 0)
    return failed(
      bare,
      problems.map((problem) => ({ ...NOWHERE, ...problem })),
    );
  const dependencies = [...project.dependencies, ...connectorPackages(project.connectors)];
  const answer = await compiler.compile({ path: unit.path, dagsFolder: root, bundle, env, dependencies });
  const told = unit.isFirst ? leftOutNotes(answer, repository) : [];
  const base = withAnswer({ ...bare, warnings: [...warnings, ...told] }, answer);
  if (!answer.ok) return failed(base, [withOrigin(fromCompiler(answer.error, source), answer.error, repository)]);
  if (!hasSettings) return checked(base, answer, { specs: answer.dags.map((dag) => dag.spec), project });
  const applied = answer.dags.map((dag) => applyProject(dag, { ...project, dag_id: dag.spec.dag.dag_id }));
  const specs = applied.flatMap((result) => (result.ok ? [withEnvironment(result.spec, env)] : []));
  return checked(base, answer, { specs, project });
}

const withEnvironment = (spec: CompiledSpec, env: Readonly<Record<string, string>>): CompiledSpec =>
  Object.keys(env).length === 0 ? spec : { ...spec, project: { ...(spec.project as object), env } };

/** Once for the repository: what its environment was made without, where it was asked for. */
function leftOutNotes({ leftOut = [] }: CompileAnswer, { requirements }: Repository): UnitProblem[] {
  return leftOut.map(({ entry, why }) => {
    const asked = requirements.packages.find(({ text }) => text === entry);
    const message = `${entry} is left out, because ${why}. Files that import it do not load, and tasks that import it fail`;
    return { ...NOWHERE, file: asked?.file ?? 'requirements.txt', line: asked?.line ?? null, message };
  });
}

/** What cannot be installed is to be mended where it is asked for. */
function withOrigin(problem: UnitProblem, error: CompileError, { requirements }: Repository): UnitProblem {
  if (error.type !== ENVIRONMENT_ERROR) return problem;
  const { packages, constraints } = requirements;
  const culprit = [...packages, ...constraints].find(({ text }) => error.message.includes(text));
  return { ...problem, file: culprit?.file ?? requirements.files[0] ?? problem.file, line: culprit?.line ?? null };
}

async function compileProject(
  compiler: Compiler,
  unit: Unit,
  { project, warnings, places }: Extract<ReadProject, { ok: true }>,
): Promise<CompiledUnit> {
  const at = (key: readonly (string | number)[]) => placeAt(places, key);
  const dependencies = [...project.dependencies, ...connectorPackages(project.connectors)];
  const path = join(unit.root, project.dag_source);
  const answer = await compiler.compile({ path, dagsFolder: unit.root, dependencies, groups: dbtGroups(project) });
  const base = withAnswer({ ...baseOf(unit, project), warnings: warnings.map(inProjectFile) }, answer);
  if (!answer.ok && answer.error.type === ENVIRONMENT_ERROR) {
    const { message, instead } = answer.error;
    const listed = project.dependencies.findIndex((entry) => message.includes(entry));
    return failed(base, [inProjectFile({ message, ...at(['dependencies', listed]), instead })]);
  }
  if (!answer.ok) {
    const key = dbtKeyIn(answer.error.message);
    const problem = fromCompiler(answer.error, base.source);
    return failed(base, [key ? { ...problem, file: PROJECT_FILE, ...at(key) } : problem]);
  }
  if (answer.dags.length === 0) {
    const instead = 'Define a DAG at the top level of the file, and call functions decorated with @dag';
    return failed(base, [{ ...NOWHERE, file: base.source, message: 'the file defines no DAG', instead }]);
  }
  const result = overlay(answer.dags, project);
  if (!result.ok) {
    const problems = result.problems.map(({ path, message, instead }) =>
      inProjectFile({ message, ...at(path), instead }),
    );
    return failed(base, problems);
  }
  const notes = [...result.warnings, ...overlooked(unit)].map((message) => ({
    ...NOWHERE,
    file: base.source,
    message,
  }));
  return checked({ ...base, warnings: [...base.warnings, ...notes] }, answer, { specs: result.specs, project });
}

/** The compiler and svc.yaml together must give what the control plane accepts; better told here than at registration. */
function checked(
  base: Base,
  { warnings, providers, reads, differences: noted = [] }: CompileAnswer,
  { specs, project }: { specs: readonly CompiledSpec[]; project: Project | null },
): CompiledUnit {
  const artifacts = specs.map((spec) => ({
    dagId: spec.dag.dag_id,
    spec,
    warnings,
    differences: differenceWarnings(spec, noted),
    noted,
    providers,
    reads,
  }));
  const problems = artifacts.flatMap(({ dagId, spec }) =>
    validateSpec(spec).map((message) => ({ ...NOWHERE, file: base.source, message: `DAG ${dagId}: ${message}` })),
  );
  return problems.length > 0 ? failed(base, problems) : { ...base, ok: true, artifacts, project };
}

const failed = (base: Base, problems: UnitProblem[]): CompiledUnit => ({ ...base, ok: false, problems });

/** A project is its own bundle, named like its DAG: that name is unique, which the directory's is not. */
const baseOf = (unit: Unit, project: { dag_id: string; dag_source: string }): Base => ({
  ...EMPTY,
  unit,
  bundleName: project.dag_id,
  source: project.dag_source,
});

const EMPTY = { seconds: 0, output: '', warnings: [], reads: [] };

const withAnswer = (base: Base, answer: CompileAnswer): Base => ({
  ...base,
  seconds: answer.duration_ms / 1_000,
  reads: answer.reads ?? [],
  output: answer.output,
  warnings: [...base.warnings, ...answer.warnings.map((text) => ({ ...NOWHERE, ...warningAt(text, base.source) }))],
});

function overlooked({ overlooked: names }: Unit): string[] {
  if (names.length === 0) return [];
  return [
    `a directory with ${PROJECT_DEFAULTS.dag_source} is one project, so ${names.join(', ')} is not compiled. ` +
      `Rename ${PROJECT_DEFAULTS.dag_source} to make the directory a plain folder of DAG files, or add a ${PROJECT_FILE} to silence this`,
  ];
}

const fromCompiler = (error: CompileError, source: string): UnitProblem => ({
  file: error.path || source,
  line: error.line,
  column: null,
  message: error.message,
  instead: error.instead,
  traceback: error.traceback,
});
