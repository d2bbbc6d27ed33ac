/**
 * Moves facts of work into the totals. One statement removes the facts and adds them to the totals, so a process that
 * dies at any instruction neither loses nor repeats a fact, and a reader sees each fact once. Another process that folds
 * at the same time takes other facts.
 */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { WorkFactsTable } from '../tables/work.ts';
import { USAGE_ADDED, USAGE_COLUMNS, changesOfUsage, changesOfWaits } from './usage-columns.ts';
import { WORK_COLUMNS, changesOfDags, changesOfTenants } from './work-columns.ts';

/** Bounds the time of one statement. A backlog takes several. */
const AT_ONCE = 20_000;

// Both statements write the totals in the order of their keys, so that two folds do not wait for each other in a circle.
const COLUMNS = sql.raw(WORK_COLUMNS.join(', '));
const ADDED = sql.raw(WORK_COLUMNS.map((name) => `${name} = w.${name} + excluded.${name}`).join(', '));

/** With the name of its tenant. */
export type WorkFact = Selectable<WorkFactsTable> & { tenant: string };

/** `taken`: how many facts were folded. `facts`: the facts themselves, if the caller wants them. */
export type Folded = { taken: number; facts: WorkFact[] };

const FACTS = sql`(
  select coalesce(json_agg(to_jsonb(f) || jsonb_build_object('tenant', n.name) order by f.id), '[]')
  from taken f join tenants n on n.id = f.tenant_id)`;

export async function foldWork(
  db: Database,
  { perTask, returnsFacts = false }: { perTask: boolean; returnsFacts?: boolean },
): Promise<Folded> {
  const { rows } = await sql<{ taken: number; facts: WorkFact[] }>`
    with taken as (
      delete from work_facts where id = any(array(
        select id from work_facts order by id limit ${AT_ONCE} for update skip locked
      )) returning *
    ), of_dags as (
      insert into work_totals as w (tenant_id, dag_id, task_id, ${COLUMNS})
      select * from (${sql.raw(changesOfDags('taken', perTask))}) changes order by 1, 2, 3
      on conflict (tenant_id, dag_id, task_id) do update set ${ADDED}
    ), of_tenants as (
      insert into work_totals_of_tenants as w (tenant_id, metric, label, count)
      select * from (${sql.raw(changesOfTenants('taken'))}) changes order by 1, 2, 3
      on conflict (tenant_id, metric, label) do update set count = w.count + excluded.count
    ), of_usage as (
      insert into usage_days as w (tenant_id, day, dag_id, task_id, queue, ${sql.raw(USAGE_COLUMNS)})
      select * from (${sql.raw(changesOfUsage('taken'))}) changes order by 1, 2, 3, 4, 5
      on conflict (tenant_id, day, dag_id, task_id, queue) do update set ${sql.raw(USAGE_ADDED)}
    ), of_waits as (
      insert into wait_days as w (tenant_id, day, dag_id, reason, seconds)
      select * from (${sql.raw(changesOfWaits('taken'))}) changes order by 1, 2, 3, 4
      on conflict (tenant_id, day, dag_id, reason) do update set seconds = w.seconds + excluded.seconds
    )
    select count(*)::int as taken,
      ${returnsFacts ? FACTS : sql`'[]'::json`} as facts
    from taken`.execute(db.shared);
  return rows[0] ?? { taken: 0, facts: [] };
}

/** Removes totals of DAGs and tenants that were deleted. */
export async function removeOrphanTotals(db: Database): Promise<void> {
  await sql`
    delete from work_totals w where not exists (
      select from dags d where d.tenant_id = w.tenant_id and d.dag_id = w.dag_id)`.execute(db.shared);
  for (const table of ['usage_days', 'wait_days']) {
    await sql`
      delete from ${sql.table(table)} w where not exists (
        select from dags d where d.tenant_id = w.tenant_id and d.dag_id = w.dag_id)`.execute(db.shared);
  }
  await sql`
    delete from work_totals_of_tenants w where not exists (select from tenants t where t.id = w.tenant_id)`.execute(
    db.shared,
  );
}
