/** Finds the runs, and their instances, that a clear or a mark selects. Locks nothing. */
import { sql } from 'kysely';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb, TenantDb } from '../../db/database.ts';
import { IMPORTED_VERSION } from '../../db/imports/imported-version.ts';
import type { Moment } from '../../db/schema.ts';
import type { InstanceOfRun } from '../../db/task-instances/task-instances.ts';

export type RunKey = { id: number; runId: string };

export const findRunById = (
  db: TenantDb,
  dagId: string,
  runId: string,
): Promise<(RunKey & { logical_date: Moment | null }) | undefined> =>
  db
    .selectFrom('dag_runs')
    .select(['id', 'run_id as runId', 'logical_date'])
    .where('dag_id', '=', dagId)
    .where('run_id', '=', runId)
    .executeTakeFirst();

/** Finds runs by logical date, both ends included; null is open. Returns them in the order of their ids. */
export function findRunsBetween(
  db: TenantDb,
  dagId: string,
  { from, to, isDated = false }: { from: string | null; to: string | null; isDated?: boolean },
): Promise<RunKey[]> {
  let runs = db.selectFrom('dag_runs').select(['id', 'run_id as runId']).where('dag_id', '=', dagId).orderBy('id');
  if (isDated) runs = runs.where('logical_date', 'is not', null);
  if (from !== null) runs = runs.where(sql<boolean>`logical_date >= ${from}::timestamptz`);
  if (to !== null) runs = runs.where(sql<boolean>`logical_date <= ${to}::timestamptz`);
  return runs.execute();
}

/** Returns the version to which each run is bound, or would be bound with the newest one. */
export async function findVersionsOfRuns(
  db: SharedDb,
  input: { tenantId: string; dagId: string; runs: readonly RunKey[]; onLatestVersion: boolean },
): Promise<{ id: number; version: number }[]> {
  const { tenantId, dagId, runs, onLatestVersion } = input;
  const { rows } = await sql<{ id: number; version: number }>`
    select r.id, case when ${onLatestVersion}::boolean then d.current_version else r.version_number end as version
    from dag_runs r join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
    where r.tenant_id = ${tenantId} and r.dag_id = ${dagId} and r.id = any(${runs.map((run) => run.id)}::bigint[])`.execute(
    db,
  );
  return rows;
}

/** Returns the run ids of imported runs. */
export async function findImportedRuns(
  db: SharedDb,
  input: { tenantId: string; runs: readonly RunKey[] },
): Promise<string[]> {
  const { rows } = await sql<{ runId: string }>`
    select run_id as "runId" from dag_runs
    where tenant_id = ${input.tenantId} and id = any(${input.runs.map((run) => run.id)}::bigint[])
      and version_number = ${IMPORTED_VERSION} order by id`.execute(db);
  return rows.map((row) => row.runId);
}

export type FoundInstance = InstanceOfRun & { state: TaskStateOrNone };

/** Returns all instances of these tasks in these runs. */
export async function findInstancesOfTasks(
  db: SharedDb,
  input: { tenantId: string; runs: readonly number[]; taskIds: readonly string[] },
): Promise<FoundInstance[]> {
  const { rows } = await sql<FoundInstance>`
    select run, task_id as "taskId", map_index as "mapIndex", state from task_instances
    where tenant_id = ${input.tenantId} and run = any(${[...input.runs]}::bigint[])
      and task_id = any(${[...input.taskIds]}::text[])`.execute(db);
  return rows;
}
