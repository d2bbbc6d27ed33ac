/** Logs of removed runs: noted with the removal, and deleted from the list when they are gone. */
import { sql } from 'kysely';
import type { SharedDb } from '../database.ts';

export type RemovedLogs = {
  tenantId: string;
  id: number;
  dagId: string;
  runId: string;
  /** True when a run with this id exists again (a backfill of the same date), so that the logs belong to it. */
  isTaken: boolean;
};

/** Returns the oldest ones. Locks nothing, because removing a log twice does no harm. */
export async function findRemovedLogs(db: SharedDb, limit: number): Promise<RemovedLogs[]> {
  const { rows } = await sql<RemovedLogs>`
    select l.tenant_id as "tenantId", l.id, l.dag_id as "dagId", l.run_id as "runId",
      exists (select from dag_runs r where r.tenant_id = l.tenant_id and r.dag_id = l.dag_id and r.run_id = l.run_id)
        as "isTaken"
    from logs_of_removed_runs l order by l.id limit ${limit}`.execute(db);
  return rows;
}

export async function forgetRemovedLogs(db: SharedDb, logs: readonly RemovedLogs[]): Promise<void> {
  await sql`
    delete from logs_of_removed_runs l
    using unnest(${logs.map(({ tenantId }) => tenantId)}::uuid[], ${logs.map(({ id }) => id)}::bigint[]) as k(tenant_id, id)
    where l.tenant_id = k.tenant_id and l.id = k.id`.execute(db);
}

export async function countRemovedLogs(db: SharedDb): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from logs_of_removed_runs`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Returns the moment this long ago, by the clock of the database. */
export async function momentBefore(db: SharedDb, ms: number): Promise<string> {
  const { rows } = await sql<{ at: string }>`
    select clock_timestamp() - ${ms}::float8 * interval '1 ms' as at`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('unreachable: the database has a clock');
  return row.at;
}

/**
 * Sets timeouts for the current transaction, so that it does not wait long for locks. Removing a run with many tasks
 * may take long.
 */
export async function yieldToOthers(trx: SharedDb): Promise<void> {
  await sql`select set_config('lock_timeout', '500ms', true), set_config('statement_timeout', '600s', true)`.execute(
    trx,
  );
}
