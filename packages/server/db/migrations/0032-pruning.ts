import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * What the removal of old runs needs (db/prune):
 *
 *   - Which process does it, one at a time, and when it was done last.
 *   - The logs of removed runs, until they are removed too: they are elsewhere, and a process may die between the two.
 *   - Indexes from a run or an event to the rows that refer to it. Without them every deletion reads whole tables.
 *   - Vacuum that runs often enough for the space of removed rows to be used again. The default fraction, a fifth of a
 *     table, is ten million dead rows of fifty million.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...STATE, ...WAYS, ...VACUUM]) await sql.raw(statement).execute(db);
}

const STATE = [
  `create table prune_state (
    is_only boolean primary key default true check (is_only),
    lease_by uuid,
    -- In words, for whoever finds it taken.
    lease_holder text,
    lease_until timestamptz,
    finished_at timestamptz
  )`,
  `insert into prune_state default values`,
  `create table logs_of_removed_runs (
    tenant_id uuid not null references tenants on delete cascade,
    id bigint generated always as identity,
    dag_id text not null,
    run_id text not null,
    removed_at timestamptz not null default now(),
    primary key (tenant_id, id)
  )`,
];

const WAYS = [
  `create index callback_requests_of_run on callback_requests (tenant_id, run) where run is not null`,
  `create index asset_event_aliases_of_event on asset_event_aliases (tenant_id, event_id)`,
  `create index asset_queue_of_event on asset_queue (tenant_id, event_id)`,
];

/** The tables get the vacuum settings that `task_instances` has already. */
const VACUUM = [
  'dag_runs',
  'task_instance_history',
  'xcoms',
  'rendered_fields',
  'asset_events',
  'dag_run_asset_events',
].map(
  (table) => `alter table ${table} set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
);
