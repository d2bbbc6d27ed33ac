/**
 * Finds with one statement what the tick must look into, so that an idle control plane needs no other query. An answer
 * may be yes although a closer look finds nothing. It is never no when there is something.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Moment } from '../../db/schema.ts';
import { ACTIVE } from '../../db/state-sets.ts';

export type Glance = {
  /** The time by which silence is measured, in milliseconds since the epoch. */
  wallMs: number;
  /** The first moment at which something is due. It may have passed. */
  nextAt: Moment | null;
  /** True when something has a moment that has passed, or is due without one. */
  isDue: boolean;
  hasClaimable: boolean;
  /** True when runs wait for their start, or instances wait for something outside their run. */
  hasWaiting: boolean;
  /** True when there are attempts that should have heartbeats. */
  hasLive: boolean;
  hasTimedOutRuns: boolean;
  hasCallbacks: boolean;
  /** True when there are triggers, triggerers, or watchers that need a trigger. */
  hasTriggers: boolean;
};

/**
 * Query plan: for each answer the first entry of a partial index of open rows. `order by` forces these indexes: with
 * `exists`, outdated statistics could make Postgres read a whole table.
 */
export async function glance(db: Database): Promise<Glance> {
  const { rows } = await sql<Glance>`
    select "wallMs", "nextAt", coalesce("nextAt" <= clock_timestamp(), false) or assets or backfills or queued_by_backfill
        as "isDue",
      claimable as "hasClaimable", queued_runs or waiting or held_back as "hasWaiting", active as "hasLive",
      coalesce(times_out_at <= clock_timestamp(), false) as "hasTimedOutRuns", callbacks as "hasCallbacks",
      triggers or triggerers or watchers as "hasTriggers"
    from (select
      extract(epoch from clock_timestamp())::float8 * 1000 as "wallMs",
      least(
        (select min(due_at) from task_instances where due_at is not null),
        (select min(next_dagrun_run_after) from dags where not is_paused and not is_stale),
        (select min(timetable_ask_at) from dags where timetable_ask_at is not null and not is_stale),
        (select min(deadline_time) from deadlines where missed_at is null and kept_at is null)
      ) as "nextAt",
      ${isThere(sql`asset_queue where not is_considered order by tenant_id, dag_id`)} as assets,
      ${isThere(sql`backfills where completed_at is null order by tenant_id, dag_id`)} as backfills,
      ${isThere(sql`dag_runs where ${QUEUED} and backfill_id is not null order by tenant_id, dag_id`)} as queued_by_backfill,
      ${isThere(sql`dag_runs where ${QUEUED} order by tenant_id, dag_id`)} as queued_runs,
      ${isThere(sql`task_instances where state = 'scheduled' and claimable order by tenant_id, pool`)} as claimable,
      ${isThere(sql`task_instances where state is null and waits is not null order by tenant_id, dag_id`)} as waiting,
      ${isThere(sql`task_instances where state = 'scheduled' and waits is not null order by tenant_id, dag_id`)} as held_back,
      ${isThere(sql`task_instances where ${IS_ACTIVE} order by tenant_id, dag_id`)} as active,
      (select min(timeout_at) from dag_runs where state = 'running' and timeout_at is not null) as times_out_at,
      ${isThere(sql`callback_requests where ${QUEUED} order by created_at`)} as callbacks,
      ${isThere(sql`triggers order by tenant_id, id`)} as triggers,
      ${isThere(sql`triggerers`)} as triggerers,
      ${isThere(sql`asset_watchers`)} as watchers
    ) seen`.execute(db.shared);
  const [seen] = rows;
  if (!seen) throw new Error('unreachable: a select without a condition has a row');
  return seen;
}

/** Selects queued rows. The first half is the condition of the partial indexes of live rows, so these can be used. */
const QUEUED = sql`state in ('queued', 'running') and state = 'queued'`;
const IS_ACTIVE = sql`state in ${ACTIVE.raw}`;

const isThere = (rows: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`(select true from ${rows} limit 1) is not null`;
