/** Deadlines of runs: they are created with the run and become due by time. */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';

export async function insertDeadlines(
  trx: SharedDb,
  run: Pick<RunRow, 'tenant_id' | 'id' | 'dag_id'>,
  deadlines: readonly { position: number; at: string; name: string | null }[],
): Promise<void> {
  const rows = deadlines.map(({ position, at, name }) => ({
    tenant_id: run.tenant_id,
    run: run.id,
    dag_id: run.dag_id,
    position,
    deadline_time: at,
    alert_name: name,
  }));
  // A missed deadline stays missed.
  const write = trx.insertInto('deadlines').values(rows);
  await write.onConflict((conflict) => conflict.columns(['tenant_id', 'run', 'position']).doNothing()).execute();
}

/** True when this attempt was asked for the reference, and has not ended. */
export async function wasAskedForReference(
  trx: SharedDb,
  { tenantId, run, attemptId, which }: { tenantId: string; run: number; attemptId: string; which: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from callback_requests where tenant_id = ${tenantId} and run = ${run} and attempt_id = ${attemptId}
      and which = ${which} and state = 'running'`.execute(trx);
  return rows.length > 0;
}

/** Deletes deadlines of a run that starts again. Missed ones stay. */
export async function deleteDeadlines(
  trx: SharedDb,
  run: Pick<RunRow, 'tenant_id' | 'id'>,
  positions: readonly number[],
): Promise<void> {
  await sql`
    delete from deadlines where tenant_id = ${run.tenant_id} and run = ${run.id} and missed_at is null
      and position = any(${[...positions]}::int[])`.execute(trx);
}

/**
 * Returns the seconds that the last successful runs of the DAG took, newest first. Query plan: index dag_runs_newest.
 */
export async function readRuntimes(
  trx: SharedDb,
  { tenantId, dagId, limit }: { tenantId: string; dagId: string; limit: number },
): Promise<number[]> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from end_date - start_date)::float8 as seconds from dag_runs
    where tenant_id = ${tenantId} and dag_id = ${dagId} and state = 'success' and start_date is not null
      and end_date is not null
    order by run_after desc, id desc limit ${limit}`.execute(trx);
  return rows.map(({ seconds }) => seconds);
}

export type DueDeadline = {
  tenantId: string;
  id: string;
  run: number;
  dagId: string;
  position: number;
  deadlineTime: string;
  versionNumber: number;
  isMissed: boolean;
};

/**
 * Takes the deadlines whose time has come, each in one process only. One is missed when the run had not ended by then,
 * else kept. Query plan: index deadlines_due.
 */
export async function takeDueDeadlines(trx: SharedDb, limit: number): Promise<DueDeadline[]> {
  const { rows } = await sql<DueDeadline>`
    select d.tenant_id as "tenantId", d.id, d.run, d.dag_id as "dagId", d.position, d.deadline_time as "deadlineTime",
      r.version_number as "versionNumber", coalesce(r.end_date, 'infinity') > d.deadline_time as "isMissed"
    from deadlines d join dag_runs r on r.tenant_id = d.tenant_id and r.id = d.run
    where d.missed_at is null and d.kept_at is null and d.deadline_time <= clock_timestamp()
    order by d.deadline_time limit ${limit} for update of d skip locked`.execute(trx);
  const kept = rows.filter(({ isMissed }) => !isMissed).map(({ id }) => id);
  const missed = rows.filter(({ isMissed }) => isMissed).map(({ id }) => id);
  await sql`update deadlines set kept_at = clock_timestamp() where id = any(${kept}::uuid[])`.execute(trx);
  await sql`update deadlines set missed_at = clock_timestamp() where id = any(${missed}::uuid[])`.execute(trx);
  return rows;
}

export async function nextDeadlineAt(db: Database): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select min(deadline_time) as at from deadlines where missed_at is null and kept_at is null`.execute(db.shared);
  return rows[0]?.at ?? null;
}

/** A triggerer waits for it like for the trigger of a task: it calls the callback, and that call is the event. */
export async function insertCallbackTrigger(
  trx: SharedDb,
  input: { tenantId: string; run: number; dagId: string; versionNumber: number; classPath: string; kwargs: string },
): Promise<void> {
  await trx
    .insertInto('triggers')
    .values({
      tenant_id: input.tenantId,
      kind: 'callback',
      run: input.run,
      dag_id: input.dagId,
      version_number: input.versionNumber,
      class_path: input.classPath,
      kwargs: input.kwargs,
    })
    .execute();
}
