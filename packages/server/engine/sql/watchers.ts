/** Triggers of asset watchers: one for all equal watchers, while a DAG that is neither paused nor stale needs it. */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';

const wanted = sql`
    select distinct on (w.tenant_id, w.hash) w.tenant_id, w.hash, w.dag_id, w.version_number, w.class_path, w.kwargs
    from asset_watchers w join dags d on d.tenant_id = w.tenant_id and d.dag_id = w.dag_id
    where not d.is_paused and not d.is_stale
    order by w.tenant_id, w.hash, w.dag_id`;

/** Returns true when something has changed. Query plan: the watchers of all DAGs, a handful. */
export async function reconcileWatchers(db: Database): Promise<boolean> {
  const made = await sql`
    insert into triggers (tenant_id, kind, dag_id, version_number, hash, class_path, kwargs)
    select w.tenant_id, 'asset', w.dag_id, w.version_number, w.hash, w.class_path, w.kwargs from (${wanted}) w
    where not exists (select 1 from triggers t where t.tenant_id = w.tenant_id and t.kind = 'asset' and t.hash = w.hash)
    on conflict do nothing`.execute(db.shared);
  const gone = await sql`
    delete from triggers t where t.kind = 'asset' and not exists (
      select 1 from asset_watchers w join dags d on d.tenant_id = w.tenant_id and d.dag_id = w.dag_id
      where w.tenant_id = t.tenant_id and w.hash = t.hash and not d.is_paused and not d.is_stale)`.execute(db.shared);
  return (made.numAffectedRows ?? 0n) + (gone.numAffectedRows ?? 0n) > 0n;
}

/**
 * Records an event of the triggerer that has the lease of the trigger. `word` identifies the event, so a repeated
 * report has the same one. Returns false for a repeated report, or when the triggerer no longer has the lease.
 */
export async function takeWatcherEvent(
  trx: SharedDb,
  ref: { tenantId: string; triggerId: number; triggererId: string },
  word: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update triggers set event = ${word}
    where tenant_id = ${ref.tenantId} and id = ${ref.triggerId} and triggerer_id = ${ref.triggererId}
      and event is distinct from ${word}`.execute(trx);
  return numAffectedRows === 1n;
}

export async function findWatchedAssets(
  trx: SharedDb,
  ref: { tenantId: string; hash: string },
): Promise<{ name: string; uri: string }[]> {
  const { rows } = await sql<{ name: string; uri: string }>`
    select distinct asset_name as name, asset_uri as uri from asset_watchers
    where tenant_id = ${ref.tenantId} and hash = ${ref.hash} order by 1, 2`.execute(trx);
  return rows;
}
