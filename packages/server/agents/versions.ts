/**
 * DAG versions as attempts need them: read once, looked at once, kept while they are used. A version never changes, so
 * nothing here can go stale, but for the folder of the DAG file, which is only a hint for agents on the same machine.
 */
import { parseExact } from '@svc/spec/exact-json.ts';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import type { ParamSpec } from '@svc/spec/schema-parts.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { Version } from '@svc/proto/agent-service.ts';
import type { Database } from '../db/database.ts';
import { findVersionSpec } from '../db/dags/version-lookups.ts';
import { lengthSources } from '../engine/plan/mapped-length.ts';
import { versionKey } from '../engine/shared/dag-graphs.ts';
import type { VersionRef } from '../engine/shared/dag-graphs.ts';
import { createLoadCache } from '../engine/shared/load-cache.ts';

export type AttemptVersion = {
  /** What the agent is told. */
  readonly message: Version;
  readonly pythonDagId: string;
  readonly params: readonly ParamSpec[];
  readonly tasks: ReadonlyMap<string, AttemptTask>;
  /** Ids of the tasks in each group, at any depth. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly timetable: TimetableSpec;
  readonly startDate: string | null;
  /** Its runs have a directory that their tasks share. */
  readonly hasStaging: boolean;
  /** What the DAG declares that it reads. */
  readonly secrets: { readonly connections: ReadonlySet<string>; readonly variables: ReadonlySet<string> };
};

export type AttemptTask = {
  readonly spec: TaskSpec;
  /** Direct upstream tasks with exactly one instance. */
  readonly singleUpstream: readonly string[];
  /** Direct upstream tasks with any number of instances: mapped ones, and those in mapped groups. */
  readonly mappedUpstream: readonly string[];
  /** Some task or group is expanded over what this one returns, so it must be a list or dict. */
  readonly isMappedOver: boolean;
};

export type AttemptVersions = {
  get(ref: VersionRef): Promise<AttemptVersion | undefined>;
  /** When it is known already. */
  peek(ref: VersionRef): AttemptVersion | undefined;
};

/** Of dbt projects, as the compiler has read them (python/svc_runtime/dbt/load_graph.py). Template files are read where the task runs. */
const GRAPHS = 'dbt-graph/';

/** A version of a few dozen tasks takes some 100 kB. */
const KEPT = 200;

export function createAttemptVersions(db: Database): AttemptVersions {
  const kept = createLoadCache<AttemptVersion | undefined>({ max: KEPT });
  return {
    get: (ref) => kept.get(versionKey(ref), () => load(db, ref)),
    peek: (ref) => kept.peek(versionKey(ref)),
  };
}

async function load(db: Database, ref: VersionRef): Promise<AttemptVersion | undefined> {
  const row = await findVersionSpec(db.tenant(ref.tenantId), ref);
  const spec = row && ((await parseJsonInTurns(row.spec, { parse: parseExact })) as CompiledSpec);
  return spec && attemptVersion(ref, spec, row.fileloc);
}

type Project = {
  defined_as?: string;
  dependencies?: string[];
  env?: Record<string, string>;
  staging?: { enabled?: boolean };
} | null;

export function attemptVersion(ref: VersionRef, spec: CompiledSpec, fileloc: string): AttemptVersion {
  const project = spec.project as Project;
  const pythonDagId = project?.defined_as ?? spec.dag.dag_id;
  const { source } = spec;
  return {
    pythonDagId,
    params: spec.params,
    tasks: attemptTasks(spec),
    groups: tasksByGroup(spec),
    timetable: spec.schedule,
    startDate: spec.dag.start_date,
    hasStaging: project?.staging?.enabled === true,
    secrets: { connections: new Set(spec.secrets.connections), variables: new Set(spec.secrets.variables) },
    message: {
      version_key: versionKey(ref),
      version_number: ref.versionNumber,
      dag_id: spec.dag.dag_id,
      python_dag_id: pythonDagId,
      dags_folder: folderOf(fileloc, source.path),
      source_path: source.path,
      source_module: source.module,
      source_text: source.text,
      modules: source.modules.map(({ module: name, path, sha256 }) => ({ name, path, sha256 })),
      dependencies: project?.dependencies ?? [],
      env: project?.env ?? {},
      ...(source.bundle && { bundle: source.bundle }),
      files: Object.fromEntries(
        spec.files.filter(({ path }) => path.startsWith(GRAPHS)).map(({ path, text }) => [path, text]),
      ),
    },
  };
}

/** The folder of the DAG file: its location without its relative path; empty when the location is not known. */
function folderOf(fileloc: string, path: string): string {
  return fileloc.startsWith('/') && fileloc.endsWith(`/${path}`) ? fileloc.slice(0, -path.length - 1) || '/' : '';
}

function attemptTasks(spec: CompiledSpec): Map<string, AttemptTask> {
  const groups = new Map(spec.groups.map((group) => [group.group_id, group]));
  const isInMappedGroup = (task: TaskSpec): boolean => {
    for (let group = groups.get(task.group_id); group; group = groups.get(group.parent_id)) {
      if (group.mapping !== null) return true;
      if (group.group_id === null) return false;
    }
    return false;
  };
  const mapped = new Set(spec.tasks.filter((task) => task.mapping !== null || isInMappedGroup(task)).map(idOf));
  const mappedOver = new Set(
    [...spec.tasks, ...spec.groups].flatMap(({ mapping }) => (mapping === null ? [] : lengthSources(mapping))),
  );
  return new Map(
    spec.tasks.map((task) => [
      task.task_id,
      {
        spec: task,
        singleUpstream: task.upstream_task_ids.filter((id) => !mapped.has(id)),
        mappedUpstream: task.upstream_task_ids.filter((id) => mapped.has(id)),
        // An instance of a mapped task gives one item of any kind: the list is what all of them give.
        isMappedOver: mappedOver.has(task.task_id) && !mapped.has(task.task_id),
      },
    ]),
  );
}

function tasksByGroup(spec: CompiledSpec): Map<string, string[]> {
  const parents = new Map(spec.groups.map((group) => [group.group_id, group.parent_id]));
  const found = new Map(
    spec.groups.flatMap(({ group_id: id }) => (id === null ? [] : [[id, [] as string[]] as const])),
  );
  for (const task of spec.tasks) {
    for (let id = task.group_id; id !== null; id = parents.get(id) ?? null) found.get(id)?.push(task.task_id);
  }
  return found;
}

const idOf = (task: TaskSpec): string => task.task_id;
