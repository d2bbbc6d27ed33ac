/**
 * The statements with which the scheduler reads and changes runs. Each takes a batch, so that many finished tasks cost
 * as many round trips as one. They serve all tenants: the tenant is part of every key.
 *
 * The lock order everywhere is: dags row, dag_runs rows by id, task_instances rows. A transaction with the lock of a
 * run takes rows of its instances in any order. Any other transaction never waits for a row while it holds another
 * (`skip locked`, or one row alone).
 */
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { InstanceRow, RunRow, StateCounts } from '../../db/schema.ts';
import { columnSet } from './column-set.ts';
import { CHANGED_INSTANCES, CHANGES_AND_STARTS, NEW_INSTANCES, withStart } from './instance-columns.ts';
import type { NewInstance, PlannedStart } from './instance-columns.ts';

export type RunRef = { tenantId: string; run: number };

/** Locks the runs until the transaction ends, in the order of their ids, so that two batches cannot deadlock. */
export async function lockRuns(trx: SharedDb, refs: readonly RunRef[]): Promise<RunRow[]> {
  if (refs.length === 0) return [];
  // Query plan: nested loop over the keys, primary key of dag_runs.
  const { rows } = await fixedSql<RunRow>`
    select r.* from dag_runs r
    join unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[]) as k(tenant_id, id)
      on r.tenant_id = k.tenant_id and r.id = k.id
    order by r.id for no key update of r`.execute(trx);
  return rows;
}

export type InstancePick = RunRef & { taskId: string; /** Undefined: every instance of the task. */ mapIndex?: number };

/**
 * Locks instances as runs are locked: a claim or a start in another process waits for this one, or this one waits for
 * it.
 */
export async function lockInstances(trx: SharedDb, picks: readonly InstancePick[]): Promise<InstanceRow[]> {
  const exact = picks.filter((pick) => pick.mapIndex !== undefined);
  const whole = picks.filter((pick) => pick.mapIndex === undefined);
  const rows: InstanceRow[] = [];
  if (exact.length > 0) {
    // Query plan: nested loop over the keys, primary key of task_instances.
    const result = await fixedSql<InstanceRow>`
      select t.* from task_instances t
      join unnest(${exact.map((pick) => pick.tenantId)}::uuid[], ${exact.map((pick) => pick.run)}::bigint[],
        ${exact.map((pick) => pick.taskId)}::text[], ${exact.map((pick) => pick.mapIndex)}::int[])
        as k(tenant_id, run, task_id, map_index)
        on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      order by t.run, t.task_id, t.map_index for no key update of t`.execute(trx);
    rows.push(...result.rows);
  }
  if (whole.length > 0) {
    const result = await fixedSql<InstanceRow>`
      select t.* from task_instances t
      join unnest(${whole.map((pick) => pick.tenantId)}::uuid[], ${whole.map((pick) => pick.run)}::bigint[],
        ${whole.map((pick) => pick.taskId)}::text[]) as k(tenant_id, run, task_id)
        on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id
      order by t.run, t.task_id, t.map_index for no key update of t`.execute(trx);
    rows.push(...result.rows);
  }
  return rows;
}

export type RunChange = RunRef & {
  state: RunRow['state'];
  startDate: string | null;
  endDate: string | null;
  timeoutAt: string | null;
  stateCounts: StateCounts;
};

const CHANGED_RUNS = columnSet<RunRow, RunChange>({
  key: [
    { name: 'tenant_id', type: 'uuid', value: (change) => change.tenantId },
    { name: 'id', type: 'bigint', value: (change) => change.run },
  ],
  values: [
    { name: 'state', type: 'text', value: (change) => change.state },
    { name: 'start_date', type: 'timestamptz', value: (change) => change.startDate },
    { name: 'end_date', type: 'timestamptz', value: (change) => change.endDate },
    { name: 'timeout_at', type: 'timestamptz', value: (change) => change.timeoutAt },
    { name: 'state_counts', type: 'jsonb', value: (change) => JSON.stringify(change.stateCounts) },
  ],
});

/**
 * Writes what the scheduler changes in runs and their instances, in one statement. The keys are those of the stored
 * rows.
 */
export async function updateRunsAndInstances(
  trx: SharedDb,
  changes: readonly RunChange[],
  rows: readonly InstanceRow[],
): Promise<void> {
  if (changes.length === 0) return;
  // Query plan: two nested loops over the keys, primary keys. An empty set of instances updates none.
  await fixedSql`
    with runs as (
      update dag_runs t set ${CHANGED_RUNS.assignments} from ${CHANGED_RUNS.rows(changes)} where ${CHANGED_RUNS.sameKey}
    )
    update task_instances t set ${CHANGED_INSTANCES.assignments}, updated_at = now()
    from ${CHANGED_INSTANCES.rows(rows)} where ${CHANGED_INSTANCES.sameKey}`.execute(trx);
}

/** Writes changes and starts. Returns the rows of the starts, which run after the commit. */
export async function updateAndStart(
  trx: SharedDb,
  changes: readonly RunChange[],
  rows: readonly InstanceRow[],
  starts: readonly PlannedStart[],
): Promise<InstanceRow[]> {
  if (starts.length === 0) {
    await updateRunsAndInstances(trx, changes, rows);
    return [];
  }
  // One statement, because Postgres opens all indexes of the table for each statement that changes it.
  const all = [...rows.map((row) => ({ row })), ...starts.map(withStart)];
  const started = await fixedSql<InstanceRow>`
    with runs as (
      update dag_runs t set ${CHANGED_RUNS.assignments} from ${CHANGED_RUNS.rows(changes)} where ${CHANGED_RUNS.sameKey}
    ), changed as (
      update task_instances t set ${CHANGES_AND_STARTS.assignments}, updated_at = now()
      from ${CHANGES_AND_STARTS.rows(all)} where ${CHANGES_AND_STARTS.sameKey}
      returning t.*, k.given_by is not null as is_started
    )
    select * from changed where is_started`.execute(trx);
  return started.rows;
}

/** Limits the parameters of one statement when a run has tens of thousands of instances. */
const INSERTS_AT_ONCE = 5_000;

export async function insertInstances(trx: SharedDb, all: readonly NewInstance[]): Promise<void> {
  const sets = Array.from({ length: Math.ceil(all.length / INSERTS_AT_ONCE) }, (_, index) =>
    all.slice(index * INSERTS_AT_ONCE, (index + 1) * INSERTS_AT_ONCE),
  );
  await Promise.all(
    sets.map((rows) =>
      fixedSql`
        insert into task_instances (${NEW_INSTANCES.names}) select * from ${NEW_INSTANCES.rows(rows)}`.execute(trx),
    ),
  );
}

/** Instance -1 of a mapped task becomes instance 0 when the task is expanded. */
export async function renumberExpanded(
  trx: SharedDb,
  expanded: readonly (RunRef & { taskId: string })[],
): Promise<void> {
  if (expanded.length === 0) return;
  await fixedSql`
    update task_instances t set map_index = 0
    from unnest(${expanded.map((row) => row.tenantId)}::uuid[], ${expanded.map((row) => row.run)}::bigint[],
      ${expanded.map((row) => row.taskId)}::text[]) as k(tenant_id, run, task_id)
    where t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = -1`.execute(trx);
}
