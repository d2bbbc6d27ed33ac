/** Asset events for tasks: those of an asset or alias that the task names, or those that caused its run. */
import { sql } from 'kysely';
import type { SharedDb } from '../database.ts';

/** By asset (name, URI or both), by alias, or those that caused the run of the task. */
export type TaskAssetEventQuery = {
  tenantId: string;
  /** `dag_runs.id` of the task that makes the request. */
  run: number;
  name?: string;
  uri?: string;
  alias?: string;
  triggering?: boolean;
  /** Inclusive bounds. */
  after?: string;
  before?: string;
  /** Newest first. The limit counts in this order. */
  descending?: boolean;
  limit?: number;
};

export type TaskAssetEvent = {
  asset: { name: string; uri: string };
  extra: unknown;
  timestamp: string;
  source_dag_id: string | null;
  source_task_id: string | null;
  source_run_id: string | null;
  source_map_index: number | null;
  partition_key: string | null;
  /** Names of the aliases through which the event came. */
  aliases: string[];
};

type Row = Omit<TaskAssetEvent, 'asset'> & { name: string; uri: string };

/** A task that needs more should use the API. */
const AT_MOST = 1_000;

export async function readTaskAssetEvents(db: SharedDb, query: TaskAssetEventQuery): Promise<TaskAssetEvent[]> {
  const order = query.descending === true ? sql`e.at desc, e.id desc` : sql`e.at, e.id`;
  const { rows } = await sql<Row>`
    select a.name, a.uri, e.extra, e.at as timestamp, e.source_dag_id, e.source_task_id, e.source_run_id, e.source_map_index,
      e.partition_key, array(
        select s.name from asset_event_aliases l join asset_aliases s on s.tenant_id = l.tenant_id and s.id = l.alias_id
        where l.tenant_id = e.tenant_id and l.event_id = e.id order by s.name) as aliases
    from asset_events e join assets a on a.tenant_id = e.tenant_id and a.id = e.asset_id
    where e.tenant_id = ${query.tenantId}
      and (${query.name ?? null}::text is null or a.name = ${query.name ?? null})
      and (${query.uri ?? null}::text is null or a.uri = ${query.uri ?? null})
      and (${query.alias ?? null}::text is null or exists (
        select 1 from asset_event_aliases l join asset_aliases s on s.tenant_id = l.tenant_id and s.id = l.alias_id
        where l.tenant_id = e.tenant_id and l.event_id = e.id and s.name = ${query.alias ?? null}))
      and (not ${query.triggering === true}::boolean or exists (
        select 1 from dag_run_asset_events d
        where d.tenant_id = e.tenant_id and d.event_id = e.id and d.run = ${query.run}))
      and (${query.after ?? null}::timestamptz is null or e.at >= ${query.after ?? null}::timestamptz)
      and (${query.before ?? null}::timestamptz is null or e.at <= ${query.before ?? null}::timestamptz)
    order by ${order} limit ${Math.min(query.limit ?? AT_MOST, AT_MOST)}`.execute(db);
  return rows.map(({ name, uri, ...event }) => ({ asset: { name, uri }, ...event }));
}
