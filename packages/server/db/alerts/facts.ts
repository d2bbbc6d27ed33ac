/**
 * Turns facts into alerts. One transaction takes facts, opens or updates alerts, and removes the facts, so a process
 * that dies neither loses nor repeats one. Facts that another process takes are left out.
 */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { SharedDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import type { AlertFactsTable } from '../tables/alerts.ts';
import type { RuleRow } from './rules.ts';

export type FactRow = Selectable<AlertFactsTable>;

export async function takeFacts(trx: SharedDb, limit: number): Promise<FactRow[]> {
  const { rows } = await sql<FactRow>`
    delete from alert_facts where id = any(array(
      select id from alert_facts order by id limit ${limit} for update skip locked
    )) returning *`.execute(trx);
  return rows.toSorted((a, b) => a.id - b.id);
}

export type RuleOfTenant = RuleRow & { tenant_id: string };

export async function rulesOfTenants(trx: SharedDb, tenantIds: readonly string[]): Promise<RuleOfTenant[]> {
  const { rows } = await sql<RuleOfTenant>`
    select * from alert_rules where tenant_id = any(${[...tenantIds]}::uuid[]) order by name`.execute(trx);
  return rows;
}

export type MatchedDag = { tenant_id: string; dag_id: string; tags: string[]; owners: string[] };

export async function dagsOfFacts(
  trx: SharedDb,
  facts: readonly Pick<FactRow, 'tenant_id' | 'dag_id'>[],
): Promise<MatchedDag[]> {
  const { rows } = await sql<MatchedDag>`
    select tenant_id, dag_id, tags, owners from dags where (tenant_id, dag_id) in (select * from
      unnest(${facts.map((fact) => fact.tenant_id)}::uuid[], ${facts.map((fact) => fact.dag_id)}::text[]))`.execute(
    trx,
  );
  return rows;
}

/** Returns those of the runs that have a failed instance. Their failure is reported by that instance. */
export async function runsWithFailedTasks(trx: SharedDb, runs: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ run: number }>`
    select distinct run from task_instances where run = any(${[...runs]}::bigint[]) and state = 'failed'`.execute(trx);
  return new Set(rows.map((row) => row.run));
}

export type AlertChange = {
  tenantId: string;
  ruleId: string;
  fingerprint: string;
  event: string;
  cause: string;
  detail: string | null;
  /** The first failure. */
  fact: Pick<FactRow, 'dag_id' | 'run' | 'task_id' | 'map_index' | 'try_number' | 'at'>;
  /** Failures by DAG and task. */
  sources: readonly { dagId: string; taskId: string; failures: number }[];
  /** When the first message is to be sent. Null: never, because the rule is muted. */
  firstDueAt: Date | null;
  /** When an open alert with a message is to be updated. Null: the channel cannot change a message. */
  updateDueAt: Date | null;
};

export async function openOrUpdateAlert(trx: SharedDb, change: AlertChange): Promise<void> {
  const { tenantId, fact } = change;
  const failures = change.sources.reduce((sum, source) => sum + source.failures, 0);
  const { rows } = await sql<{ id: string }>`
    insert into alerts as a (tenant_id, rule_id, fingerprint, event, cause, detail, dag_id, run, task_id, map_index,
      try_number, failures, opened_at, last_at, due_at)
    values (${tenantId}, ${change.ruleId}, ${change.fingerprint}, ${change.event}, ${change.cause}, ${change.detail},
      ${fact.dag_id}, ${fact.run}, ${fact.task_id}, ${fact.map_index}, ${fact.try_number}, ${failures}, ${fact.at},
      ${fact.at}, ${change.firstDueAt})
    on conflict (tenant_id, rule_id, fingerprint) where status = 'open' do update set
      failures = a.failures + excluded.failures, last_at = excluded.last_at,
      due_at = case when a.messages > 0 and a.acknowledged_at is null then coalesce(a.due_at, ${change.updateDueAt})
        else a.due_at end
    returning id`.execute(trx);
  const [alert] = rows;
  if (!alert) throw new Error('unreachable: an upsert returns its row');
  if (change.sources.length === 0) return;
  await sql`
    insert into alert_sources as s (tenant_id, alert_id, dag_id, task_id, failures)
    select ${tenantId}, ${alert.id}, * from unnest(${change.sources.map(({ dagId }) => dagId)}::text[],
      ${change.sources.map(({ taskId }) => taskId)}::text[], ${change.sources.map((source) => source.failures)}::int[])
    on conflict (tenant_id, alert_id, dag_id, task_id) do update set
      failures = s.failures + excluded.failures, is_over = false`.execute(trx);
}

/**
 * Marks what has recovered: the DAG, after a run of it succeeded, or a file. An alert is over when nothing of it is
 * left. Then one more message is due. A look at the time decides about late runs and the like. A first message that was not sent yet is sent before it.
 */
export async function closeRecovered(
  trx: SharedDb,
  recovered: readonly { tenantId: string; dagId: string; isFile: boolean }[],
): Promise<void> {
  if (recovered.length === 0) return;
  await sql`
    with recovered as (
      select * from unnest(${recovered.map(({ tenantId }) => tenantId)}::uuid[],
        ${recovered.map(({ dagId }) => dagId)}::text[], ${recovered.map(({ isFile }) => isFile)}::bool[])
        as r (tenant_id, dag_id, is_file)
    ), ended as (
      update alert_sources s set is_over = true from recovered r, alerts a
      where s.tenant_id = r.tenant_id and s.dag_id = r.dag_id and not s.is_over
        and a.tenant_id = s.tenant_id and a.id = s.alert_id and (a.event = 'broken_file') = r.is_file
        and a.event <> all(array['late', 'stuck', 'stale_schedule'])
      returning s.tenant_id, s.alert_id, s.dag_id, s.task_id
    )
    update alerts a set status = 'over', over_at = now(),
      due_at = case when a.messages = 0 then a.due_at when 'recovered' = any(r.events) then now() end, tries = 0
    from alert_rules r
    where (a.tenant_id, a.id) in (select tenant_id, alert_id from ended) and a.status = 'open'
      and r.tenant_id = a.tenant_id and r.id = a.rule_id
      and not exists (select from alert_sources s where s.tenant_id = a.tenant_id and s.alert_id = a.id
        and not s.is_over
        and not exists (select from ended e where e.tenant_id = s.tenant_id and e.alert_id = s.alert_id
          and e.dag_id = s.dag_id and e.task_id = s.task_id))`.execute(trx);
}

/** Returns the moment of the next message, or null. Query plan: index alerts_due. */
export async function nextDueAt(db: SharedDb): Promise<Moment | null> {
  const { rows } = await sql<{ due_at: Moment }>`
    select greatest(due_at, held_until) as due_at from alerts where due_at is not null
    order by due_at limit 1`.execute(db);
  return rows[0]?.due_at ?? null;
}
