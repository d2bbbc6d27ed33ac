/**
 * DAG versions for attempts: read once, evaluated once, cached while they are used. A version never changes, so the
 * cache cannot be stale. Only the folder of the DAG file may change, which is just a hint for agents on the same
 * machine.
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
import { mayFailItsScope, retriesByGroup } from '../engine/plan/retry-scopes.ts';
import type { GroupRetries } from '../engine/plan/retry-scopes.ts';
import { versionKey } from '../engine/shared/dag-graphs.ts';
import type { VersionRef } from '../engine/shared/dag-graphs.ts';
import { createLoadCache } from '../engine/shared/load-cache.ts';

export type AttemptVersion = {
  /** The message for the agent. */
  readonly message: Version;
  readonly pythonDagId: string;
  readonly params: readonly ParamSpec[];
  readonly tasks: ReadonlyMap<string, AttemptTask>;
  /** Ids of the tasks in each group, at any depth. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly timetable: TimetableSpec;
  readonly startDate: string | null;
  readonly deadlines: CompiledSpec['dag']['deadlines'];
  /** True when its tasks use the newest files of its bundle (`disable_bundle_versioning`). */
  readonly usesNewestCode: boolean;
  /** True when its runs have a directory that their tasks share. */
  readonly hasStaging: boolean;
  /** The secrets that the DAG declares. */
  readonly secrets: { readonly connections: ReadonlySet<string>; readonly variables: ReadonlySet<string> };
};

export type AttemptTask = {
  readonly spec: TaskSpec;
  /** Direct upstream tasks with exactly one instance. */
  readonly singleUpstream: readonly string[];
  /** Direct upstream tasks with any number of instances: mapped ones, and those in mapped groups. */
  readonly mappedUpstream: readonly string[];
  /** True when a task or group is expanded over its return value, so that this must be a list or dict. */
  readonly isMappedOver: boolean;
  /** What is tried again when its own retries are used up: the nearest group with retries, or the run. */
  readonly retriedWith: GroupRetries | null;
};

export type AttemptVersions = {
  get(ref: VersionRef): Promise<AttemptVersion | undefined>;
  /** Returns the version only if it is cached. */
  peek(ref: VersionRef): AttemptVersion | undefined;
};

/**
 * Graphs of dbt projects, as the compiler read them (python/svc_runtime/dbt/load_graph.py). Template files are read
 * where the task runs.
 */
const GRAPHS = 'dbt-graph/';

/** A version of a few dozen tasks takes about 100 kB. */
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
    deadlines: spec.dag.deadlines,
    usesNewestCode: spec.dag.disable_bundle_versioning,
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

/** Returns the folder of the DAG file: its location without its relative path. Empty when the location is unknown. */
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
  const retries = retriesByGroup(spec);
  return new Map(
    spec.tasks.map((task) => [
      task.task_id,
      {
        spec: task,
        singleUpstream: task.upstream_task_ids.filter((id) => !mapped.has(id)),
        mappedUpstream: task.upstream_task_ids.filter((id) => mapped.has(id)),
        // An instance of a mapped task returns one item of any kind; all instances together are the list.
        isMappedOver: mappedOver.has(task.task_id) && !mapped.has(task.task_id),
        retriedWith: mayFailItsScope(task) ? (retries.get(task.group_id) ?? null) : null,
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
