/** What runs and waits now, by queue, and how long tasks and runs waited lately. Only live rows and the newest are read. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import { ACTIVE } from '../state-sets.ts';

export type QueueLoad = {
  queue: string;
  running: number;
  /** Handed to a worker, and not started. */
  queued: number;
  scheduled: number;
  deferred: number;
  /** Since when the oldest of those waits that a worker should have started. */
  waiting_since: string | null;
};

const MAX_QUEUES = 200;

/** Query plan: task_instances_active, task_instances_scheduled and task_instances_held_back. */
export async function loadOfQueues(db: TenantDb, { tenantId }: { tenantId: string }): Promise<QueueLoad[]> {
  const waiting = (isHeldBack: boolean) => sql`
    select queue, 0 as running, 0 as queued, count(*) as scheduled, 0 as deferred,
      ${isHeldBack ? sql`null::timestamptz` : sql`min(scheduled_at)`} as since
    from task_instances
    where tenant_id = ${tenantId} and state = 'scheduled' and waits is ${isHeldBack ? sql`not null` : sql`null`}
    group by queue`;
  const { rows } = await sql<QueueLoad>`
    with live as (
      select queue, count(*) filter (where state in ('running', 'restarting')) as running,
        count(*) filter (where state = 'queued') as queued, 0 as scheduled,
        count(*) filter (where state = 'deferred') as deferred, min(queued_at) filter (where state = 'queued') as since
      from task_instances
      where tenant_id = ${tenantId} and state in ${ACTIVE.raw} group by queue
      union all ${waiting(false)} union all ${waiting(true)}
    )
    select queue, sum(running)::int as running, sum(queued)::int as queued, sum(scheduled)::int as scheduled,
      sum(deferred)::int as deferred, min(since) as waiting_since
    from live group by queue order by queue limit ${MAX_QUEUES}`.execute(db);
  return rows;
}

export type LongRunning = {
  dag_id: string;
  run_id: string;
  task_id: string;
  map_index: number;
  queue: string;
  hostname: string;
  start_date: string | null;
};

const MAX_RUNNING = 20;

/** The running instances that began first. Query plan: task_instances_active. */
export function longestRunning(db: TenantDb): Promise<LongRunning[]> {
  return db
    .selectFrom('task_instances as ti')
    .innerJoin('dag_runs as r', 'r.id', 'ti.run')
    .select(['ti.dag_id', 'r.run_id', 'ti.task_id', 'ti.map_index', 'ti.queue', 'ti.hostname', 'ti.start_date'])
    .where('ti.state', '=', 'running')
    .orderBy('ti.start_date')
    .limit(MAX_RUNNING)
    .execute();
}

/** Of the last minutes. Null where nothing started. */
export type Delays = { count: number; p50: number | null; p95: number | null };

export const DELAY_MINUTES = 15;
const MAX_COMPARED = 1_000;

const SINCE = sql`now() - make_interval(mins => ${DELAY_MINUTES})`;
const QUANTILES = sql`
  count(*)::int as count, percentile_cont(0.5) within group (order by seconds) as p50,
  percentile_cont(0.95) within group (order by seconds) as p95`;

/** From when a task could start until it started. Query plan: task_instances_newest, limited. */
export async function delaysOfTasks(db: TenantDb, { tenantId }: { tenantId: string }): Promise<Delays> {
  const { rows } = await sql<Delays>`
    with started as (
      select extract(epoch from start_date - scheduled_at)::float8 as seconds from task_instances
      where tenant_id = ${tenantId} and start_date > ${SINCE} and scheduled_at <= start_date
      order by start_date desc limit ${MAX_COMPARED}
    ) select ${QUANTILES} from started`.execute(db);
  return rows[0] ?? { count: 0, p50: null, p95: null };
}

/** From when a scheduled run was due until it started. Query plan: dag_runs_newest_of_all, limited. */
export async function delaysOfRuns(db: TenantDb, { tenantId }: { tenantId: string }): Promise<Delays> {
  const { rows } = await sql<Delays>`
    with newest as (
      select run_type, run_after, start_date from dag_runs where tenant_id = ${tenantId} and run_after > ${SINCE}
      order by run_after desc, id desc limit ${MAX_COMPARED}
    ), started as (
      select greatest(extract(epoch from start_date - run_after), 0)::float8 as seconds from newest
      where run_type = 'scheduled' and start_date is not null
    ) select ${QUANTILES} from started`.execute(db);
  return rows[0] ?? { count: 0, p50: null, p95: null };
}
