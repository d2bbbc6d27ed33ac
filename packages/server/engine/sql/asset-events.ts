/**
 * Asset events, and the queue of those that wait for a schedule. The statements serve all tenants: the tenant is in
 * every key.
 */
import { sql } from 'kysely';
import type { SharedDb } from '../../db/database.ts';
import { ofActiveTenant } from './active-tenants.ts';
import type { DagKey } from './dag-rows.ts';
import { OPEN_RUN } from '../../db/state-sets.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';

export type EventSource = { dagId: string; runId: string; taskId: string; mapIndex: number };

export type NewAssetEvent = {
  /** One of the two may be empty, because a task may name an asset by its name or its URI only. */
  asset: { name: string; uri: string };
  alias: string | null;
  extra: Record<string, unknown>;
};

/**
 * Returns the ids in the order of the request. Creates unknown assets, because a task may attach any asset to an alias.
 */
export async function resolveAssets(
  trx: SharedDb,
  tenantId: string,
  assets: readonly { name: string; uri: string }[],
): Promise<number[]> {
  const complete = assets.map(({ name, uri }) => ({ name: name || uri, uri: uri || name, byName: !uri, byUri: !name }));
  // Sorted, so that two tasks that create the same new assets insert them in the same order.
  const wanted = complete.toSorted((a, b) => (`${a.name}\n${a.uri}` < `${b.name}\n${b.uri}` ? -1 : 1));
  const { rows } = await sql<{ id: number; name: string; uri: string }>`
    with wanted as (
      select distinct * from unnest(${wanted.map(({ name }) => name)}::text[], ${wanted.map(({ uri }) => uri)}::text[],
        ${wanted.map(({ byName }) => byName)}::boolean[], ${wanted.map(({ byUri }) => byUri)}::boolean[])
        as w(name, uri, by_name, by_uri)
    ), found as (
      select a.id, w.name, w.uri from wanted w
      join assets a on a.tenant_id = ${tenantId} and a.name = w.name and (w.by_name or a.uri = w.uri)
      where not w.by_uri
      union all
      select a.id, w.name, w.uri from wanted w
      join assets a on a.tenant_id = ${tenantId} and a.uri = w.uri
      where w.by_uri
    ), made as (
      insert into assets (tenant_id, name, uri, group_name)
      select ${tenantId}, w.name, w.uri, 'asset' from wanted w
      where not exists (select from found f where f.name = w.name and f.uri = w.uri)
      order by w.name, w.uri
      on conflict (tenant_id, name, uri) do update set updated_at = now()
      returning id, name, uri
    )
    select id, name, uri from found union all select id, name, uri from made
    order by id`.execute(trx);
  return complete.map(({ name, uri }) => {
    const row = rows.find((candidate) => candidate.name === name && candidate.uri === uri);
    if (!row) throw new Error(`unreachable: the asset ${name} was found or made`);
    return row.id;
  });
}

/**
 * Attaches the assets, so that later events of an asset also count for the alias. Returns the ids of the aliases by
 * name.
 */
async function attachToAliases(
  trx: SharedDb,
  tenantId: string,
  pairs: readonly { alias: string; assetId: number }[],
): Promise<Map<string, number>> {
  const names = [...new Set(pairs.map(({ alias }) => alias))].toSorted();
  if (names.length === 0) return new Map();
  const { rows } = await sql<{ id: number; name: string }>`
    insert into asset_aliases (tenant_id, name, group_name)
    select ${tenantId}, name, 'asset' from unnest(${names}::text[]) as n(name) order by name
    on conflict (tenant_id, name) do update set group_name = asset_aliases.group_name
    returning id, name`.execute(trx);
  const ids = new Map(rows.map((row) => [row.name, row.id]));
  await sql`
    insert into asset_alias_assets (tenant_id, alias_id, asset_id)
    select distinct ${tenantId}::uuid, alias_id, asset_id
    from unnest(${pairs.map(({ alias }) => ids.get(alias))}::bigint[], ${pairs.map(({ assetId }) => assetId)}::bigint[])
      as p(alias_id, asset_id)
    order by alias_id, asset_id
    on conflict do nothing`.execute(trx);
  return ids;
}

/** Returns the ids of the events, in the given order. */
export async function insertEvents(
  trx: SharedDb,
  tenantId: string,
  input: {
    events: readonly {
      assetId: number;
      alias: string | null;
      extra: Record<string, unknown>;
      partitionKey: string | null;
    }[];
    source: EventSource | null;
  },
): Promise<number[]> {
  const { events, source } = input;
  const { rows } = await sql<{ id: number }>`
    insert into asset_events (tenant_id, asset_id, extra, source_dag_id, source_task_id, source_run_id, source_map_index,
      partition_key, at)
    select ${tenantId}::uuid, asset_id, extra::json, ${source?.dagId ?? null}, ${source?.taskId ?? null},
      ${source?.runId ?? null}, ${source?.mapIndex ?? -1}::int, partition_key, clock_timestamp()
    from unnest(${events.map(({ assetId }) => assetId)}::bigint[],
      ${events.map(({ extra }) => JSON.stringify(extra))}::text[],
      ${events.map(({ partitionKey }) => partitionKey)}::text[]) with ordinality as e(asset_id, extra, partition_key, position)
    order by position
    returning id`.execute(trx);
  const ids = rows.map((row) => row.id).toSorted((a, b) => a - b);
  const pairs = events.flatMap(({ assetId, alias }, index) =>
    alias === null ? [] : [{ alias, assetId, eventId: ids[index] }],
  );
  const aliasIds = await attachToAliases(trx, tenantId, pairs);
  if (pairs.length > 0) {
    await sql`
      insert into asset_event_aliases (tenant_id, event_id, alias_id)
      select ${tenantId}::uuid, event_id, alias_id
      from unnest(${pairs.map(({ eventId }) => eventId)}::bigint[],
        ${pairs.map(({ alias }) => aliasIds.get(alias))}::bigint[]) as p(event_id, alias_id)`.execute(trx);
  }
  return ids;
}

/** DAGs whose schedule names the assets of the events: directly, by reference or through an alias. */
export const concernedBy = (tenantId: string) => sql`
  select h.id, h.asset_id, r.dag_id from happened h
  join asset_references r on r.tenant_id = ${tenantId} and r.target = 'asset' and r.target_id = h.asset_id
    and r.role = 'schedule'
  union
  select h.id, h.asset_id, r.dag_id from happened h
  join asset_alias_assets x on x.tenant_id = ${tenantId} and x.asset_id = h.asset_id
  join asset_references r on r.tenant_id = ${tenantId} and r.target = 'alias' and r.target_id = x.alias_id
    and r.role = 'schedule'
  union
  select h.id, h.asset_id, r.dag_id from happened h
  join asset_references r on r.tenant_id = ${tenantId} and r.target = 'name' and r.target_text = h.name
    and r.role = 'schedule'
  union
  select h.id, h.asset_id, r.dag_id from happened h
  join asset_references r on r.tenant_id = ${tenantId} and r.target = 'uri' and r.target_text = h.uri
    and r.role = 'schedule'`;

/**
 * Queues events for the DAGs whose schedule names their assets, directly, by reference or through an alias. As in
 * Airflow, events are not queued for a paused DAG, and it does not catch up later.
 */
export async function queueForConsumers(
  trx: SharedDb,
  tenantId: string,
  eventIds: readonly number[],
): Promise<string[]> {
  // Query plan: a few index lookups in asset_references per event. The cost does not depend on the number of events or
  // DAGs.
  const { rows } = await sql<{ dagId: string }>`
    with happened as (
      select e.id, e.asset_id, a.name, a.uri from asset_events e
      join assets a on a.tenant_id = e.tenant_id and a.id = e.asset_id
      where e.tenant_id = ${tenantId} and e.id = any(${[...eventIds]}::bigint[]) and e.partition_key is null
    ), concerned as (${concernedBy(tenantId)}), queued as (
      insert into asset_queue (tenant_id, dag_id, event_id, asset_id, created_at)
      select d.tenant_id, d.dag_id, c.id, c.asset_id, clock_timestamp() from concerned c
      join dags d on d.tenant_id = ${tenantId} and d.dag_id = c.dag_id and not d.is_paused and not d.is_stale
        and d.timetable ->> 'type' <> 'partitioned_asset'
      order by d.dag_id, c.id
      on conflict do nothing
      returning dag_id
    )
    select distinct dag_id as "dagId" from queued order by 1`.execute(trx);
  return rows.map((row) => row.dagId);
}

/** Finds DAGs with events that were not considered yet. A DAG at its limit waits for the end of a run. */
export async function findUnconsidered(db: SharedDb, limit: number): Promise<DagKey[]> {
  // Query plan: index asset_queue_unconsidered, which only has the newest events.
  const { rows } = await sql<DagKey>`
    select d.tenant_id as "tenantId", d.dag_id as "dagId"
    from (select distinct tenant_id, dag_id from asset_queue where not is_considered) q
    join dags d on d.tenant_id = q.tenant_id and d.dag_id = q.dag_id and not d.is_paused and not d.is_stale
    where ${ofActiveTenant('d')} and (select count(*) from dag_runs r where r.tenant_id = d.tenant_id and r.dag_id = d.dag_id
        and r.state in ${OPEN_RUN.raw} and r.backfill_id is null) < d.max_active_runs
    order by d.tenant_id, d.dag_id limit ${limit}`.execute(db);
  return rows;
}

export type AssetScheduledDag = { timetable: TimetableSpec; max_active_runs: number };

/** Returns undefined when no run of the DAG may start now. Its events wait. */
export async function lockConsumer(trx: SharedDb, key: DagKey): Promise<AssetScheduledDag | undefined> {
  const { rows } = await sql<AssetScheduledDag>`
    select timetable, max_active_runs from dags where tenant_id = ${key.tenantId} and dag_id = ${key.dagId}
      and not is_paused and not is_stale and ${ofActiveTenant('dags')} for no key update`.execute(trx);
  return rows[0];
}

export type QueuedAsset = { assetId: number; name: string; uri: string; aliases: string[] };

/** Returns the assets that have events waiting for the DAG. */
export async function queuedAssets(trx: SharedDb, { tenantId, dagId }: DagKey): Promise<QueuedAsset[]> {
  const { rows } = await sql<QueuedAsset>`
    select a.id as "assetId", a.name, a.uri, array(
      select l.name from asset_alias_assets x
      join asset_aliases l on l.tenant_id = x.tenant_id and l.id = x.alias_id
      where x.tenant_id = a.tenant_id and x.asset_id = a.id) as aliases
    from assets a
    where a.tenant_id = ${tenantId} and a.id in (
      select asset_id from asset_queue where tenant_id = ${tenantId} and dag_id = ${dagId})
    order by a.id`.execute(trx);
  return rows;
}

/** Makes all events that wait for the DAG the cause of this run. */
export async function assignQueueToRun(trx: SharedDb, { tenantId, dagId }: DagKey, run: number): Promise<void> {
  await sql`
    with taken as (
      delete from asset_queue where tenant_id = ${tenantId} and dag_id = ${dagId} returning event_id
    )
    insert into dag_run_asset_events (tenant_id, run, event_id) select ${tenantId}::uuid, ${run}::bigint, event_id from taken`.execute(
    trx,
  );
}

export async function markConsidered(trx: SharedDb, { tenantId, dagId }: DagKey): Promise<void> {
  await sql`
    update asset_queue set is_considered = true
    where tenant_id = ${tenantId} and dag_id = ${dagId} and not is_considered`.execute(trx);
}

/** Drops events of assets that the schedule no longer names. */
export async function dropQueued(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  assetIds: readonly number[],
): Promise<void> {
  if (assetIds.length === 0) return;
  await sql`
    delete from asset_queue
    where tenant_id = ${tenantId} and dag_id = ${dagId} and asset_id = any(${[...assetIds]}::bigint[])`.execute(trx);
}
