/** Creates queued or started runs of a DAG, with their instances and the claim of the first of them. */
import { sql } from 'kysely';
import type { RunType } from '@svc/spec/states.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { isHeld } from './active-tenants.ts';
import { columnSet } from './column-set.ts';
import type { DagKey } from './dag-rows.ts';
import { QUEUED_INSTANCES, STARTED_INSTANCES } from './instance-columns.ts';
import type { QueuedInstance, StartedInstance } from './instance-columns.ts';

/** The columns of its DAG that the creation and the start of a run need. */
export type DagFacts = {
  /** True when its runs wait, because the DAG is paused or its tenant is disabled. */
  is_paused: boolean;
  max_active_runs: number;
  current_version: number;
  timetable: TimetableSpec;
};

/** Locks the row until the transaction ends, so that the number of active runs of the DAG does not change. */
export async function lockDag(trx: SharedDb, { tenantId, dagId }: DagKey): Promise<DagFacts | undefined> {
  return trx
    .selectFrom('dags')
    .select([isHeld('dags').as('is_paused'), 'max_active_runs', 'current_version', 'timetable'])
    .where('tenant_id', '=', tenantId)
    .where('dag_id', '=', dagId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export type QueuedRun = {
  runId: string;
  runType: RunType;
  logicalDate: string | null;
  intervalStart: string | null;
  intervalEnd: string | null;
  runAfter: string;
  conf: Record<string, unknown>;
  triggeredBy: string;
  triggeringUser: string | null;
  note: string | null;
  noteUser: string | null;
  versionNumber: number;
  backfillId: number | null;
  partitionKey: string | null;
  partitionDate: string | null;
};

/** Returns undefined when the DAG has a run with that id or that logical date. */
export async function insertQueuedRun(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  run: QueuedRun,
): Promise<RunRow | undefined> {
  const { rows } = await sql<RunRow>`
      insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
        run_after, queued_at, conf, triggered_by, triggering_user_name, note, note_user, version_number, backfill_id, partition_key, partition_date,
        tree)
      values (${tenantId}, ${dagId}, ${run.runId}, ${run.runType}, 'queued', ${run.logicalDate}, ${run.intervalStart},
        ${run.intervalEnd}, ${run.runAfter}, now(), ${JSON.stringify(run.conf)}, ${run.triggeredBy},
        ${run.triggeringUser}, ${run.note}, ${run.noteUser}, ${run.versionNumber},
        ${run.backfillId}, ${run.partitionKey}, ${run.partitionDate},
        (select d.tree from dags d where d.tenant_id = ${tenantId} and d.dag_id = ${dagId}
          and d.current_version = ${run.versionNumber}))
      on conflict do nothing returning *`.execute(trx);
  return rows[0];
}

export async function hasRunId(trx: SharedDb, { tenantId, dagId }: DagKey, runId: string): Promise<boolean> {
  const existing = await trx
    .selectFrom('dag_runs')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('dag_id', '=', dagId)
    .where('run_id', '=', runId)
    .executeTakeFirst();
  return existing !== undefined;
}

/** The names that a caller has chosen for a run. A DAG has each only once. */
export type ChosenNames = { runId: string | null; logicalDate: string | null };

/** Returns the places of names that the DAG has already. Query plan: one lookup in each of two unique indexes. */
export async function findTaken(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  chosen: readonly ChosenNames[],
): Promise<ReadonlySet<number>> {
  if (chosen.every(({ runId, logicalDate }) => runId === null && logicalDate === null)) return new Set();
  const { rows } = await fixedSql<{ place: number }>`
    select (k.place - 1)::int as place
    from unnest(${chosen.map(({ runId }) => runId)}::text[], ${chosen.map(({ logicalDate }) => logicalDate)}::timestamptz[])
      with ordinality as k(run_id, logical_date, place)
    where exists (select from dag_runs r where r.tenant_id = ${tenantId} and r.dag_id = ${dagId} and r.run_id = k.run_id)
      or exists (select from dag_runs r where r.tenant_id = ${tenantId} and r.dag_id = ${dagId}
        and r.logical_date = k.logical_date)`.execute(trx);
  return new Set(rows.map(({ place }) => place));
}

// ── runs that are written once, in their state after the start ──

/** Reserves ids for runs. Ids of runs that are not created are never used. */
export async function nextRunIds(trx: SharedDb, count: number): Promise<number[]> {
  const { rows } = await fixedSql<{ id: number }>`
    select nextval(pg_get_serial_sequence('dag_runs', 'id')) as id from generate_series(1, ${count}::int)`.execute(trx);
  return rows.map(({ id }) => id);
}

const WRITTEN = columnSet<RunRow, RunRow>({
  key: [
    { name: 'tenant_id', type: 'uuid', value: (run) => run.tenant_id },
    { name: 'id', type: 'bigint', value: (run) => run.id },
  ],
  values: [
    { name: 'dag_id', type: 'text', value: (run) => run.dag_id },
    { name: 'run_id', type: 'text', value: (run) => run.run_id },
    { name: 'run_type', type: 'text', value: (run) => run.run_type },
    { name: 'state', type: 'text', value: (run) => run.state },
    { name: 'logical_date', type: 'timestamptz', value: (run) => run.logical_date },
    { name: 'data_interval_start', type: 'timestamptz', value: (run) => run.data_interval_start },
    { name: 'data_interval_end', type: 'timestamptz', value: (run) => run.data_interval_end },
    { name: 'run_after', type: 'timestamptz', value: (run) => run.run_after },
    { name: 'queued_at', type: 'timestamptz', value: (run) => run.queued_at },
    { name: 'start_date', type: 'timestamptz', value: (run) => run.start_date },
    // `json` keeps the text as it was written; `jsonb` would change numbers.
    { name: 'conf', type: 'json', value: (run) => JSON.stringify(run.conf) },
    { name: 'triggered_by', type: 'text', value: (run) => run.triggered_by },
    { name: 'triggering_user_name', type: 'text', value: (run) => run.triggering_user_name },
    { name: 'note', type: 'text', value: (run) => run.note },
    { name: 'note_user', type: 'text', value: (run) => run.note_user },
    { name: 'version_number', type: 'int', value: (run) => run.version_number },
    { name: 'partition_key', type: 'text', value: (run) => run.partition_key },
    { name: 'partition_date', type: 'timestamptz', value: (run) => run.partition_date },
    { name: 'state_counts', type: 'jsonb', value: (run) => JSON.stringify(run.state_counts) },
    { name: 'timeout_at', type: 'timestamptz', value: (run) => run.timeout_at },
  ],
});

/** Fails when a DAG has a run with one of these ids or logical dates. Returns the rows in the order of their ids. */
export async function insertRuns(trx: SharedDb, runs: readonly RunRow[]): Promise<RunRow[]> {
  const { rows } = await fixedSql<RunRow>`
    insert into dag_runs (${WRITTEN.names}, tree) overriding system value
    select k.*, (select d.tree from dags d where d.tenant_id = k.tenant_id and d.dag_id = k.dag_id
      and d.current_version = k.version_number)
    from ${WRITTEN.rows(runs)} returning *`.execute(trx);
  return rows.toSorted((a, b) => a.id - b.id);
}

/** Inserts instances that are claimed with their run, so no other process sees them as scheduled. */
export async function insertQueued(trx: SharedDb, queued: readonly QueuedInstance[]): Promise<void> {
  if (queued.length === 0) return;
  await fixedSql`
    insert into task_instances (${QUEUED_INSTANCES.names}, queued_at)
    select k.*, greatest(clock_timestamp(), k.scheduled_at) from ${QUEUED_INSTANCES.rows(queued)}`.execute(trx);
}

/** Inserts instances that are started with their run. */
export async function insertStarted(trx: SharedDb, started: readonly StartedInstance[]): Promise<InstanceRow[]> {
  if (started.length === 0) return [];
  const { rows } = await fixedSql<InstanceRow>`
    insert into task_instances (${STARTED_INSTANCES.names}, queued_at, start_date, heartbeat_at)
    select k.*, n.now, n.now, n.now from ${STARTED_INSTANCES.rows(started)},
      lateral (select greatest(clock_timestamp(), k.scheduled_at) as now) n
    returning *`.execute(trx);
  return rows;
}
