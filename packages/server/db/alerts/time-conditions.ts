/**
 * What time alone causes, for rules of alerts: late runs, stuck tasks and stale schedules. Only live rows, due DAGs and
 * the newest runs of DAGs with a live run are read, and only of tenants that have such rules.
 */
import { sql } from 'kysely';
import type { SharedDb } from '../database.ts';
import { OPEN_RUN } from '../state-sets.ts';
import type { RuleOfTenant } from './facts.ts';

export const TIME_EVENTS = ['late', 'stuck', 'stale_schedule'] as const;

const EVENTS = sql`array['late', 'stuck', 'stale_schedule']`;
const MAX_ROWS = 1_000;
/** Older runs say little about how long the next one takes. */
const RUNS_COMPARED = 200;

/** True for the one process that looks now. The others leave it to that process, until its transaction ends. */
export async function mayLookAtTime(trx: SharedDb): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('alerts of time', 0)) as mine`.execute(trx);
  return rows[0]?.mine === true;
}

export async function rulesOfTime(trx: SharedDb): Promise<RuleOfTenant[]> {
  const { rows } = await sql<RuleOfTenant>`
    select * from alert_rules where events && ${EVENTS} order by tenant_id, name`.execute(trx);
  return rows;
}

export type TimeCondition = {
  tenant_id: string;
  dag_id: string;
  run: number | null;
  task_id: string;
  map_index: number;
  try_number: number;
  /** Since the run was due, since the task waits, or since the next run was due. */
  seconds: number;
};

export type LateRun = TimeCondition & {
  /** Null: the run has not started. */
  running_seconds: number | null;
  /** The 95th percentile of its DAG, or null if too few runs have succeeded. */
  usual_seconds: number | null;
};

/** Fewer runs say nothing about what is usual. */
const MIN_RUNS = 5;

/** Query plan: dag_runs_live, and for each of its DAGs dag_runs_newest, limited. */
export async function findLateRuns(trx: SharedDb, tenantIds: readonly string[]): Promise<LateRun[]> {
  const { rows } = await sql<LateRun>`
    with live as (
      select tenant_id, dag_id, id, run_after, start_date from dag_runs
      where tenant_id = any(${[...tenantIds]}::uuid[]) and state in ${OPEN_RUN.raw} and backfill_id is null
        and run_after < now()
      order by run_after limit ${MAX_ROWS}
    ), usual as (
      select d.tenant_id, d.dag_id, p.p95 from (select distinct tenant_id, dag_id from live) d
      cross join lateral (
        select percentile_cont(0.95) within group (order by n.duration) as p95 from (
          select state, duration from dag_runs r where r.tenant_id = d.tenant_id and r.dag_id = d.dag_id
          order by run_after desc, id desc limit ${RUNS_COMPARED}
        ) n where n.state = 'success' and n.duration is not null having count(*) >= ${MIN_RUNS}
      ) p
    )
    select l.tenant_id, l.dag_id, l.id as run, '' as task_id, -1 as map_index, 0 as try_number,
      extract(epoch from now() - l.run_after)::float8 as seconds,
      extract(epoch from now() - l.start_date)::float8 as running_seconds, u.p95 as usual_seconds
    from live l left join usual u on u.tenant_id = l.tenant_id and u.dag_id = l.dag_id
    order by l.run_after, l.id`.execute(trx);
  return rows;
}

export type StuckTask = TimeCondition & { queue: string };

/** Tasks that could run and do not. Query plan: task_instances_scheduled and task_instances_active. */
export async function findStuckTasks(
  trx: SharedDb,
  { tenantIds, seconds }: { tenantIds: readonly string[]; seconds: number },
): Promise<StuckTask[]> {
  const waiting = (since: 'queued_at' | 'scheduled_at') => sql`
    select tenant_id, dag_id, run, task_id, map_index, try_number, queue,
      extract(epoch from now() - ${sql.ref(since)})::float8 as seconds
    from task_instances
    where tenant_id = any(${[...tenantIds]}::uuid[])
      and ${since === 'queued_at' ? sql`state = 'queued'` : sql`state = 'scheduled' and waits is null`}
      and ${sql.ref(since)} < now() - make_interval(secs => ${seconds})`;
  const { rows } = await sql<StuckTask>`
    select * from (${waiting('scheduled_at')} union all ${waiting('queued_at')}) stuck
    order by seconds desc, run, task_id, map_index limit ${MAX_ROWS}`.execute(trx);
  return rows;
}

/** Query plan: dags_due. */
export async function findStaleSchedules(
  trx: SharedDb,
  { tenantIds, seconds }: { tenantIds: readonly string[]; seconds: number },
): Promise<TimeCondition[]> {
  const { rows } = await sql<TimeCondition>`
    select tenant_id, dag_id, null::bigint as run, '' as task_id, -1 as map_index, 0 as try_number,
      extract(epoch from now() - next_dagrun_run_after)::float8 as seconds
    from dags
    where not is_paused and not is_stale and next_dagrun_run_after is not null
      and next_dagrun_run_after < now() - make_interval(secs => ${seconds})
      and tenant_id = any(${[...tenantIds]}::uuid[])
    order by next_dagrun_run_after, dag_id limit ${MAX_ROWS}`.execute(trx);
  return rows;
}

export type OpenSource = { tenant_id: string; rule_id: string; fingerprint: string; dag_id: string; task_id: string };

export async function openSourcesOfTime(trx: SharedDb): Promise<OpenSource[]> {
  const { rows } = await sql<OpenSource>`
    select a.tenant_id, a.rule_id, a.fingerprint, s.dag_id, s.task_id
    from alerts a join alert_sources s on s.tenant_id = a.tenant_id and s.alert_id = a.id and not s.is_over
    where a.status = 'open' and a.event = any(${EVENTS})`.execute(trx);
  return rows;
}

/** Marks what is over. An alert of which nothing is left is over, and its last message is due. */
export async function closeSourcesOfTime(trx: SharedDb, over: readonly OpenSource[]): Promise<void> {
  if (over.length === 0) return;
  await sql`
    with over as (
      select * from unnest(${over.map((one) => one.tenant_id)}::uuid[], ${over.map((one) => one.rule_id)}::uuid[],
        ${over.map((one) => one.fingerprint)}::text[], ${over.map((one) => one.dag_id)}::text[],
        ${over.map((one) => one.task_id)}::text[]) as o (tenant_id, rule_id, fingerprint, dag_id, task_id)
    )
    update alert_sources s set is_over = true from over o, alerts a
    where a.tenant_id = o.tenant_id and a.rule_id = o.rule_id and a.fingerprint = o.fingerprint and a.status = 'open'
      and s.tenant_id = a.tenant_id and s.alert_id = a.id and s.dag_id = o.dag_id and s.task_id = o.task_id`.execute(
    trx,
  );
  await sql`
    update alerts a set status = 'over', over_at = now(), tries = 0,
      due_at = case when a.messages = 0 then a.due_at when 'recovered' = any(r.events) then now() end
    from alert_rules r
    where a.status = 'open' and a.event = any(${EVENTS}) and r.tenant_id = a.tenant_id and r.id = a.rule_id
      and not exists (select from alert_sources s
        where s.tenant_id = a.tenant_id and s.alert_id = a.id and not s.is_over)`.execute(trx);
}
