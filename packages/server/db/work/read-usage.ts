/**
 * Reads what tries have used, added up by DAG, task, owner, tag, asset, queue or tenant. The days are added up already,
 * so a statement reads as many rows as tasks have run on each day, and no tries. Facts that are not folded yet count.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import { USAGE_COLUMNS, changesOfUsage, changesOfWaits } from './usage-columns.ts';

export const USAGE_GROUPS = ['dag', 'task', 'owner', 'tag', 'asset', 'queue', 'tenant'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export type UsagePrices = {
  cpuHour: number;
  gibHour: number;
  queues: readonly { queue: string; cpuHour: number; gibHour: number }[];
};

export type UsageQuery = {
  tenantId: string;
  by: UsageGroup;
  /** The first day, in UTC. */
  since: string;
  /** Only this DAG. */
  dagId?: string | undefined;
  prices: UsagePrices;
  limit: number;
  offset: number;
};

export type UsageSums = {
  tries: number;
  seconds: number;
  cpu_seconds: number;
  gib_seconds: number;
  memory_bytes: number;
  read_bytes: number;
  written_bytes: number;
  cost: number;
};
export type UsageWait = { key: string; reason: string; seconds: number };
export type FoundUsage = {
  total: UsageSums;
  groups: (UsageSums & { key: string })[];
  entries: number;
  /** Waits of the groups. Empty for groups that divide a DAG, because waits are added up by DAG. */
  waits: UsageWait[];
};

/** The key of each row `u`, and the joins for it. A DAG without owner or tag has the empty key. */
const GROUPS: Record<UsageGroup, { key: RawBuilder<string>; join: RawBuilder<unknown>; hasWaits: boolean }> = {
  dag: { key: sql`u.dag_id`, join: sql``, hasWaits: true },
  task: { key: sql`u.dag_id || '.' || u.task_id`, join: sql``, hasWaits: false },
  queue: { key: sql`u.queue`, join: sql``, hasWaits: false },
  tenant: { key: sql`n.name`, join: sql`join tenants n on n.id = u.tenant_id`, hasWaits: true },
  owner: {
    key: sql`k.key`,
    join: sql`join dags d on d.tenant_id = u.tenant_id and d.dag_id = u.dag_id
      left join lateral unnest(d.owners) as o(key) on true cross join lateral (select coalesce(o.key, '')) as k(key)`,
    hasWaits: true,
  },
  tag: {
    key: sql`k.key`,
    join: sql`join dags d on d.tenant_id = u.tenant_id and d.dag_id = u.dag_id
      left join lateral unnest(d.tags) as o(key) on true cross join lateral (select coalesce(o.key, '')) as k(key)`,
    hasWaits: true,
  },
  asset: {
    key: sql`coalesce(a.name, r.target_text)`,
    join: sql`join asset_references r on r.tenant_id = u.tenant_id and r.dag_id = u.dag_id and r.task_id = u.task_id
      and r.role = 'outlet' and r.target <> 'alias'
      left join assets a on r.target = 'asset' and a.tenant_id = r.tenant_id and a.id = r.target_id`,
    hasWaits: false,
  },
};

const SUMS = sql`sum(u.tries)::float8 as tries, sum(u.seconds) as seconds, sum(u.cpu_seconds) as cpu_seconds,
  sum(u.gib_seconds) as gib_seconds, max(u.memory_bytes) as memory_bytes, sum(u.read_bytes) as read_bytes,
  sum(u.written_bytes) as written_bytes, sum(u.cost) as cost`;

/** Query plan: primary key of usage_days, or its index usage_days_of_dag when one DAG is asked for. */
export async function readUsageBy(db: TenantDb, query: UsageQuery): Promise<FoundUsage> {
  const { tenantId, by, since, dagId, prices, limit, offset } = query;
  const { key, join, hasWaits } = GROUPS[by];
  const { queues } = prices;
  const mine = (row: string) => sql`${sql.ref(`${row}.tenant_id`)} = ${tenantId}::uuid
    and ${sql.ref(`${row}.day`)} >= ${since}::date
    ${dagId === undefined ? sql`` : sql`and ${sql.ref(`${row}.dag_id`)} = ${dagId}`}`;
  const columns = sql.raw(`tenant_id, day, dag_id, task_id, queue, ${USAGE_COLUMNS}`);
  const { rows } = await sql<FoundUsage>`
    with used as (
      select ${columns} from usage_days t where ${mine('t')}
      union all select ${columns} from (${sql.raw(changesOfUsage('work_facts'))}) f where ${mine('f')}
    ), priced as (
      select u.*, u.cpu_seconds / 3600 * coalesce(p.cpu, ${prices.cpuHour}::float8)
        + u.gib_seconds / 3600 * coalesce(p.gib, ${prices.gibHour}::float8) as cost
      from used u left join unnest(${queues.map(({ queue }) => queue)}::text[],
        ${queues.map(({ cpuHour }) => cpuHour)}::float8[], ${queues.map(({ gibHour }) => gibHour)}::float8[])
        as p(queue, cpu, gib) on p.queue = u.queue
    ), groups as (
      select ${key} as key, ${SUMS} from priced u ${join} group by 1
    ), page as (
      select * from groups order by cost desc, cpu_seconds desc, key limit ${limit} offset ${offset}
    ), waited as (
      select tenant_id, day, dag_id, reason, seconds from wait_days t where ${mine('t')} and ${hasWaits}
      union all select tenant_id, day, dag_id, reason, seconds
      from (${sql.raw(changesOfWaits('work_facts'))}) f where ${mine('f')} and ${hasWaits}
    )
    select (select count(*)::int from groups) as entries,
      (select to_jsonb(x) from (select ${SUMS} from priced u) x) as total,
      (select coalesce(jsonb_agg(to_jsonb(p) order by p.cost desc, p.cpu_seconds desc, p.key), '[]') from page p) as groups,
      ${
        hasWaits
          ? sql`(select coalesce(jsonb_agg(to_jsonb(x) order by x.key, x.seconds desc), '[]') from (
        select ${key} as key, u.reason, sum(u.seconds) as seconds from waited u ${join}
        where ${key} in (select key from page) group by 1, 2) x)`
          : sql`'[]'::jsonb`
      } as waits`.execute(db);
  const [found] = rows;
  if (!found) throw new Error('unreachable: the statement returns one row');
  return found;
}

/** What the successful instances of a task have used in the last runs, in one version of its DAG. */
export type TaskUsage = {
  task_id: string;
  version_number: number;
  tries: number;
  /** Largest, and the 95th of 100. */
  memory_max: number;
  memory_p95: number;
  /** Processors that were busy on average, the 95th of 100. */
  cpus_p95: number;
  seconds_median: number;
};

const RUNS = 30;
/** Bounds the rows of a run that has tens of thousands of mapped instances. */
const INSTANCES_OF_A_RUN = 2_000;

/** Query plan: index dag_runs_newest of the DAG, then the primary key of task_instances for each run. */
export async function readUsageOfLastRuns(db: TenantDb, { tenantId, dagId }: { tenantId: string; dagId: string }) {
  const { rows } = await sql<TaskUsage>`
    with runs as (
      select tenant_id, id from dag_runs where tenant_id = ${tenantId}::uuid and dag_id = ${dagId}
      order by run_after desc, id desc limit ${RUNS}
    )
    select i.task_id, i.version_number, count(*)::int as tries, max(i.memory) as memory_max,
      percentile_disc(0.95) within group (order by i.memory) as memory_p95,
      percentile_disc(0.95) within group (order by case when i.run > 0 then i.cpu / i.run else 0 end) as cpus_p95,
      percentile_disc(0.5) within group (order by i.run) as seconds_median
    from runs r cross join lateral (
      select t.task_id, t.version_number, (u.usage ->> 'memory')::float8 as memory, (u.usage ->> 'cpu')::float8 as cpu,
        (u.usage ->> 'run')::float8 as run
      from task_instances t cross join lateral (select t.usage::jsonb as usage) u
      where t.tenant_id = r.tenant_id and t.run = r.id and t.state = 'success' and u.usage ? 'cpu'
      limit ${INSTANCES_OF_A_RUN}
    ) i
    group by 1, 2 order by 1, 2`.execute(db);
  return rows;
}
