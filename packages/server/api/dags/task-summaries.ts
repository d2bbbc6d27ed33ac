/**
 * What task instances show of their task: names, operator, groups. The spec of their version contains it, but is too
 * large to be read for every list. Versions never change, so these few fields are cached by version id.
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
  /** The groups of the task, innermost first. */
  groups: readonly string[];
  /** The XCom keys of the links that its operator adds. Most operators add none. */
  linkKeys: Readonly<Record<string, string>>;
};

/** Summaries by task id. */
type SummariesOfVersion = ReadonlyMap<string, TaskSummary>;

/** A task with a display name other than its id. */
export type RenamedTask = { taskId: string; displayName: string };

export type TaskSummaries = {
  /** Returns summaries by version id. Ids that the tenant does not have are omitted. */
  get(db: TenantDb, versionIds: readonly string[]): Promise<Map<string, SummariesOfVersion>>;
  /**
   * Returns renamed tasks by version id. Versions without any are omitted. Few tasks are renamed, so this may cover all
   * DAGs at once.
   */
  renamed(db: TenantDb, versionIds: readonly string[]): Promise<Map<string, readonly RenamedTask[]>>;
};

/** Shared by all tasks without links, because separate objects would take much memory. */
const NO_LINKS: Readonly<Record<string, string>> = {};
/** Counts tasks instead of versions, because tasks take the memory: about 200 bytes each. */
const KEPT_TASKS = 200_000;
/** Number of versions. Nearly all have no renamed task and cost only their id. */
const KEPT_RENAMED = 50_000;
/** Shared by all versions without renamed tasks. */
const NONE_RENAMED: readonly RenamedTask[] = [];
/** Few specs are read at once, because each may have megabytes. */
const SPECS_AT_ONCE = 20;

export function createTaskSummaries(): TaskSummaries {
  const kept = new LRUCache<string, SummariesOfVersion>({
    maxSize: KEPT_TASKS,
    sizeCalculation: (summaries) => Math.max(1, summaries.size),
  });

  // The limit is a size instead of a count, because with a count the cache allocates all its memory at once.
  const keptRenamed = new LRUCache<string, readonly RenamedTask[]>({
    maxSize: KEPT_RENAMED,
    sizeCalculation: () => 1,
  });

  async function get(db: TenantDb, versionIds: readonly string[]): Promise<Map<string, SummariesOfVersion>> {
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
  }

  async function renamed(db: TenantDb, versionIds: readonly string[]): Promise<Map<string, readonly RenamedTask[]>> {
    const known = versionIds.map((id) => [id, keptRenamed.get(id)] as const);
    const missing = known.flatMap(([id, tasks]) => (tasks === undefined ? id : []));
    const found = new Map(known.flatMap(([id, tasks]) => (tasks?.length ? [[id, tasks]] : [])));
    for (let from = 0; from < missing.length; from += SPECS_AT_ONCE) {
      for (const [id, summaries] of await get(db, missing.slice(from, from + SPECS_AT_ONCE))) {
        const tasks = renamedOf(summaries);
        keptRenamed.set(id, tasks);
        if (tasks.length > 0) found.set(id, tasks);
      }
    }
    return found;
  }

  return { get, renamed };
}

function renamedOf(summaries: SummariesOfVersion): readonly RenamedTask[] {
  const tasks = [...summaries].flatMap(([taskId, { displayName }]) =>
    displayName === taskId ? [] : [{ taskId, displayName }],
  );
  return tasks.length === 0 ? NONE_RENAMED : tasks;
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
