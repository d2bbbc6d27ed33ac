/**
 * What task instances show of their task: names, operator, groups. It is in the spec of the version they belong to, far too
 * large to be read for every list; versions never change, so the little that is needed is kept by the version's id.
 */
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import { LRUCache } from 'lru-cache';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { findSpecTexts } from '../../db/dags/dag-versions.ts';
import type { TenantDb } from '../../db/database.ts';

export type TaskSummary = {
  displayName: string;
  operatorName: string;
  taskType: string;
  executor: string | null;
  isMapped: boolean;
  /** The groups it is in, outermost last. */
  groups: readonly string[];
  /** Under which key of its values each of the links is that its operator adds; most add none. */
  linkKeys: Readonly<Record<string, string>>;
};

/** By task id. */
type SummariesOfVersion = ReadonlyMap<string, TaskSummary>;

export type TaskSummaries = {
  /** By version id. Ids that the tenant does not have are left out. */
  get(db: TenantDb, versionIds: readonly string[]): Promise<Map<string, SummariesOfVersion>>;
};

/** Shared: a property of its own for every task would take as much memory as the rest. */
const NO_LINKS: Readonly<Record<string, string>> = {};
/** Tasks, not versions, because that is what takes memory: some 200 bytes each. */
const KEPT_TASKS = 200_000;
/** Specs are read a few at a time: each may be megabytes long. */
const SPECS_AT_ONCE = 20;

export function createTaskSummaries(): TaskSummaries {
  const kept = new LRUCache<string, SummariesOfVersion>({
    maxSize: KEPT_TASKS,
    sizeCalculation: (summaries) => Math.max(1, summaries.size),
  });

  return {
    async get(db, versionIds) {
      const found = new Map<string, SummariesOfVersion>();
      const missing: string[] = [];
      for (const id of new Set(versionIds)) {
        const summaries = kept.get(id);
        if (summaries) found.set(id, summaries);
        else missing.push(id);
      }
      for (let from = 0; from < missing.length; from += SPECS_AT_ONCE) {
        for (const { id, spec } of await findSpecTexts(db, missing.slice(from, from + SPECS_AT_ONCE))) {
          const summaries = summariesOf((await parseJsonInTurns(spec)) as CompiledSpec);
          kept.set(id, summaries);
          found.set(id, summaries);
        }
      }
      return found;
    },
  };
}

function summariesOf(spec: CompiledSpec): SummariesOfVersion {
  const groups = new Map(spec.groups.map((group) => [group.group_id, group]));
  const around = (groupId: string | null): string[] => {
    const ids: string[] = [];
    for (let id = groupId; id !== null; id = groups.get(id)?.parent_id ?? null) ids.push(id);
    return ids;
  };
  return new Map(
    spec.tasks.map((task) => {
      const ids = around(task.group_id);
      const isMapped = task.mapping !== null || ids.some((id) => (groups.get(id)?.mapping ?? null) !== null);
      const summary: TaskSummary = {
        displayName: task.display_name,
        operatorName: task.operator.operator_name,
        taskType: task.operator.task_type,
        executor: task.policy.executor,
        isMapped,
        groups: ids,
        linkKeys: task.operator.link_keys ?? NO_LINKS,
      };
      return [task.task_id, summary] as const;
    }),
  );
}
