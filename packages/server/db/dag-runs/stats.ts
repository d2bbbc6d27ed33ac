import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';

export type DagRunCounts = {
  dag_id: string;
  display_name: string;
  counts: { queued: number; running: number; success: number; failed: number };
};

/**
 * Counts runs of the given DAGs, or of all that are not stale, as lists do (filters.ts): all, unfinished and failed
 * runs from their indexes; the rest succeeded. One statement, because the numbers must be of one moment to be
 * subtracted.
 */
export async function countRunsByState(db: TenantDb, dagIds: readonly string[] | undefined): Promise<DagRunCounts[]> {
  const counted = (...conditions: RawBuilder<boolean>[]) => {
    let runs = db.selectFrom('dag_runs as r').select(['r.dag_id', (eb) => eb.fn.countAll<number>().as('n')]);
    if (dagIds) runs = runs.where(sql<boolean>`r.dag_id = any(${[...dagIds]}::text[])`);
    for (const condition of conditions) runs = runs.where(condition);
    return runs.groupBy('r.dag_id');
  };
  const rows = await db
    .selectFrom('dags')
    .leftJoin(counted().as('total'), 'total.dag_id', 'dags.dag_id')
    .leftJoin(counted(sql`r.state = 'queued'`).as('queued'), 'queued.dag_id', 'dags.dag_id')
    .leftJoin(counted(sql`r.state = 'running'`).as('running'), 'running.dag_id', 'dags.dag_id')
    .leftJoin(counted(sql`r.state = 'failed'`).as('failed'), 'failed.dag_id', 'dags.dag_id')
    .select(['dags.dag_id', 'dags.display_name', number('total').as('total'), number('queued').as('queued')])
    .select([number('running').as('running'), number('failed').as('failed')])
    .where(dagIds ? sql<boolean>`dags.dag_id = any(${[...dagIds]}::text[])` : sql<boolean>`not dags.is_stale`)
    .orderBy('dags.dag_id')
    .execute();
  return rows.map(({ total, queued, running, failed, ...dag }) => ({
    ...dag,
    counts: { queued, running, failed, success: total - queued - running - failed },
  }));
}

const number = (name: string) => sql<number>`coalesce(${sql.ref(`${name}.n`)}, 0)`;

export type DateCount = { date: string; state: string; count: number };

/** The dates by which runs are displayed. */
const DATES = { logical_date: sql`coalesce(logical_date, run_after)`, partition_date: sql`partition_date` };
export type RunDate = keyof typeof DATES;

/** Counts runs of a DAG by day or hour and state. By partition date it counts only runs that have one. */
export async function countRunsByDate(
  db: TenantDb,
  query: {
    tenantId: string;
    dagId: string;
    unit: 'hour' | 'day';
    by: RunDate;
    within: readonly { operator: '>=' | '>' | '<=' | '<'; moment: string }[];
  },
): Promise<DateCount[]> {
  const { tenantId, dagId, unit, by, within } = query;
  const date = DATES[by];
  const limits = within.map(({ operator, moment }) => sql` and ${date} ${sql.raw(operator)} ${moment}`);
  const { rows } = await sql<DateCount>`
    select date_trunc(${unit}, ${date}, 'UTC') as date, state, count(*) as count from dag_runs
    where tenant_id = ${tenantId} and dag_id = ${dagId} and ${date} is not null ${sql.join(limits, sql``)}
    group by 1, 2 order by 1, 2`.execute(db);
  return rows;
}
