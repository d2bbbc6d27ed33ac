/** Runs of DAGs that wait for assets by partition: those that still wait, and those that were created. */
import { sql } from 'kysely';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

/** `id`: the id of the first event, which a partition keeps when its run is created. */
export type PartitionRow = {
  id: number;
  dagId: string;
  partitionKey: string;
  createdAt: Moment;
  updatedAt: Moment;
  runId: string | null;
  state: string | null;
  timetable: TimetableSpec;
  /** The assets that have events, with the keys of these events. */
  arrived: { assetId: number; keys: string[] }[];
};

const AT_MOST = 1_000;

export async function listPartitions(
  db: TenantDb,
  tenantId: string,
  filter: { dagId?: string | undefined; partitionKey?: string | undefined; isCreated?: boolean | undefined },
): Promise<PartitionRow[]> {
  const only = (
    table: string,
  ) => sql`(${filter.dagId ?? null}::text is null or ${sql.ref(`${table}.dag_id`)} = ${filter.dagId ?? null})
    and (${filter.partitionKey ?? null}::text is null or ${sql.ref(`${table}.partition_key`)} = ${filter.partitionKey ?? null})`;
  const { rows } = await sql<PartitionRow>`
    with found as (
      select q.dag_id, q.partition_key, min(q.event_id) as id, min(q.created_at) as created_at,
        max(q.created_at) as updated_at, null::text as run_id, null::text as state, null::bigint as run
      from asset_queue q
      where q.tenant_id = ${tenantId} and q.partition_key is not null and ${only('q')}
        and ${filter.isCreated !== true}::boolean
      group by q.dag_id, q.partition_key
      union all
      select r.dag_id, r.partition_key, min(e.id), min(e.at), max(e.at), r.run_id, r.state, r.id
      from dag_runs r
      join dag_run_asset_events x on x.tenant_id = r.tenant_id and x.run = r.id
      join asset_events e on e.tenant_id = x.tenant_id and e.id = x.event_id
      where r.tenant_id = ${tenantId} and r.run_type = 'asset_triggered' and r.partition_key is not null and ${only('r')}
        and ${filter.isCreated !== false}::boolean
      group by r.tenant_id, r.id, r.dag_id, r.partition_key, r.run_id, r.state
    )
    select f.id, f.dag_id as "dagId", f.partition_key as "partitionKey", f.created_at as "createdAt",
      f.updated_at as "updatedAt", f.run_id as "runId", f.state, d.timetable,
      case when f.run is null then (
        select json_agg(json_build_object('assetId', k.asset_id, 'keys', k.keys) order by k.asset_id) from (
          select q.asset_id, array_agg(distinct e.partition_key) as keys from asset_queue q
          join asset_events e on e.tenant_id = q.tenant_id and e.id = q.event_id
          where q.tenant_id = ${tenantId} and q.dag_id = f.dag_id and q.partition_key = f.partition_key
          group by q.asset_id) k)
      else (
        select json_agg(json_build_object('assetId', k.asset_id, 'keys', k.keys) order by k.asset_id) from (
          select e.asset_id, array_agg(distinct e.partition_key) as keys from dag_run_asset_events x
          join asset_events e on e.tenant_id = x.tenant_id and e.id = x.event_id
          where x.tenant_id = ${tenantId} and x.run = f.run
          group by e.asset_id) k)
      end as arrived
    from found f join dags d on d.tenant_id = ${tenantId} and d.dag_id = f.dag_id
    order by f.id desc limit ${AT_MOST}`.execute(db);
  return rows;
}

/** Reads assets by id, for their names. */
export async function findAssetNames(
  db: TenantDb,
  ids: readonly number[],
): Promise<{ id: number; name: string; uri: string }[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('assets')
    .select(['id', 'name', 'uri'])
    .where('id', 'in', [...ids])
    .orderBy('id')
    .execute();
}
