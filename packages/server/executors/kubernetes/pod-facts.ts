/** What the pods of a DAG version are made of: read once, and cached while the version is used. */
import type { V1Pod } from '@kubernetes/client-node';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import { readPodOverride } from '@svc/spec/project/pod-override.ts';
import type { OverridePolicy } from '@svc/spec/project/pod-override.ts';
import type { TaskExecution, TaskResources } from '@svc/spec/project/pod-settings.ts';
import { DEFAULT_PYTHON_LINE } from '@svc/spec/project/python-lines.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { Database } from '../../db/database.ts';
import { findVersionImage } from '../../db/dags/version-lookups.ts';
import { versionKey } from '../../engine/shared/dag-graphs.ts';
import type { VersionRef } from '../../engine/shared/dag-graphs.ts';
import { createLoadCache } from '../../engine/shared/load-cache.ts';

export type TaskPodFacts = {
  resources: TaskResources;
  execution: TaskExecution;
  override: V1Pod | undefined;
  /** Why no pod can be made of it: the operator may have changed what is allowed since it was registered. */
  problems: readonly string[];
};

export type StagingFacts = { size: string | null; storageClass: string | null };

export type VersionPodFacts = {
  /** The deployed image; null when the version was registered without one. */
  image: string | null;
  pythonLine: string;
  /** Undefined: the DAG does not stage files. */
  staging: StagingFacts | undefined;
  tasks: ReadonlyMap<string, TaskPodFacts>;
  /** The number of ready warm workers that the author asks for. Undefined: not set. */
  minIdle: number | undefined;
};

export type ReadPodFacts = (ref: VersionRef) => Promise<VersionPodFacts | undefined>;

const KEPT = 500;

export function createPodFacts(db: Database, policy: OverridePolicy): ReadPodFacts {
  const kept = createLoadCache<VersionPodFacts | undefined>({ max: KEPT });
  return (ref) => kept.get(versionKey(ref), () => load(db, ref, policy));
}

async function load(db: Database, ref: VersionRef, policy: OverridePolicy): Promise<VersionPodFacts | undefined> {
  const row = await findVersionImage(db.tenant(ref.tenantId), ref);
  return row && podFacts((await parseJsonInTurns(row.spec)) as CompiledSpec, row.image, policy);
}

type Project = {
  python_version?: string;
  staging?: { enabled?: boolean; size?: string | null; storage_class?: string | null };
  execution?: { warmth?: { min_idle?: number } };
} | null;

export function podFacts(spec: CompiledSpec, image: string | null, policy: OverridePolicy): VersionPodFacts {
  const project = spec.project as Project;
  const { staging } = project ?? {};
  return {
    image,
    pythonLine: project?.python_version ?? DEFAULT_PYTHON_LINE,
    staging: staging?.enabled ? { size: staging.size ?? null, storageClass: staging.storage_class ?? null } : undefined,
    tasks: new Map(spec.tasks.map((task) => [task.task_id, taskFacts(task, policy)])),
    minIdle: project?.execution?.warmth?.min_idle,
  };
}

function taskFacts(task: CompiledSpec['tasks'][number], policy: OverridePolicy): TaskPodFacts {
  const { override, problems } = readPodOverride(task.executor_config, policy);
  return {
    resources: (task.resources ?? {}) as TaskResources,
    execution: (task.execution ?? {}) as TaskExecution,
    override: override as V1Pod | undefined,
    problems,
  };
}
