/**
 * Rows that belong to no run but grow with the runs: asset events, completed backfills, and entries of the audit log.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { SharedDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import { FINISHED_RUN, OPEN_RUN } from '../state-sets.ts';

export type OldRowsCursor = { at: Moment; id: number };
type Page = { tenantId: string; before: Moment; after: OldRowsCursor | undefined; limit: number };

/** How far it has read, and which of the rows may be removed. */
export type OldRows = { seenTo: OldRowsCursor | undefined; ids: number[]; seen: number };

const behind = (after: OldRowsCursor | undefined, column: string): RawBuilder<unknown> =>
  after === undefined ? sql`` : sql`and (${sql.ref(column)}, e.id) > (${after.at}::timestamptz, ${after.id})`;

function pageOf(rows: readonly { id: number; at: Moment; isNeeded: boolean }[]): OldRows {
  const last = rows.at(-1);
  return {
    seenTo: last && { at: last.at, id: last.id },
    ids: rows.filter(({ isNeeded }) => !isNeeded).map(({ id }) => id),
    seen: rows.length,
  };
}

/** `gone`: the runs that count as removed. */
const eventIsNeeded = (gone: RawBuilder<boolean>): RawBuilder<boolean> => sql<boolean>`(
  exists (select from asset_queue q where q.tenant_id = e.tenant_id and q.event_id = e.id)
  or exists (select from dag_run_asset_events x join dag_runs r on r.tenant_id = x.tenant_id and r.id = x.run
    where x.tenant_id = e.tenant_id and x.event_id = e.id and not ${gone})
  or exists (select from dag_runs r where r.tenant_id = e.tenant_id and r.dag_id = e.source_dag_id
    and r.run_id = e.source_run_id and not ${gone})
  or not exists (select from asset_events n where n.tenant_id = e.tenant_id and n.asset_id = e.asset_id
    and (n.at, n.id) > (e.at, e.id)))`;

/**
 * An event is needed in three cases: a DAG waits with it for other events; a run exists that caused it or was caused by
 * it; it is the last one of its asset. `asIf`: for a dry run, as if all old runs were removed. Query plan: index
 * asset_events_newest from its old end, a few keys each.
 */
export async function findOldEvents(db: SharedDb, page: Page, { asIf }: { asIf: boolean }): Promise<OldRows> {
  const { tenantId, before, after, limit } = page;
  const gone = sql<boolean>`(${asIf}::boolean and r.state in ${FINISHED_RUN.raw}
    and coalesce(r.end_date, r.run_after) < ${before}::timestamptz)`;
  const { rows } = await sql<{ id: number; at: Moment; isNeeded: boolean }>`
    select e.id, e.at, ${eventIsNeeded(gone)} as "isNeeded" from asset_events e
    where e.tenant_id = ${tenantId}::uuid and e.at < ${before}::timestamptz ${behind(after, 'e.at')}
    order by e.at, e.id limit ${limit}`.execute(db);
  return pageOf(rows);
}

/** Checks the events again, because a DAG may have started to wait with one. */
export async function removeEvents(trx: SharedDb, tenantId: string, ids: readonly number[]): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select e.id from asset_events e where e.tenant_id = ${tenantId}::uuid and e.id = any(${[...ids]}::bigint[])
      and not ${eventIsNeeded(sql<boolean>`false`)} order by e.id for update skip locked`.execute(trx);
  const { numAffectedRows = 0n } = await sql`delete from asset_events
    where tenant_id = ${tenantId}::uuid and id = any(${rows.map(({ id }) => id)}::bigint[])`.execute(trx);
  return Number(numAffectedRows);
}

/** Completed backfills without runs. There are few, so one statement suffices. */
const isOldBackfill = (tenantId: string, before: Moment): RawBuilder<boolean> => sql<boolean>`
  b.tenant_id = ${tenantId}::uuid and b.completed_at < ${before}::timestamptz
  and not exists (select from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id)`;

/** Counts as if all old runs were removed. */
export async function countOldBackfills(db: SharedDb, tenantId: string, before: Moment): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from backfills b where b.tenant_id = ${tenantId}::uuid and b.completed_at < ${before}::timestamptz
      and not exists (select from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id
        and (r.state in ${OPEN_RUN.raw} or coalesce(r.end_date, r.run_after) >= ${before}::timestamptz))`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function removeBackfills(trx: SharedDb, tenantId: string, before: Moment): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from backfills b where ${isOldBackfill(tenantId, before)}`.execute(
    trx,
  );
  return Number(numAffectedRows);
}

/** Removes sums of usage of days before that of the moment, at most `limit` of each table. Returns their number. */
export async function removeUsage(
  trx: SharedDb,
  { tenantId, before, limit }: { tenantId: string; before: Moment; limit: number },
): Promise<number> {
  let removed = 0;
  for (const table of ['usage_days', 'wait_days']) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where tenant_id = ${tenantId}::uuid
          and day < (${before}::timestamptz at time zone 'UTC')::date limit ${limit} for update skip locked))`.execute(
      trx,
    );
    removed += Number(numAffectedRows);
  }
  return removed;
}

export async function findOldAudit(db: SharedDb, { tenantId, before, after, limit }: Page): Promise<OldRows> {
  const { rows } = await sql<{ id: number; at: Moment; isNeeded: boolean }>`
    select e.id, e.at, false as "isNeeded" from audit_log e
    where e.tenant_id = ${tenantId}::uuid and e.at < ${before}::timestamptz ${behind(after, 'e.at')}
    order by e.at, e.id limit ${limit}`.execute(db);
  return pageOf(rows);
}

export async function removeAudit(trx: SharedDb, tenantId: string, ids: readonly number[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from audit_log
    where tenant_id = ${tenantId}::uuid and id = any(${[...ids]}::bigint[])`.execute(trx);
  return Number(numAffectedRows);
}
