/**
 * Replaces instances in a run that has them already: those of a mapped task that must be expanded over another value,
 * or of a task that a new version changed. Their try numbers continue, because these name their history and logs.
 */
import { NO_FAILURE } from '@svc/spec/failure-causes.ts';
import type { ClearedInstance, NewInstance } from '../sql/instance-columns.ts';
import { deleteInstances, readTries } from '../sql/run-edits.ts';
import type { InstanceTries, KeyInRun } from '../sql/run-edits.ts';
import { insertInstances } from '../sql/run-writes.ts';
import { operatorColumns } from '../shared/operator-columns.ts';
import { move } from './edit-run.ts';
import type { OpenRun } from './edit-run.ts';
import type { PlannedTask } from '../plan/blueprint.ts';
import { noCounts } from '../plan/counts.ts';
import { encodeCounts } from '../plan/encode.ts';

/** The columns that an instance gets from its task. */
export const columnsFromSpec = (
  task: PlannedTask,
): Pick<
  ClearedInstance,
  | 'operator'
  | 'operator_class'
  | 'pool'
  | 'pool_slots'
  | 'priority_weight'
  | 'queue'
  | 'executor'
  | 'max_active_tis_per_dag'
  | 'max_tries'
> => ({
  max_tries: task.spec.policy.retries,
  ...operatorColumns(task.spec),
  pool: task.spec.policy.pool,
  pool_slots: task.spec.policy.pool_slots,
  priority_weight: task.totalPriorityWeight,
  queue: task.spec.policy.queue,
  executor: task.spec.policy.executor,
  max_active_tis_per_dag: task.spec.policy.max_active_tis_per_dag,
});

/** Adds instances without a state and without counters. The caller counts. */
export async function addInstances(
  open: OpenRun,
  made: readonly { task: PlannedTask; mapIndexes: readonly number[]; tries?: number }[],
): Promise<void> {
  const { run } = open;
  const rows = made.flatMap(({ task, mapIndexes, tries = 0 }) =>
    mapIndexes.map((mapIndex): NewInstance => ({
      tenant_id: run.tenant_id,
      run: run.id,
      task_id: task.taskId,
      map_index: mapIndex,
      dag_id: run.dag_id,
      state: null,
      ...columnsFromSpec(task),
      try_number: tries,
      max_tries: tries + task.spec.policy.retries,
      group_retries: 0,
      claimable: false,
      waits: null,
      upstream: encodeCounts(noCounts()),
      scheduled_at: null,
      start_date: null,
      end_date: null,
      ...NO_FAILURE,
      version_number: run.version_number,
    })),
  );
  for (const row of rows) move(open, 'absent', row.state);
  await insertInstances(open.trx, rows);
}

/** Reads all instances of the tasks. */
export async function readRows(open: OpenRun, taskIds: readonly string[]): Promise<Map<string, InstanceTries[]>> {
  return Map.groupBy(await readTries(open.trx, open.ref, taskIds), (row) => row.taskId);
}

/** Replaces the instances of each task. All of them must have been cleared. */
export async function replaceInstances(
  open: OpenRun,
  replaced: readonly { task: PlannedTask; rows: readonly InstanceTries[]; mapIndexes: readonly number[] }[],
): Promise<void> {
  const gone = replaced.flatMap(({ rows }) => rows);
  for (const row of gone) {
    if (row.state !== null) throw new Error(`unreachable: ${row.taskId}[${row.mapIndex}] is replaced but not cleared`);
    move(open, null, 'absent');
  }
  await deleteInstances(open.trx, open.ref, gone);
  await addInstances(
    open,
    replaced.map(({ task, rows, mapIndexes }) => ({
      task,
      mapIndexes,
      tries: Math.max(0, ...rows.map((row) => row.tryNumber)),
    })),
  );
}

/**
 * Turns tasks that were expanded over a cleared value back into one instance each. `whateverInputs`: the value may also
 * differ in a new version. Only done when all instances of the mapped group were cleared, because other instances keep
 * their map indexes.
 */
export async function collapseTasks(
  open: OpenRun,
  cleared: readonly KeyInRun[],
  { whateverInputs = false } = {},
): Promise<void> {
  const { blueprint } = open.graph;
  const clearedTasks = new Set(cleared.map((key) => key.taskId));
  const families = Map.groupBy(
    [...blueprint.tasks.values()].filter((task) => task.isMapped),
    familyOf,
  );
  const candidates = [...families.values()].filter(
    (family) =>
      family.every((task) => clearedTasks.has(task.taskId)) &&
      (whateverInputs || family.some((task) => [...task.inputs].some((input) => clearedTasks.has(input)))),
  );
  if (candidates.length === 0) return;
  const rows = await readRows(
    open,
    candidates.flat().map((task) => task.taskId),
  );
  const clearedKeys = new Set(cleared.map((key) => `${key.mapIndex}/${key.taskId}`));
  const collapsing = candidates
    .filter((family) =>
      family.every(({ taskId }) =>
        (rows.get(taskId) ?? []).every((row) => clearedKeys.has(`${row.mapIndex}/${row.taskId}`)),
      ),
    )
    .flat()
    // A task of literal length always has the same instances.
    .filter((task) => task.literalLength === null)
    .map((task) => ({ task, rows: rows.get(task.taskId) ?? [], mapIndexes: [-1] }))
    .filter(({ rows: own }) => own.some((row) => row.mapIndex >= 0));
  await replaceInstances(open, collapsing);
}

/** Tasks of one mapped group are expanded together. */
function familyOf(task: PlannedTask): string {
  let outermost = task.group;
  while (outermost?.parent) outermost = outermost.parent;
  return outermost ? `group ${outermost.groupId}` : `task ${task.taskId}`;
}
