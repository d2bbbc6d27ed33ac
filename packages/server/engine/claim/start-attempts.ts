/**
 * From `queued` to `running`, for a set of attempts: one statement, and one for their runs.
 *
 * The runs are not locked here, so nothing may be waited for while rows are held: whoever has the lock of a run takes its rows
 * one after another as planning asks for them, and would wait in a circle with a set that waits. A row that somebody holds is
 * left out of the set, and waited for alone.
 */
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import { lockInstances } from '../sql/run-writes.ts';
import { beginning, inTransaction } from '../../db/transaction.ts';
import type { AttemptRef, HeartbeatOf, StartAnswer } from '../attempts.ts';

export type Start = { ref: AttemptRef; worker: { hostname: string; pid: number | null } };

export async function startAttempts(
  db: Database,
  starts: readonly Start[],
  plans: { keepsPlans?: boolean } = {},
): Promise<StartAnswer[]> {
  const started = await startSet(db, starts, plans);
  for (const start of starts.filter(({ ref }) => !started.has(ref.attemptId))) {
    const late = await startSet(db, [start], { ...plans, waits: true });
    for (const [attemptId, answer] of late) started.set(attemptId, answer);
  }
  return starts.map(({ ref }) => started.get(ref.attemptId) ?? STOP);
}

const STOP: StartAnswer = { kind: 'stop', reason: 'the attempt is no longer the current one' };

/** Those that run now, by the ids of their attempts. */
async function startSet(
  db: Database,
  starts: readonly Start[],
  { waits = false, ...plans }: { waits?: boolean; keepsPlans?: boolean },
): Promise<Map<string, StartAnswer>> {
  const refs = starts.map(({ ref }) => ref);
  // All in one round trip. The one change is complete in itself, so it may go with the beginning.
  const [rows, runs] = await inTransaction(db.shared, beginning(plans), (trx, commit) => {
    const held = waits ? lockInstances(trx, refs) : undefined;
    return Promise.all([startAll(trx, starts), loadRuns(trx, refs), held, commit()]);
  });
  return new Map(
    rows.flatMap((instance): [string, StartAnswer][] => {
      const run = runs.get(instance.run);
      return run && instance.attempt_id !== null ? [[instance.attempt_id, { kind: 'started', run, instance }]] : [];
    }),
  );
}

/** An attempt that is running already is started again in word only: its answer may have been lost on the way. */
// `coalesce` here and below: as in take-attempts.ts.
async function startAll(trx: SharedDb, starts: readonly Start[]): Promise<InstanceRow[]> {
  const refs = starts.map(({ ref }) => ref);
  const { rows } = await fixedSql<InstanceRow>`
    with k as (
      select * from unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[],
        ${refs.map((ref) => ref.taskId)}::text[], ${refs.map((ref) => ref.mapIndex)}::int[],
        ${refs.map((ref) => ref.attemptId)}::uuid[], ${starts.map(({ worker }) => worker.hostname)}::text[],
        ${starts.map(({ worker }) => worker.pid)}::int[])
        as k(tenant_id, run, task_id, map_index, attempt_id, hostname, pid)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.hostname, k.pid from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
        and t.attempt_id = k.attempt_id
      where coalesce(t.state, '') in ('queued', 'running')
      for no key update of t skip locked
    )
    update task_instances t set state = 'running', hostname = l.hostname, pid = l.pid, heartbeat_at = clock_timestamp(),
      start_date = coalesce(t.start_date, clock_timestamp())
    from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.*`.execute(trx);
  return rows;
}

async function loadRuns(trx: SharedDb, refs: readonly AttemptRef[]): Promise<Map<number, RunRow>> {
  const ids = [...new Set(refs.map((ref) => ref.run))];
  const tenants = [...new Set(refs.map((ref) => ref.tenantId))];
  const runs = await fixedSql<RunRow>`
    select * from dag_runs where tenant_id = any(${tenants}::uuid[]) and id = any(${ids}::bigint[])`.execute(trx);
  return new Map(runs.rows.map((run) => [run.id, run]));
}

/**
 * Renews the leases. Those that are not answered with are not running any more. The lease of a row that somebody holds at this
 * moment is renewed with the next heartbeat, of which many fit into it.
 */
export async function renewLeases(db: Database, refs: readonly HeartbeatOf[]): Promise<Set<string>> {
  if (refs.length === 0) return new Set();
  const { rows } = await fixedSql<{ attempt_id: string }>`
    with k as (
      select * from unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[],
        ${refs.map((ref) => ref.taskId)}::text[], ${refs.map((ref) => ref.mapIndex)}::int[],
        ${refs.map((ref) => ref.attemptId)}::uuid[], ${refs.map((ref) => ref.pid ?? null)}::int[])
        as k(tenant_id, run, task_id, map_index, attempt_id, pid)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.pid from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
        and t.attempt_id = k.attempt_id
      where coalesce(t.state, '') in ('queued', 'running') for no key update of t skip locked
    ), renewed as (
      update task_instances t set heartbeat_at = clock_timestamp(), pid = coalesce(l.pid, t.pid) from locked l
      where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    )
    select t.attempt_id from task_instances t
    join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      and t.attempt_id = k.attempt_id
    where coalesce(t.state, '') in ('queued', 'running')`.execute(db.shared);
  return new Set(rows.map((row) => row.attempt_id));
}
