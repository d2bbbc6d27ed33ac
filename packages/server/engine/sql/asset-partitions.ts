/** Events that wait for the run of one partition: rows of `asset_queue` with the key of that run. */
import { sql } from 'kysely';
import type { PartitionedAssetTimetable } from '@svc/spec/timetables/schema.ts';
import type { SharedDb } from '../../db/database.ts';
import { concernedBy } from './asset-events.ts';
import type { QueuedAsset } from './asset-events.ts';
import type { DagKey } from './dag-rows.ts';

export type PartitionConsumer = QueuedAsset & { eventId: number; dagId: string; timetable: PartitionedAssetTimetable };

/** Finds the DAGs that wait for these events by partition. As for events without a key, paused DAGs get none. */
export async function findPartitionConsumers(
  trx: SharedDb,
  tenantId: string,
  eventIds: readonly number[],
): Promise<PartitionConsumer[]> {
  const { rows } = await sql<PartitionConsumer>`
    with happened as (
      select e.id, e.asset_id, a.name, a.uri from asset_events e
      join assets a on a.tenant_id = e.tenant_id and a.id = e.asset_id
      where e.tenant_id = ${tenantId} and e.id = any(${[...eventIds]}::bigint[])
    ), concerned as (${concernedBy(tenantId)})
    select c.id as "eventId", a.id as "assetId", a.name, a.uri, d.dag_id as "dagId", d.timetable, array(
      select l.name from asset_alias_assets x
      join asset_aliases l on l.tenant_id = x.tenant_id and l.id = x.alias_id
      where x.tenant_id = a.tenant_id and x.asset_id = a.id) as aliases
    from concerned c
    join assets a on a.tenant_id = ${tenantId} and a.id = c.asset_id
    join dags d on d.tenant_id = ${tenantId} and d.dag_id = c.dag_id and not d.is_paused and not d.is_stale
      and d.timetable ->> 'type' = 'partitioned_asset'
    order by d.dag_id, c.id`.execute(trx);
  return rows;
}

/** Without a key, the DAG's own mapper must be asked first. */
export type QueuedPartitionEvent = { dagId: string; eventId: number; assetId: number; partitionKey: string | null };

export async function queuePartitionEvents(
  trx: SharedDb,
  tenantId: string,
  rows: readonly QueuedPartitionEvent[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into asset_queue (tenant_id, dag_id, event_id, asset_id, partition_key, created_at)
    select ${tenantId}::uuid, dag_id, event_id, asset_id, partition_key, clock_timestamp()
    from unnest(${rows.map(({ dagId }) => dagId)}::text[], ${rows.map(({ eventId }) => eventId)}::bigint[],
      ${rows.map(({ assetId }) => assetId)}::bigint[], ${rows.map(({ partitionKey }) => partitionKey)}::text[])
      as q(dag_id, event_id, asset_id, partition_key)
    on conflict do nothing`.execute(trx);
}

/** `keys` of the events; without `withKeys`, that of the run. */
export type WaitingAsset = QueuedAsset & { keys: string[] };
export type WaitingPartition = { partitionKey: string; assets: WaitingAsset[] };

/** Returns what waits for the DAG by partition, the longest waiting first. */
export async function waitingPartitions(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  { withKeys }: { withKeys: boolean },
): Promise<WaitingPartition[]> {
  const keys = withKeys
    ? sql`array(
        select distinct e.partition_key from asset_queue k
        join asset_events e on e.tenant_id = k.tenant_id and e.id = k.event_id
        where k.tenant_id = ${tenantId} and k.dag_id = ${dagId} and k.partition_key = q.partition_key
          and k.asset_id = q.asset_id)`
    : sql`array[q.partition_key]`;
  const { rows } = await sql<WaitingAsset & { partitionKey: string }>`
    select q.partition_key as "partitionKey", a.id as "assetId", a.name, a.uri, array(
      select l.name from asset_alias_assets x
      join asset_aliases l on l.tenant_id = x.tenant_id and l.id = x.alias_id
      where x.tenant_id = a.tenant_id and x.asset_id = a.id) as aliases, ${keys} as keys
    from (select partition_key, asset_id, min(event_id) as first from asset_queue
      where tenant_id = ${tenantId} and dag_id = ${dagId} and partition_key is not null group by 1, 2) q
    join assets a on a.tenant_id = ${tenantId} and a.id = q.asset_id
    order by min(q.first) over (partition by q.partition_key), q.partition_key, a.id`.execute(trx);
  const partitions = new Map<string, WaitingAsset[]>();
  for (const { partitionKey, ...asset } of rows) {
    partitions.set(partitionKey, [...(partitions.get(partitionKey) ?? []), asset]);
  }
  return [...partitions].map(([partitionKey, assets]) => ({ partitionKey, assets }));
}

/** Returns the partition date of the newest run whose events wait for the partition. */
export async function findSourceDate(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  partitionKey: string,
): Promise<string | null> {
  const { rows } = await sql<{ date: string }>`
    select r.partition_date as date from asset_queue q
    join asset_events e on e.tenant_id = q.tenant_id and e.id = q.event_id
    join dag_runs r on r.tenant_id = e.tenant_id and r.dag_id = e.source_dag_id and r.run_id = e.source_run_id
    where q.tenant_id = ${tenantId} and q.dag_id = ${dagId} and q.partition_key = ${partitionKey}
      and r.partition_date is not null
    order by e.id desc limit 1`.execute(trx);
  return rows[0]?.date ?? null;
}

/** Makes all events that wait for the partition the cause of this run. */
export async function assignPartitionToRun(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  { partitionKey, run }: { partitionKey: string; run: number },
): Promise<void> {
  await sql`
    with taken as (
      delete from asset_queue
      where tenant_id = ${tenantId} and dag_id = ${dagId} and partition_key = ${partitionKey} returning event_id
    )
    insert into dag_run_asset_events (tenant_id, run, event_id) select ${tenantId}::uuid, ${run}::bigint, event_id from taken`.execute(
    trx,
  );
}

/** Drops events from before the DAG waited by partition. */
export async function dropUnpartitioned(trx: SharedDb, { tenantId, dagId }: DagKey): Promise<void> {
  await sql`
    delete from asset_queue q using asset_events e
    where q.tenant_id = ${tenantId} and q.dag_id = ${dagId} and q.partition_key is null
      and e.tenant_id = q.tenant_id and e.id = q.event_id and e.partition_key is null`.execute(trx);
}

/** The event with its own key. */
export type UnmappedEvent = QueuedAsset & { eventId: number; key: string };

/** Returns events whose runs the DAG's own mapper has not named yet, oldest first. */
export async function unmappedEvents(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  limit: number,
): Promise<UnmappedEvent[]> {
  const { rows } = await sql<UnmappedEvent>`
    select q.event_id as "eventId", e.partition_key as key, a.id as "assetId", a.name, a.uri, array(
      select l.name from asset_alias_assets x
      join asset_aliases l on l.tenant_id = x.tenant_id and l.id = x.alias_id
      where x.tenant_id = a.tenant_id and x.asset_id = a.id) as aliases
    from asset_queue q
    join asset_events e on e.tenant_id = q.tenant_id and e.id = q.event_id and e.partition_key is not null
    join assets a on a.tenant_id = q.tenant_id and a.id = q.asset_id
    where q.tenant_id = ${tenantId} and q.dag_id = ${dagId} and q.partition_key is null
    order by q.event_id limit ${limit}`.execute(trx);
  return rows;
}

export async function dropUnmapped(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  eventIds: readonly number[],
): Promise<void> {
  if (eventIds.length === 0) return;
  await sql`
    delete from asset_queue where tenant_id = ${tenantId} and dag_id = ${dagId} and partition_key is null
      and event_id = any(${[...eventIds]}::bigint[])`.execute(trx);
}

/** Called after an answer of the mappers: the events that wait for one are considered again. */
export async function reconsiderUnmapped(trx: SharedDb, { tenantId, dagId }: DagKey): Promise<void> {
  await sql`
    update asset_queue set is_considered = false
    where tenant_id = ${tenantId} and dag_id = ${dagId} and partition_key is null and is_considered`.execute(trx);
}

const WARNING = 'partition key';

/** Stores a warning for people about a key that the DAG's mapper refuses. */
export async function notePartitionProblem(trx: SharedDb, key: DagKey, message: string): Promise<void> {
  await sql`delete from dag_warnings where tenant_id = ${key.tenantId} and dag_id = ${key.dagId} and warning_type = ${WARNING}`.execute(
    trx,
  );
  await sql`
    insert into dag_warnings (tenant_id, dag_id, warning_type, message)
    values (${key.tenantId}, ${key.dagId}, ${WARNING}, ${message.slice(0, 4_000)}) on conflict do nothing`.execute(trx);
}
