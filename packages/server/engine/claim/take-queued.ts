/**
 * Chosen instances become attempts. A row that another transaction holds is left for the next claim: waiting for it here
 * would hold up everybody.
 */
import { randomUUID } from 'node:crypto';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { Attempt } from '../attempts.ts';
import { taskOfRunKey } from './candidates.ts';
import type { Candidate } from './candidates.ts';

type Taken = Pick<InstanceRow, 'tenant_id' | 'run' | 'task_id' | 'map_index' | 'attempt_id' | 'try_number'>;

/** To be carried to a worker, which will ask whether it may start. */
export async function takeQueued(trx: SharedDb, chosen: readonly Candidate[]): Promise<Attempt[]> {
  if (chosen.length === 0) return [];
  const { rows } = await fixedSql<Taken>`
    ${locked(chosen, [])}
    update task_instances t set state = 'queued', ${FRESH}, start_date = null, heartbeat_at = null,
      pid = null
    from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.tenant_id, t.run, t.task_id, t.map_index, t.attempt_id, t.try_number`.execute(trx);
  const byKey = new Map(chosen.map((row) => [`${taskOfRunKey(row)}/${row.map_index}`, row]));
  return rows.flatMap((row): Attempt[] => {
    const candidate = byKey.get(`${taskOfRunKey(row)}/${row.map_index}`);
    if (!candidate || row.attempt_id === null) return [];
    return [
      {
        tenantId: row.tenant_id,
        run: row.run,
        taskId: row.task_id,
        mapIndex: row.map_index,
        attemptId: row.attempt_id,
        dagId: candidate.dag_id,
        versionNumber: candidate.version_number,
        tryNumber: row.try_number,
        queue: candidate.queue,
      },
    ];
  });
}

/** One for each end of an attempt: the worker that told it goes on with this one, which runs with the commit. */
export async function takeRunning(
  trx: SharedDb,
  chosen: readonly Candidate[],
  givers: readonly { attemptId: string; hostname: string }[],
): Promise<InstanceRow[]> {
  if (chosen.length === 0) return [];
  const { rows } = await fixedSql<InstanceRow>`
    ${locked(chosen, givers)}
    update task_instances t set state = 'running', ${FRESH}, start_date = clock_timestamp(), heartbeat_at = clock_timestamp(),
      hostname = l.hostname, pid = null
    from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.*`.execute(trx);
  return rows;
}

const FRESH = fixedSql`attempt_id = l.attempt_id, given_by = l.given_by, claimable = false, queued_at = clock_timestamp(),
      try_number = t.try_number + case when t.first_poke_at is null then 1 else 0 end, end_date = null, failure_reason = null`;

/**
 * By their keys, however many are scheduled: without `coalesce` the planner reads the index of all of those, which it takes
 * for empty, because it mostly is when statistics are made.
 */
const locked = (chosen: readonly Candidate[], givers: readonly { attemptId: string; hostname: string }[]) => fixedSql`
    with k as (
      select * from unnest(${chosen.map((row) => row.tenant_id)}::uuid[], ${chosen.map((row) => row.run)}::bigint[],
        ${chosen.map((row) => row.task_id)}::text[], ${chosen.map((row) => row.map_index)}::int[],
        ${chosen.map(() => randomUUID())}::uuid[], ${chosen.map((_row, index) => givers[index]?.attemptId ?? null)}::uuid[],
        ${chosen.map((_row, index) => givers[index]?.hostname ?? '')}::text[])
        as k(tenant_id, run, task_id, map_index, attempt_id, given_by, hostname)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.attempt_id, k.given_by, k.hostname from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      where coalesce(t.state, '') = 'scheduled' and t.claimable for no key update of t skip locked
    )`;
