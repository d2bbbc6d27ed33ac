/**
 * Reads what the end of an attempt needs, in the transaction that starts the attempt, and checks at the end that it is
 * unchanged. The version of a row is the transaction that wrote it (`xmin`): every change sets another one, a lock does
 * not.
 */
import pg from 'pg';
import type { SharedDb } from '../../db/database.ts';
import { fixedSql, fixedText } from '../../db/fixed-sql.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { FREE, USED } from './claims.ts';
import type { RunRef } from './run-writes.ts';

type Versioned<Row> = { row: Row; version: string };
export type ForeseenRows = { run: Versioned<RunRow>; instances: readonly Versioned<InstanceRow>[] };

/** Send it after all statements that change these rows in their transaction. Query plan: primary keys. */
export async function readAhead(
  trx: SharedDb,
  { tenantId, run }: RunRef,
  picks: readonly { taskId: string; mapIndex: number }[],
): Promise<ForeseenRows | undefined> {
  const [runs, instances] = await Promise.all([
    fixedSql<RunRow & { version: string }>`
      select r.*, r.xmin::text as version from dag_runs r where r.tenant_id = ${tenantId} and r.id = ${run}`.execute(
      trx,
    ),
    fixedSql<InstanceRow & { version: string }>`
      select t.*, t.xmin::text as version
      from unnest(${picks.map(({ taskId }) => taskId)}::text[], ${picks.map(({ mapIndex }) => mapIndex)}::int[])
        as k(task_id, map_index)
      join task_instances t on t.tenant_id = ${tenantId} and t.run = ${run} and t.task_id = k.task_id
        and t.map_index = k.map_index`.execute(trx),
  ]);
  const [own] = runs.rows.map(apart);
  return own && { run: own, instances: instances.rows.map(apart) };
}

const apart = <Row extends { version: string }>({ version, ...row }: Row) => ({ row, version });

/**
 * Locks the run and then its instances, in the usual order, and fails when one of them has changed. All later
 * statements then fail too, and nothing is committed. It also fails unless the look of a hand-over (claim/hand-over.ts)
 * would be empty: nothing else waits, nothing is held, and the pool is not overfull.
 *
 * The row of the ending attempt may change, because its heartbeats change it. For that row the check is that the
 * attempt is current and runs.
 */
export async function requireForeseen(
  trx: SharedDb,
  { run: { row: run, version }, instances }: ForeseenRows,
  { attemptId, pool }: { attemptId: string; pool: string },
): Promise<void> {
  const current = instances.map(({ row }) => (row.attempt_id === attemptId ? attemptId : null));
  await fixedSql`
    select require_foreseen(case
      when (select count(*) from (
        select from dag_runs r
        where r.tenant_id = ${run.tenant_id} and r.id = ${run.id} and r.xmin = ${version}::text::xid
        for no key update) as own) <> 1 then 'the run has changed'
      when (select count(*) from (
        select from unnest(${instances.map(({ row }) => row.task_id)}::text[],
          ${instances.map(({ row }) => row.map_index)}::int[], ${instances.map((instance) => instance.version)}::text[],
          ${current}::uuid[]) as k(task_id, map_index, version, attempt_id)
        join task_instances t on t.tenant_id = ${run.tenant_id} and t.run = ${run.id} and t.task_id = k.task_id
          and t.map_index = k.map_index
        where case when k.attempt_id is null then t.xmin = k.version::xid
          else t.attempt_id = k.attempt_id and t.state = 'running' end
        for no key update of t) as around) <> ${instances.length}::int then 'its instances have changed'
      when exists (
        select from dags d join tenants on tenants.id = d.tenant_id
        where d.tenant_id = ${run.tenant_id} and d.dag_id = ${run.dag_id}
          and (d.is_paused or tenants.disabled_at is not null)) then 'its DAG is held'
      when exists (
        select from task_instances t
        where t.tenant_id = ${run.tenant_id} and t.pool = ${pool} and t.state = 'scheduled' and t.claimable)
        then 'others wait for the pool'
      when not exists (
        select from pools p ${POOL_USED}
        where p.tenant_id = ${run.tenant_id} and p.name = ${pool} and ${POOL_FREE} >= 0) then 'the pool is overfull'
    end)`.execute(trx);
}

const POOL_USED = fixedText(USED);
const POOL_FREE = fixedText(FREE);

export const isUnforeseen = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === 'SV001';
