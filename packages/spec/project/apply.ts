/**
 * Merges svc.yaml into what the DAG file says. A task override wins over the DAG file, and the project's defaults fill
 * what the file leaves open. The result is the artifact; the control plane never sees svc.yaml itself.
 */
import { distance } from 'fastest-levenshtein';
import type { CompiledSpec } from '../schema.ts';
import { connectorPackages } from './connectors.ts';
import type { ProjectFile, TaskOverride } from './schema.ts';

type Task = CompiledSpec['tasks'][number];
type Project = ProjectFile & { dag_id: string };

/** For each task, the settings that the DAG file sets, as arguments or in default_args. */
export type StatedSettings = Readonly<Record<string, readonly ('retries' | 'retry_delay' | 'execution_timeout')[]>>;

/** `path` is the wrong key in svc.yaml. */
export type OverlayProblem = { path: string[]; message: string };

export type AppliedProject =
  | { ok: true; spec: CompiledSpec; warnings: string[] }
  | { ok: false; problems: OverlayProblem[] };

/** The owner of a task whose author named none. */
const UNNAMED_OWNER = 'airflow';

type Compiled = { spec: CompiledSpec; stated: StatedSettings };

export function applyProject({ spec, stated }: Compiled, project: Project): AppliedProject {
  const problems = unknownTasks(spec, project);
  if (problems.length > 0) return { ok: false, problems };
  const owner = project.owner;
  const tasks = spec.tasks.map((task) => {
    const said = Object.hasOwn(stated, task.task_id) ? (stated[task.task_id] ?? []) : [];
    return applyToTask(task, settingsOf(project, task, said), owner);
  });
  const definedAs = spec.dag.dag_id;
  const renamed = definedAs !== project.dag_id;
  const applied: CompiledSpec = {
    ...spec,
    dag: {
      ...spec.dag,
      dag_id: project.dag_id,
      display_name: spec.dag.display_name === definedAs ? project.dag_id : spec.dag.display_name,
      description: project.description ?? spec.dag.description,
      owners: [...new Set(tasks.map((task) => task.policy.owner))].sort(),
      tags: [...new Set([...spec.dag.tags, ...(project.tags ?? [])])].sort(),
    },
    tasks,
    project: projectSection(project, definedAs),
  };
  const warning = `${spec.source.path} names its DAG "${definedAs}"; it is registered as "${project.dag_id}", the id of the project. Set dag_id in svc.yaml to choose`;
  return { ok: true, spec: applied, warnings: renamed ? [warning] : [] };
}

/** What building and running need later. `defined_as` finds the DAG in its file again. */
function projectSection(project: Project, definedAs: string) {
  return {
    schema_version: project.schema_version,
    defined_as: definedAs,
    python_version: project.python_version,
    base_image: project.base_image ?? null,
    dependencies: [...project.dependencies, ...connectorPackages(project.connectors)],
    system_packages: project.system_packages,
    staging: {
      enabled: project.staging.enabled,
      size: project.staging.size ?? null,
      storage_class: project.staging.storage_class ?? null,
    },
    ...(project.execution?.warmth && { execution: { warmth: project.execution.warmth } }),
  };
}

/** Merges resources field by field: a task that asks for more memory keeps the CPU of the defaults. */
function settingsOf({ defaults = {}, tasks = {} }: Project, task: Task, stated: readonly string[]): TaskOverride {
  const own = Object.hasOwn(tasks, task.task_id) ? tasks[task.task_id] : undefined;
  const open = {
    ...(!stated.includes('retries') && { retries: defaults.retries }),
    ...(!stated.includes('retry_delay') && { retry_delay_seconds: defaults.retry_delay_seconds }),
    ...(!stated.includes('execution_timeout') && { execution_timeout_seconds: defaults.execution_timeout_seconds }),
  };
  const resources = { ...(task.resources === null && defaults.resources), ...own?.resources };
  return { ...open, ...own, ...(Object.keys(resources).length > 0 && { resources }) };
}

function applyToTask(task: Task, override: TaskOverride, owner: string | undefined): Task {
  const { policy } = task;
  return {
    ...task,
    policy: {
      ...policy,
      owner: owner !== undefined && policy.owner === UNNAMED_OWNER ? owner : policy.owner,
      retries: override.retries ?? policy.retries,
      retry_delay: override.retry_delay_seconds ?? policy.retry_delay,
      execution_timeout: override.execution_timeout_seconds ?? policy.execution_timeout,
    },
    resources: override.resources ?? task.resources,
    env: override.env ?? task.env,
    execution: override.execution ?? task.execution,
  };
}

function unknownTasks(spec: CompiledSpec, project: Project): OverlayProblem[] {
  const known = spec.tasks.map((task) => task.task_id);
  return Object.keys(project.tasks ?? {})
    .filter((id) => !known.includes(id))
    .map((id) => {
      const nearest = known.toSorted((a, b) => distance(a, id) - distance(b, id))[0];
      const guess = nearest === undefined ? '' : `: did you mean ${nearest}?`;
      return { path: ['tasks', id], message: `tasks.${id}: there is no such task in the compiled DAG${guess}` };
    });
}
