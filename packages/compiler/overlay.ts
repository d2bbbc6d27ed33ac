/** svc.yaml laid over everything its DAG file defines: usually one DAG, sometimes several. */
import { applyProject } from '@svc/spec/project/apply.ts';
import type { OverlayProblem } from '@svc/spec/project/apply.ts';
import type { LoadedProject } from '@svc/spec/project/load.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { CompiledDag } from './compiler.ts';

export type Project = Extract<LoadedProject, { ok: true }>['project'];

type Dag = Pick<CompiledDag, 'spec' | 'stated'>;
type Problem = OverlayProblem & { instead: string };

export type Overlay =
  | { ok: true; specs: CompiledSpec[]; warnings: string[] }
  | { ok: false; problems: readonly Problem[] };

export function overlay(dags: readonly Dag[], project: Project): Overlay {
  const [only, ...more] = dags;
  const results =
    only !== undefined && more.length === 0 ? [applyProject(only, project)] : applyToSeveral(dags, project);
  if (!Array.isArray(results)) return { ok: false, problems: [results] };
  const problems = results.flatMap((result) => (result.ok ? [] : result.problems));
  if (problems.length > 0) return { ok: false, problems: problems.map((problem) => ({ ...problem, instead: '' })) };
  const applied = results.flatMap((result) => (result.ok ? [result] : []));
  return {
    ok: true,
    specs: applied.map((result) => result.spec),
    warnings: applied.flatMap((result) => result.warnings),
  };
}

/** Several DAGs cannot share one id: each keeps its own, and settings for single tasks go to the DAG svc.yaml names. */
function applyToSeveral(dags: readonly Dag[], project: Project) {
  const named = dags.find(({ spec }) => spec.dag.dag_id === project.dag_id);
  if (!named && project.tasks) {
    return {
      path: ['tasks'],
      message: `the file defines ${dags.length} DAGs, and none of them is "${project.dag_id}", so tasks has no DAG to apply to`,
      instead: 'Set dag_id to the DAG the overrides are for',
    };
  }
  const { tasks: _forTheNamedOne, ...shared } = project;
  return dags.map((dag) => applyProject(dag, { ...(dag === named ? project : shared), dag_id: dag.spec.dag.dag_id }));
}
