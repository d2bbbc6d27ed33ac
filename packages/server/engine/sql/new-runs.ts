/** From a DAG's row to a queued run of it. */
import { sql } from 'kysely';
import type { RunType } from '@svc/spec/states.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import { isHeld } from './active-tenants.ts';
import type { DagKey } from './dag-rows.ts';

/** What the creation and the start of a run ask of its DAG. */
export type DagFacts = {
  /** Its runs wait; so do those of a tenant that is disabled. */
  is_paused: boolean;
  max_active_runs: number;
  current_version: number;
  timetable: TimetableSpec;
};

/** Locked until the transaction ends: how many runs of the DAG are active does not change meanwhile. */
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

/** Undefined when the DAG has a run of that id or of that logical date. */
export async function insertQueuedRun(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  run: QueuedRun,
): Promise<RunRow | undefined> {
  const { rows } = await sql<RunRow>`
      insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
        run_after, queued_at, conf, triggered_by, triggering_user_name, note, note_user, version_number, backfill_id, partition_key, partition_date)
      values (${tenantId}, ${dagId}, ${run.runId}, ${run.runType}, 'queued', ${run.logicalDate}, ${run.intervalStart},
        ${run.intervalEnd}, ${run.runAfter}, now(), ${JSON.stringify(run.conf)}, ${run.triggeredBy},
        ${run.triggeringUser}, ${run.note}, ${run.noteUser}, ${run.versionNumber},
        ${run.backfillId}, ${run.partitionKey}, ${run.partitionDate})
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
