/**
 * DAGs with a real graph and runs of them in any state, for tests of what changes runs: the counters of every instance are
 * what the planner would have made of these states.
 */
import { makeSpec, makeTask } from '../spec/make-spec.ts';
import type { CompiledSpec, GroupSpec } from '@svc/spec/schema.ts';
import type { MappingSpec } from '@svc/spec/schema-parts.ts';
import type { PolicySpec } from '@svc/spec/schema-task.ts';
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import { buildBlueprint } from '@svc/server/engine/plan/blueprint.ts';
import { encodeCounts } from '@svc/server/engine/plan/encode.ts';
import { recountUpstream } from '@svc/server/engine/plan/recount.ts';
import type { Instance } from '@svc/server/engine/plan/types.ts';
import { countedAs } from '@svc/server/engine/advance/run-work.ts';
import { insertRun } from './run-rows.ts';
import type { InstanceRows } from './run-rows.ts';

type GraphTask = {
  after?: readonly string[];
  group?: string;
  /** Expanded over the value of a task, or over a list of so many items. */
  over?: string | number;
  displayName?: string;
  role?: 'setup' | 'teardown';
  policy?: Partial<PolicySpec>;
};

export type Graph = {
  dagId: string;
  tasks: Record<string, GraphTask>;
  /** Mapped groups and what they are expanded over; a group that is not here is not mapped. */
  mappedGroups?: Record<string, string | number>;
  dag?: Partial<CompiledSpec['dag']>;
};

export function graphSpec({ dagId, tasks, mappedGroups = {}, dag = {} }: Graph): CompiledSpec {
  const entries = Object.entries(tasks);
  const spec = makeSpec({
    dagId,
    dag: { is_paused_upon_creation: false, ...dag },
    tasks: entries.map(([taskId, task]) =>
      makeTask(taskId, {
        upstream: task.after ?? [],
        downstream: entries.filter(([, other]) => other.after?.includes(taskId)).map(([id]) => id),
        group: task.group ?? null,
        policy: task.policy ?? {},
        rest: {
          display_name: task.displayName ?? taskId,
          mapping: task.over === undefined ? null : mappingOver(task.over),
          is_setup: task.role === 'setup',
          is_teardown: task.role === 'teardown',
        },
      }),
    ),
  });
  const [root] = spec.groups;
  if (!root) throw new Error('unreachable: there is a root group');
  const groupIds = [...new Set(entries.flatMap(([, task]) => (task.group === undefined ? [] : [task.group])))];
  const childrenOf = (groupId: string | null): GroupSpec['children'] =>
    entries.filter(([, task]) => (task.group ?? null) === groupId).map(([id]) => ({ kind: 'task', id }));
  const groups = groupIds.map((groupId): GroupSpec => {
    const over = mappedGroups[groupId];
    const mapping = over === undefined ? null : mappingOver(over);
    return {
      ...root,
      group_id: groupId,
      label: groupId,
      display_name: groupId,
      mapping,
      children: childrenOf(groupId),
    };
  });
  const inRoot: GroupSpec['children'] = groupIds.map((id) => ({ kind: 'group', id }));
  return { ...spec, groups: [{ ...root, children: [...childrenOf(null), ...inRoot] }, ...groups] };
}

const mappingOver = (over: string | number): MappingSpec => ({
  kind: 'expand',
  target: 'operator',
  arguments: [
    {
      name: 'value',
      value:
        typeof over === 'number'
          ? Array.from({ length: over }, (_item, index) => index)
          : { __type: 'xcom', task_id: over, key: 'return_value' },
      length: typeof over === 'number' ? over : null,
    },
  ],
  depends_on: typeof over === 'number' ? [] : [over],
});

/** Registers the graph; another one of the same DAG is its next version. */
export async function registerGraph(db: TenantDb, graph: Graph): Promise<void> {
  const actor = { name: 'test', clientIp: '127.0.0.1', requestId: 'test' };
  const outcome = await registerVersion(db, { dagId: graph.dagId, artifact: { spec: graphSpec(graph) }, actor });
  if (outcome.kind === 'refused') throw new Error(outcome.problems.join('\n'));
}

/** A state, or a whole row; a list is a mapped task, instance by instance. */
type GraphState = TaskStateOrNone | Omit<InstanceRows, 'task_id' | 'map_index'>;

/** A run of the graph's current version with its instances in the given states; returns `dag_runs.id`. */
export async function insertGraphRun(
  db: TenantDb,
  input: Omit<Parameters<typeof insertRun>[1], 'instances' | 'dagId'> & {
    graph: Graph;
    states: Record<string, GraphState | readonly GraphState[]>;
  },
): Promise<number> {
  const { graph, states, ...run } = input;
  const blueprint = buildBlueprint(graphSpec(graph));
  const rows = Object.entries(states).flatMap(([taskId, given]) => {
    const one = (state: GraphState, mapIndex: number): InstanceRows & { state: TaskStateOrNone; map_index: number } => {
      const values =
        state === null || typeof state === 'string' ? { state } : { state: 'success' as TaskState, ...state };
      return {
        task_id: taskId,
        ...defaultsOf(values.state ?? null),
        ...values,
        state: values.state ?? null,
        map_index: mapIndex,
      };
    };
    return Array.isArray(given)
      ? (given as readonly GraphState[]).map((state, mapIndex) => one(state, mapIndex))
      : [one(given as GraphState, -1)];
  });
  const instances: Instance[] = rows.map((row) => ({
    taskId: row.task_id,
    mapIndex: row.map_index,
    state: row.state,
    upstream: recountUpstream(blueprint, { taskId: row.task_id, mapIndex: row.map_index }, []),
    skips: typeof row.skips === 'string' ? (JSON.parse(row.skips) as string[]) : null,
  }));
  const counts: Record<string, number> = {};
  for (const { state } of rows) counts[countedAs(state)] = (counts[countedAs(state)] ?? 0) + 1;
  return insertRun(db, {
    dagId: graph.dagId,
    state_counts: JSON.stringify(counts),
    ...run,
    instances: rows.map((row) => ({
      ...row,
      max_tries: row.max_tries ?? blueprint.tasks.get(row.task_id)?.spec.policy.retries ?? 0,
      upstream: encodeCounts(recountUpstream(blueprint, { taskId: row.task_id, mapIndex: row.map_index }, instances)),
    })),
  });
}

/** What the scheduler leaves in the row of an instance in this state. */
function defaultsOf(state: TaskStateOrNone): Omit<InstanceRows, 'task_id' | 'map_index'> {
  const at = '2026-01-02T03:04:05.000006Z';
  const ran = { try_number: 1, attempt_id: crypto.randomUUID(), start_date: at };
  switch (state) {
    case 'success':
    case 'failed':
    case 'up_for_retry':
    case 'up_for_reschedule':
      return { ...ran, end_date: '2026-01-02T03:04:06.000006Z' };
    case 'running':
      return { ...ran, heartbeat_at: at };
    case 'queued':
      return { try_number: 1, attempt_id: crypto.randomUUID(), queued_at: at };
    case 'skipped':
    case 'upstream_failed':
      return { try_number: 0, start_date: at, end_date: at };
    default:
      return { try_number: 0 };
  }
}
