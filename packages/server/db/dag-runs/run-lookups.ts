/** Single facts of one run, by its key in the database (`dag_runs.id`) or by the ids that people use. */
import type { RunState } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

const byKey = (db: TenantDb, run: number) => db.selectFrom('dag_runs').where('id', '=', run);

const byIds = (db: TenantDb, dagId: string, runId: string) =>
  db.selectFrom('dag_runs').where('dag_id', '=', dagId).where('run_id', '=', runId);

/** Returns the id that people use. */
export async function findRunId(db: TenantDb, run: number): Promise<string | undefined> {
  return (await byKey(db, run).select('run_id').executeTakeFirst())?.run_id;
}

export async function findLogicalDate(db: TenantDb, run: number): Promise<Moment | null> {
  return (await byKey(db, run).select('logical_date').executeTakeFirst())?.logical_date ?? null;
}

export type DataInterval = { data_interval_start: Moment | null; data_interval_end: Moment | null };

export const findDataInterval = (db: TenantDb, run: number): Promise<DataInterval | undefined> =>
  byKey(db, run).select(['data_interval_start', 'data_interval_end']).executeTakeFirst();

/** Returns `dag_runs.id`. */
export async function findKeyOfRun(db: TenantDb, dagId: string, runId: string): Promise<number | undefined> {
  return (await byIds(db, dagId, runId).select('id').executeTakeFirst())?.id;
}

export async function findRunState(db: TenantDb, dagId: string, runId: string): Promise<RunState | undefined> {
  return (await byIds(db, dagId, runId).select('state').executeTakeFirst())?.state;
}

export async function findRunVersion(db: TenantDb, dagId: string, runId: string): Promise<number | undefined> {
  return (await byIds(db, dagId, runId).select('version_number').executeTakeFirst())?.version_number;
}

/** Returns what identifies the origin of a run. */
export const findRunOrigin = (db: TenantDb, dagId: string, runId: string) =>
  byIds(db, dagId, runId)
    .select(['run_id', 'logical_date', 'state', 'created_at', 'conf', 'triggered_by'])
    .executeTakeFirst();

/** Returns the run that conflicts with a new one: the run with the same id or, if none is given, with the same date. */
export async function findRunInTheWay(
  db: TenantDb,
  { dagId, runId, logicalDate }: { dagId: string; runId?: string | undefined; logicalDate?: string | null | undefined },
) {
  let query = db.selectFrom('dag_runs').selectAll().where('dag_id', '=', dagId);
  if (runId !== undefined) query = query.where('run_id', '=', runId);
  else if (typeof logicalDate === 'string') query = query.where('logical_date', '=', logicalDate);
  else return undefined;
  return query.executeTakeFirst();
}
