/**
 * The statements with which the scheduler reads and changes runs. Each takes a set, so that a batch of finished tasks costs
 * as many round trips as one. They serve all tenants: the tenant is part of every key.
 *
 * Lock order, everywhere: dags row, dag_runs rows by id, task_instances rows. Who holds the lock of the run takes rows of its
 * instances in any order; who does not never waits for one while holding another (`skip locked`, or one row alone).
 */
import type { Selectable } from 'kysely';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { StateCounts, TenantTables } from '../../db/schema.ts';

export type RunRef = { tenantId: string; run: number };
export type RunRow = Selectable<TenantTables['dag_runs']>;
export type InstanceRow = Selectable<TenantTables['task_instances']>;

/** Locked until the transaction ends; in the order of their ids, so that two batches never wait for each other in a circle. */
export async function lockRuns(trx: SharedDb, refs: readonly RunRef[]): Promise<RunRow[]> {
  if (refs.length === 0) return [];
  // Plan: nested loop over the keys, primary key of dag_runs.
  const { rows } = await fixedSql<RunRow>`
    select r.* from dag_runs r
    join unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[]) as k(tenant_id, id)
      on r.tenant_id = k.tenant_id and r.id = k.id
    order by r.id for no key update of r`.execute(trx);
  return rows;
}

export type InstancePick = RunRef & { taskId: string; /** Undefined: every instance of the task. */ mapIndex?: number };

/** Locked like their runs: a claim or a start in another process waits, or is waited for. */
export async function lockInstances(trx: SharedDb, picks: readonly InstancePick[]): Promise<InstanceRow[]> {
  const exact = picks.filter((pick) => pick.mapIndex !== undefined);
  const whole = picks.filter((pick) => pick.mapIndex === undefined);
  const rows: InstanceRow[] = [];
  if (exact.length > 0) {
    // Plan: nested loop over the keys, primary key of task_instances; below 0.1 ms for one.
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

/** What the scheduler changes in runs and their instances, in one statement. The keys are those of the rows as stored. */
export async function updateRunsAndInstances(
  trx: SharedDb,
  changes: readonly RunChange[],
  rows: readonly InstanceRow[],
): Promise<void> {
  if (changes.length === 0) return;
  const column = <K extends keyof InstanceRow>(name: K): InstanceRow[K][] => rows.map((row) => row[name]);
  // Plan: two nested loops over the keys, primary keys. An empty set of instances updates none.
  await fixedSql`
    with runs as (
      update dag_runs r set state = k.state, start_date = k.start_date, end_date = k.end_date, timeout_at = k.timeout_at,
        state_counts = k.state_counts
      from unnest(${changes.map((row) => row.tenantId)}::uuid[], ${changes.map((row) => row.run)}::bigint[],
        ${changes.map((row) => row.state)}::text[], ${changes.map((row) => row.startDate)}::timestamptz[],
        ${changes.map((row) => row.endDate)}::timestamptz[], ${changes.map((row) => row.timeoutAt)}::timestamptz[],
        ${changes.map((row) => JSON.stringify(row.stateCounts))}::jsonb[])
        as k(tenant_id, id, state, start_date, end_date, timeout_at, state_counts)
      where r.tenant_id = k.tenant_id and r.id = k.id
    )
    update task_instances t set
      state = k.state, try_number = k.try_number, max_tries = k.max_tries, attempt_id = k.attempt_id,
      claimable = k.claimable, waits = k.waits, upstream = k.upstream, skips = k.skips,
      scheduled_at = k.scheduled_at, queued_at = k.queued_at, start_date = k.start_date, end_date = k.end_date,
      due_at = k.due_at, first_poke_at = k.first_poke_at, heartbeat_at = k.heartbeat_at, failure_reason = k.failure_reason,
      rendered_map_index = k.rendered_map_index, version_number = k.version_number, pid = k.pid, updated_at = now()
    from unnest(${column('tenant_id')}::uuid[], ${column('run')}::bigint[], ${column('task_id')}::text[],
      ${column('map_index')}::int[], ${column('state')}::text[], ${column('try_number')}::int[],
      ${column('max_tries')}::int[], ${column('attempt_id')}::uuid[], ${column('claimable')}::boolean[],
      ${column('waits')}::text[], ${column('upstream')}::text[], ${column('skips')}::text[],
      ${column('scheduled_at')}::timestamptz[], ${column('queued_at')}::timestamptz[],
      ${column('start_date')}::timestamptz[], ${column('end_date')}::timestamptz[], ${column('due_at')}::timestamptz[],
      ${column('first_poke_at')}::timestamptz[], ${column('heartbeat_at')}::timestamptz[],
      ${column('failure_reason')}::text[], ${column('rendered_map_index')}::text[], ${column('version_number')}::int[],
      ${column('pid')}::int[])
      as k(tenant_id, run, task_id, map_index, state, try_number, max_tries, attempt_id, claimable, waits, upstream, skips,
        scheduled_at, queued_at, start_date, end_date, due_at, first_poke_at, heartbeat_at, failure_reason,
        rendered_map_index, version_number, pid)
    where t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index`.execute(
    trx,
  );
}

export type NewInstance = Pick<
  InstanceRow,
  | 'tenant_id'
  | 'run'
  | 'task_id'
  | 'map_index'
  | 'dag_id'
  | 'state'
  | 'try_number'
  | 'max_tries'
  | 'claimable'
  | 'waits'
  | 'operator'
  | 'pool'
  | 'pool_slots'
  | 'priority_weight'
  | 'queue'
  | 'max_active_tis_per_dag'
  | 'upstream'
  | 'scheduled_at'
  | 'start_date'
  | 'end_date'
  | 'failure_reason'
  | 'version_number'
>;

/** Keeps one statement's parameters within reason when a run has tens of thousands of instances. */
const INSERTS_AT_ONCE = 5_000;

export async function insertInstances(trx: SharedDb, all: readonly NewInstance[]): Promise<void> {
  const sets = Array.from({ length: Math.ceil(all.length / INSERTS_AT_ONCE) }, (_, index) =>
    all.slice(index * INSERTS_AT_ONCE, (index + 1) * INSERTS_AT_ONCE),
  );
  await Promise.all(sets.map((rows) => insertSet(trx, rows)));
}

async function insertSet(trx: SharedDb, rows: readonly NewInstance[]): Promise<void> {
  const column = <K extends keyof NewInstance>(name: K): NewInstance[K][] => rows.map((row) => row[name]);
  await fixedSql`
      insert into task_instances (tenant_id, run, task_id, map_index, dag_id, state, try_number, max_tries, claimable, waits,
        operator, pool, pool_slots, priority_weight, queue, max_active_tis_per_dag, upstream, scheduled_at, start_date, end_date,
        failure_reason, version_number)
      select * from unnest(${column('tenant_id')}::uuid[], ${column('run')}::bigint[], ${column('task_id')}::text[],
        ${column('map_index')}::int[], ${column('dag_id')}::text[], ${column('state')}::text[],
        ${column('try_number')}::int[], ${column('max_tries')}::int[], ${column('claimable')}::boolean[], ${column('waits')}::text[],
        ${column('operator')}::text[], ${column('pool')}::text[], ${column('pool_slots')}::int[],
        ${column('priority_weight')}::bigint[], ${column('queue')}::text[], ${column('max_active_tis_per_dag')}::int[],
        ${column('upstream')}::text[], ${column('scheduled_at')}::timestamptz[], ${column('start_date')}::timestamptz[],
        ${column('end_date')}::timestamptz[], ${column('failure_reason')}::text[], ${column('version_number')}::int[])`.execute(
    trx,
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

/** The try that is over, kept as it is stored now; a try that did not end by itself counts as failed. */
export async function keepTries(trx: SharedDb, picks: readonly InstancePick[]): Promise<void> {
  if (picks.length === 0) return;
  await fixedSql`
    insert into task_instance_history (tenant_id, run, task_id, map_index, try_number, id, dag_id, state, max_tries,
      attempt_id, operator, pool, pool_slots, priority_weight, queue, scheduled_at, queued_at, start_date, end_date,
      hostname, pid, failure_reason, rendered_map_index, version_number)
    select t.tenant_id, t.run, t.task_id, t.map_index, t.try_number, t.id, t.dag_id,
      case when t.state in ('success', 'failed', 'skipped', 'upstream_failed', 'removed') then t.state else 'failed' end, t.max_tries,
      t.attempt_id, t.operator, t.pool, t.pool_slots, t.priority_weight, t.queue, t.scheduled_at, t.queued_at, t.start_date,
      t.end_date, t.hostname, t.pid, t.failure_reason, t.rendered_map_index, t.version_number
    from task_instances t
    join unnest(${picks.map((pick) => pick.tenantId)}::uuid[], ${picks.map((pick) => pick.run)}::bigint[],
      ${picks.map((pick) => pick.taskId)}::text[], ${picks.map((pick) => pick.mapIndex ?? -1)}::int[])
      as k(tenant_id, run, task_id, map_index)
      on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
    where t.try_number > 0
    on conflict (tenant_id, run, task_id, map_index, try_number) do update set
      state = excluded.state, end_date = excluded.end_date, failure_reason = excluded.failure_reason`.execute(trx);
}

/** States of the tasks that decide a run; asked once, when nothing in the run is left to do. */
export async function countStates(
  trx: SharedDb,
  ref: RunRef,
  taskIds: readonly string[],
): Promise<{ taskId: string; state: TaskStateOrNone; count: number }[]> {
  const { rows } = await fixedSql<{ taskId: string; state: TaskStateOrNone; count: number }>`
    select task_id as "taskId", state, count(*) as count from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and task_id = any(${[...taskIds]}::text[])
    group by task_id, state`.execute(trx);
  return rows;
}

/**
 * Lets the next scheduled instances of a run through, per pool: so many that max_active_tasks could be used up in each. The
 * claim holds the limit itself; this only keeps what it looks at small, however many instances the run has.
 */
export async function admit(
  trx: SharedDb,
  ref: RunRef,
  limits: { pools: readonly string[]; free: number },
): Promise<void> {
  if (limits.free <= 0) return;
  // Plan: one index scan of task_instances_scheduled per pool, limited; the rows by their place. Joined by their key
  // instead, the planner reads the whole run: 466 ms for one of 10,000 instances, and well below 1 ms this way.
  await fixedSql`
    update task_instances t set claimable = true
    where t.ctid = any(array(
      select n.place from unnest(${[...limits.pools]}::text[]) as p(pool)
      cross join lateral (
        select s.ctid as place from task_instances s
        where s.tenant_id = ${ref.tenantId} and s.run = ${ref.run} and s.pool = p.pool and s.state = 'scheduled' and s.waits is null
        order by s.priority_weight desc, s.task_id, s.map_index limit ${limits.free} for no key update
      ) as n
    )) and t.state = 'scheduled' and not t.claimable`.execute(trx);
}

/** How many instances of the run hold a place under max_active_tasks; one that waits for a person holds none. */
export async function countActive(trx: SharedDb, ref: RunRef & { dagId: string }): Promise<number> {
  const { rows } = await fixedSql<{ count: number }>`
    select count(*) as count from task_instances
    where tenant_id = ${ref.tenantId} and dag_id = ${ref.dagId} and run = ${ref.run}
      and state in ('queued', 'running', 'restarting', 'deferred') and state <> 'deferred'`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** The instances of a run that hold a place. */
export async function listActive(
  trx: SharedDb,
  ref: RunRef & { dagId: string },
): Promise<{ taskId: string; mapIndex: number }[]> {
  const { rows } = await fixedSql<{ taskId: string; mapIndex: number }>`
    select task_id as "taskId", map_index as "mapIndex" from task_instances
    where tenant_id = ${ref.tenantId} and dag_id = ${ref.dagId} and run = ${ref.run}
      and state in ('queued', 'running', 'restarting', 'deferred')`.execute(trx);
  return rows;
}

/**
 * For whoever frees a place of a task, and whoever takes an instance out of sight because there is none: each sees what the
 * other has done. Comes after the locks of runs.
 */
export async function lockPlacesOf(
  trx: SharedDb,
  tasks: readonly { tenantId: string; dagId: string; taskId: string }[],
): Promise<void> {
  const names = tasks.map(({ tenantId, dagId, taskId }) => `${tenantId}/${dagId}/${taskId}`);
  await fixedSql`
    select pg_advisory_xact_lock(k.key) from (
      select distinct hashtextextended(name, 0) as key from unnest(${names}::text[]) as n(name) order by key
    ) as k`.execute(trx);
}

/** How many instances of a task hold a place, in one run or in all. */
export async function countActiveOf(
  trx: SharedDb,
  task: { tenantId: string; dagId: string; taskId: string; run: number | null },
): Promise<number> {
  const { rows } = await fixedSql<{ count: number }>`
    select count(*) as count from task_instances
    where tenant_id = ${task.tenantId} and dag_id = ${task.dagId} and task_id = ${task.taskId}
      and run = coalesce(${task.run}::bigint, run)
      and state in ('queued', 'running', 'restarting', 'deferred') and state <> 'deferred'`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** Waiting for a limit of the task that has room again: back among those the claim may take. */
export async function releaseHeldBack(
  trx: SharedDb,
  input: { tenantId: string; dagId: string; taskIds: readonly string[]; waits: readonly string[]; limit: number },
): Promise<number> {
  const { rows } = await fixedSql<{ run: number }>`
    with held as (
      select tenant_id, run, task_id, map_index from task_instances
      where tenant_id = ${input.tenantId} and dag_id = ${input.dagId} and task_id = any(${[...input.taskIds]}::text[])
        and state = 'scheduled' and waits = any(${[...input.waits]}::text[])
      order by priority_weight desc, run, task_id, map_index limit ${input.limit}
      for no key update skip locked
    )
    update task_instances t set waits = null, claimable = true from held h
    where t.tenant_id = h.tenant_id and t.run = h.run and t.task_id = h.task_id and t.map_index = h.map_index
    returning t.run`.execute(trx);
  return rows.length;
}
