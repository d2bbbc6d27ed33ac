/**
 * Reads the metrics of work of all tenants in one statement, so that all numbers belong to the same moment. Counters
 * are the totals and the facts that are not folded yet. Starts are the attempts that have ended and those that run now.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { LIVE_STATES } from '@svc/spec/states.ts';
import type { Database } from '../database.ts';
import { ACTIVE } from '../state-sets.ts';
import { WORK_COLUMNS, changesOfDags, changesOfTenants } from './work-columns.ts';

/** A row of `work_totals`, or a change of one: the numbers are those of WORK_COLUMNS, in their order. */
export type WorkOfDag = [tenant: string, dagId: string, taskId: string, ...numbers: number[]];
export type WorkOfTenant = [tenant: string, metric: string, label: string, count: number];
/** Instances that have been scheduled and have not ended. */
export type LiveWork = {
  tenant: string;
  dagId: string;
  taskId: string;
  pool: string;
  queue: string;
  state: (typeof LIVE_STATES)[number];
  /** A limit other than that of the pool holds them back. */
  isHeld: boolean;
  instances: number;
  slots: number;
};
export type PoolSize = { tenant: string; name: string; slots: number; includesDeferred: boolean };
/** Of runs that ended within the last ten minutes. */
export type RecentRuns = { tenant: string; dagId: string; state: 'success' | 'failed'; quantiles: number[] };
export type TenantWork = { tenant: string; dags: number; importErrors: number; dagsWithRunningRuns: number };

export type WorkSnapshot = {
  dags: WorkOfDag[];
  /** Changes that are not in the totals yet. */
  changesOfDags: WorkOfDag[];
  /** The number of all totals. It is larger than that of `dags` when the limit left some out. */
  allDags: number;
  ofTenants: WorkOfTenant[];
  changesOfTenants: WorkOfTenant[];
  live: LiveWork[];
  pools: PoolSize[];
  recentRuns: RecentRuns[];
  tenants: TenantWork[];
};

export const QUANTILES = [0.5, 0.9, 0.99];
const RECENT = `interval '10 minutes'`;

/** A list of rows `c`, which have a tenant. */
const listOf = (row: RawBuilder<unknown>, from: RawBuilder<unknown>) => sql`
    (select coalesce(json_agg(json_build_array(${row})), '[]') from (${from}) c join names n on n.id = c.tenant_id)`;

/** Returns at most `limit` rows of totals, in the order of tenants and DAGs. */
export async function readWork(
  db: Database,
  { perTask, limit }: { perTask: boolean; limit: number },
): Promise<WorkSnapshot> {
  const ofDag = sql`n.name, c.dag_id, c.task_id, ${sql.raw(WORK_COLUMNS.map((name) => `c.${name}`).join(', '))}`;
  const ofTenant = sql`n.name, c.metric, c.label, c.count`;
  const task = perTask ? sql`t.task_id` : sql`''`;
  const live = (condition: string) => sql`
    select t.tenant_id, t.dag_id, ${task} as task_id, t.pool, t.queue, t.state, t.waits is not null and t.state = 'scheduled' as held, count(*)::int as instances, sum(t.pool_slots)::int as slots
    from task_instances t where ${sql.raw(condition)} group by 1, 2, 3, 4, 5, 6, 7`;
  const { rows } = await sql<WorkSnapshot>`
    with names as materialized (select id, name from tenants)
    select
      ${listOf(ofDag, sql`select * from work_totals order by tenant_id, dag_id, task_id limit ${limit}`)} as dags,
      ${listOf(ofDag, sql.raw(changesOfDags('work_facts', perTask)))} as "changesOfDags",
      (select count(*)::int from work_totals) as "allDags",
      ${listOf(ofTenant, sql`select * from work_totals_of_tenants`)} as "ofTenants",
      ${listOf(ofTenant, sql.raw(changesOfTenants('work_facts')))} as "changesOfTenants",
      (select coalesce(json_agg(json_build_object('tenant', n.name, 'dagId', l.dag_id, 'taskId', l.task_id, 'pool', l.pool,
        'queue', l.queue, 'state', l.state, 'isHeld', l.held, 'instances', l.instances, 'slots', l.slots)), '[]') from (
          ${live(`t.state in ${ACTIVE.text}`)}
          union all ${live(`t.state = 'scheduled' and t.waits is null`)}
          union all ${live(`t.state = 'scheduled' and t.waits is not null`)}
        ) l join names n on n.id = l.tenant_id) as live,
      (select coalesce(json_agg(json_build_object('tenant', n.name, 'name', p.name, 'slots', p.slots,
        'includesDeferred', p.include_deferred) order by n.name, p.name), '[]')
        from pools p join names n on n.id = p.tenant_id) as pools,
      (select coalesce(json_agg(json_build_object('tenant', recent.name, 'dagId', recent.dag_id, 'state', recent.state,
        'quantiles', recent.quantiles)), '[]') from (
          select n.name, r.dag_id, r.state, percentile_disc(${QUANTILES}::float8[]) within group (order by r.duration) as quantiles
          from names n join dag_runs r on r.tenant_id = n.id and r.end_date > now() - ${sql.raw(RECENT)}
          where r.state in ('success', 'failed') and r.duration is not null group by 1, 2, 3) recent) as "recentRuns",
      (select coalesce(json_agg(json_build_object('tenant', n.name,
        'dags', (select count(*) from dags d where d.tenant_id = n.id and not d.is_stale),
        'importErrors', (select count(*) from import_errors e where e.tenant_id = n.id),
        'dagsWithRunningRuns', (select count(distinct r.dag_id) from dag_runs r where r.tenant_id = n.id and r.state in ('queued', 'running') and r.state = 'running'))
        order by n.name), '[]') from names n) as tenants`.execute(db.shared);
  const [snapshot] = rows;
  if (!snapshot) throw new Error('unreachable: the statement returns one row');
  return snapshot;
}
