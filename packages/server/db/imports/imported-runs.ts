/**
 * Runs that ended elsewhere, written in batches: one statement for hundreds of runs, one for thousands of instances,
 * each as one JSON document. All rows are finished, so the engine, which only reads unfinished rows, ignores them.
 */
import { sql } from 'kysely';
import type { RunState, RunType, TaskState } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import { IMPORTED_VERSION } from './imported-version.ts';

export type RunName = { dag_id: string; run_id: string };

export type ImportedRun = RunName & {
  run_type: RunType;
  state: Extract<RunState, 'success' | 'failed'>;
  logical_date: Moment | null;
  data_interval_start: Moment | null;
  data_interval_end: Moment | null;
  run_after: Moment;
  queued_at: Moment | null;
  start_date: Moment | null;
  end_date: Moment | null;
  /** JSON. */
  conf: string;
  triggered_by: string;
  triggering_user_name: string | null;
  note: string | null;
  note_user: string | null;
  partition_key: string | null;
};

export type ImportedTry = {
  run: number;
  dag_id: string;
  task_id: string;
  map_index: number;
  state: TaskState | null;
  try_number: number;
  max_tries: number;
  operator: string;
  pool: string;
  pool_slots: number;
  /** Text, because a JavaScript number may be too small for it. */
  priority_weight: string;
  queue: string;
  scheduled_at: Moment | null;
  queued_at: Moment | null;
  start_date: Moment | null;
  end_date: Moment | null;
  hostname: string;
  pid: number | null;
  rendered_map_index: string | null;
};

export type ImportedInstance = ImportedTry & {
  operator_class: string | null;
  note: string | null;
  note_user: string | null;
};

export type StoredRun = RunName & {
  id: number;
  version_number: number;
  state: RunState;
  logical_date: Moment | null;
  end_date: Moment | null;
};

/** Finds runs that conflict with these: with the same id, or the same date. Query plan: the two unique indexes. */
export async function findRunsInTheWay(
  db: TenantDb,
  tenantId: string,
  wanted: readonly (RunName & { logical_date: Moment | null })[],
): Promise<StoredRun[]> {
  const { rows } = await sql<StoredRun>`
    with w as (
      select * from unnest(${wanted.map((run) => run.dag_id)}::text[], ${wanted.map((run) => run.run_id)}::text[],
        ${wanted.map((run) => run.logical_date)}::timestamptz[]) as w(dag_id, run_id, logical_date)
    )
    select r.id, r.dag_id, r.run_id, r.version_number, r.state, r.logical_date, r.end_date
    from w join dag_runs r on r.tenant_id = ${tenantId} and r.dag_id = w.dag_id and r.run_id = w.run_id
    union
    select r.id, r.dag_id, r.run_id, r.version_number, r.state, r.logical_date, r.end_date
    from w join dag_runs r on r.tenant_id = ${tenantId} and r.dag_id = w.dag_id and r.logical_date = w.logical_date`.execute(
    db,
  );
  return rows;
}

/** Inserts the runs without a conflict and returns their keys. Conflicting runs are skipped. */
export async function insertImportedRuns(
  db: TenantDb,
  tenantId: string,
  runs: readonly ImportedRun[],
): Promise<(RunName & { id: number })[]> {
  const { rows } = await sql<RunName & { id: number }>`
    insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
      run_after, queued_at, start_date, end_date, conf, triggered_by, triggering_user_name, note, note_user, partition_key,
      version_number, created_at)
    select ${tenantId}::uuid, x.dag_id, x.run_id, x.run_type, x.state, x.logical_date, x.data_interval_start,
      x.data_interval_end, x.run_after, x.queued_at, x.start_date, x.end_date, x.conf::json, x.triggered_by,
      x.triggering_user_name, x.note, x.note_user, x.partition_key, ${IMPORTED_VERSION}::int,
      coalesce(x.queued_at, x.start_date, x.run_after)
    from json_to_recordset(${JSON.stringify(runs)}::json) as x(
      dag_id text, run_id text, run_type text, state text, logical_date timestamptz, data_interval_start timestamptz,
      data_interval_end timestamptz, run_after timestamptz, queued_at timestamptz, start_date timestamptz,
      end_date timestamptz, conf text, triggered_by text, triggering_user_name text, note text, note_user text,
      partition_key text)
    on conflict do nothing
    returning id, dag_id, run_id`.execute(db);
  return rows;
}

const COMMON = `run bigint, dag_id text, task_id text, map_index int, state text, try_number int, max_tries int, operator text,
  pool text, pool_slots int, priority_weight bigint, queue text, scheduled_at timestamptz, queued_at timestamptz,
  start_date timestamptz, end_date timestamptz, hostname text, pid int, rendered_map_index text`;
const COMMON_NAMES = COMMON.replaceAll(/(\w+) \w+(,|$)/g, '$1$2');

/** Without upstream counters, because no code reads them of finished instances. */
const NO_UPSTREAM = '0';

export async function insertImportedInstances(
  db: TenantDb,
  tenantId: string,
  instances: readonly ImportedInstance[],
): Promise<void> {
  await sql`
    insert into task_instances (tenant_id, version_number, upstream, operator_class, note, note_user, ${sql.raw(COMMON_NAMES)})
    select ${tenantId}::uuid, ${IMPORTED_VERSION}::int, ${NO_UPSTREAM}::text, operator_class, note, note_user,
      ${sql.raw(COMMON_NAMES)}
    from json_to_recordset(${JSON.stringify(instances)}::json)
      as x(operator_class text, note text, note_user text, ${sql.raw(COMMON)})
    order by run, task_id, map_index`.execute(db);
}

/** Inserts the tries before the last one. */
export async function insertImportedTries(
  db: TenantDb,
  tenantId: string,
  tries: readonly ImportedTry[],
): Promise<void> {
  await sql`
    insert into task_instance_history (tenant_id, id, version_number, ${sql.raw(COMMON_NAMES)})
    select ${tenantId}::uuid, uuid_in_order(), ${IMPORTED_VERSION}::int, ${sql.raw(COMMON_NAMES)}
    from json_to_recordset(${JSON.stringify(tries)}::json) as x(${sql.raw(COMMON)})
    on conflict do nothing`.execute(db);
}

/** Call it after all instances of the runs are written. Lists and dashboards use these counts. */
export async function countImportedInstances(db: TenantDb, tenantId: string, runs: readonly number[]): Promise<void> {
  await sql`
    update dag_runs r set state_counts = c.counts
    from (
      select run, jsonb_object_agg(coalesce(state, 'none'), n) as counts
      from (select run, state, count(*) as n from task_instances
        where tenant_id = ${tenantId} and run = any(${[...runs]}::bigint[]) group by run, state) by_state
      group by run
    ) c
    where r.tenant_id = ${tenantId} and r.id = c.run`.execute(db);
}

/** Deletes imported runs with their instances, so that they can be imported again. Never deletes another run. */
export async function deleteImportedRuns(db: TenantDb, ids: readonly number[]): Promise<void> {
  await db
    .deleteFrom('dag_runs')
    .where('id', '=', sql<number>`any(${[...ids]}::bigint[])`)
    .where('version_number', '=', IMPORTED_VERSION)
    .execute();
}
