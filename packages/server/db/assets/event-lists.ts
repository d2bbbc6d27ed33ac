/** Asset events for the API, and the events that wait for a DAG. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

export type CausedRun = {
  run_id: string;
  dag_id: string;
  state: string;
  logical_date: Moment | null;
  /** A run that has not started has the moment at which it was queued. */
  start_date: Moment;
  end_date: Moment | null;
  data_interval_start: Moment | null;
  data_interval_end: Moment | null;
  partition_key: string | null;
  /** True for the newest of the events that the run consumed. */
  triggering: boolean;
};

export type AssetEventRow = {
  id: number;
  asset_id: number;
  name: string;
  uri: string;
  group_name: string;
  extra: Record<string, unknown>;
  source_dag_id: string | null;
  source_task_id: string | null;
  source_run_id: string | null;
  source_map_index: number;
  partition_key: string | null;
  at: Moment;
  causedRuns: CausedRun[];
};

export type AssetEventColumn = 'id' | 'at' | 'source_dag_id' | 'source_task_id' | 'source_run_id' | 'source_map_index';

export type AssetEventQuery = {
  limit: number;
  offset: number;
  order: readonly { column: AssetEventColumn; direction: 'asc' | 'desc' }[];
  eventId?: number;
  assetId?: number;
  sourceDagId?: string;
  sourceTaskId?: string;
  sourceRunId?: string;
  sourceMapIndex?: number;
  /** Patterns of the asset's name. */
  names?: readonly TextMatch[];
  /** The exact name, for a task that reads the events of its inlets. */
  assetName?: string;
  assetUri?: string;
  alias?: string;
  range?: readonly { operator: '>=' | '>' | '<=' | '<'; moment: Moment }[];
  /** The events that caused this run (`dag_runs.id`). */
  causeOf?: number;
};

const COLUMNS = [
  'e.id',
  'e.asset_id',
  'a.name',
  'a.uri',
  'a.group_name',
  'e.extra',
  'e.source_dag_id',
  'e.source_task_id',
  'e.source_run_id',
  'e.source_map_index',
  'e.partition_key',
  'e.at',
] as const;

const equal = (column: string, value: string | number | undefined): RawBuilder<boolean>[] =>
  value === undefined ? [] : [sql<boolean>`${sql.ref(column)} = ${value}`];

function conditionsOf(query: AssetEventQuery): { ofEvents: RawBuilder<boolean>[]; ofAssets: RawBuilder<boolean>[] } {
  return {
    ofEvents: [
      ...equal('e.id', query.eventId),
      ...equal('e.asset_id', query.assetId),
      ...equal('e.source_dag_id', query.sourceDagId),
      ...equal('e.source_task_id', query.sourceTaskId),
      ...equal('e.source_run_id', query.sourceRunId),
      ...equal('e.source_map_index', query.sourceMapIndex),
      ...(query.range ?? []).map(({ operator, moment }) => sql<boolean>`e.at ${sql.raw(operator)} ${moment}`),
      ...(query.alias === undefined
        ? []
        : [
            sql<boolean>`exists (select from asset_event_aliases x
              join asset_aliases l on l.tenant_id = x.tenant_id and l.id = x.alias_id
              where x.tenant_id = e.tenant_id and x.event_id = e.id and l.name = ${query.alias})`,
          ]),
      ...(query.causeOf === undefined
        ? []
        : [
            sql<boolean>`exists (select from dag_run_asset_events l
              where l.tenant_id = e.tenant_id and l.event_id = e.id and l.run = ${query.causeOf})`,
          ]),
    ],
    ofAssets: [
      ...equal('a.name', query.assetName),
      ...equal('a.uri', query.assetUri),
      ...(query.names ?? []).map((match) => matches('a.name', match)),
    ],
  };
}

function matchingEvents(db: TenantDb, query: AssetEventQuery) {
  const { ofEvents, ofAssets } = conditionsOf(query);
  let matching = db.selectFrom('asset_events as e').innerJoin('assets as a', 'a.id', 'e.asset_id');
  for (const condition of [...ofEvents, ...ofAssets]) matching = matching.where(condition);
  return matching;
}

/** Every event has an asset, so the count joins assets only for a condition on them. */
async function countEvents(db: TenantDb, query: AssetEventQuery): Promise<number> {
  const { ofEvents, ofAssets } = conditionsOf(query);
  let events = db.selectFrom('asset_events as e').select((eb) => eb.fn.countAll<number>().as('total'));
  for (const condition of ofEvents) events = events.where(condition);
  const joined = matchingEvents(db, query).select((eb) => eb.fn.countAll<number>().as('total'));
  return (await (ofAssets.length === 0 ? events : joined).executeTakeFirstOrThrow()).total;
}

export async function listAssetEvents(
  db: TenantDb,
  query: AssetEventQuery,
): Promise<{ events: AssetEventRow[]; total: number }> {
  const matching = matchingEvents(db, query);
  let page = matching.select(COLUMNS).limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(`e.${column}`, direction);
  const [rows, total] = await Promise.all([page.execute(), countEvents(db, query)]);
  const caused = await causedRuns(
    db,
    rows.map((row) => row.id),
  );
  return { events: rows.map((row) => ({ ...row, causedRuns: caused.get(row.id) ?? [] })), total };
}

async function causedRuns(db: TenantDb, eventIds: readonly number[]): Promise<Map<number, CausedRun[]>> {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('dag_run_asset_events as l')
    .innerJoin('dag_runs as r', 'r.id', 'l.run')
    .select(['l.event_id', 'r.run_id', 'r.dag_id', 'r.state', 'r.logical_date', 'r.end_date'])
    .select(['r.data_interval_start', 'r.data_interval_end', 'r.partition_key'])
    .select(
      sql<boolean>`not exists (select from dag_run_asset_events n
        where n.tenant_id = l.tenant_id and n.run = l.run and n.event_id > l.event_id)`.as('triggering'),
    )
    .select(sql<Moment>`coalesce(r.start_date, r.queued_at, r.run_after)`.as('start_date'))
    .where('l.event_id', '=', sql<number>`any(${[...eventIds]}::bigint[])`)
    .orderBy('r.id')
    .execute();
  return Map.groupBy(rows, (row) => row.event_id);
}

/** Returns the events that caused a run (`dag_runs.id`), oldest first. */
export async function listUpstreamAssetEvents(db: TenantDb, run: number): Promise<AssetEventRow[]> {
  const order = [{ column: 'id', direction: 'asc' }] as const;
  // Reads all of them, because the endpoint has no pages.
  const { events } = await listAssetEvents(db, { limit: 100_000, offset: 0, order, causeOf: run });
  return events;
}

export type QueuedEventRow = { dag_id: string; asset_id: number; created_at: Moment; display_name: string };
export type QueuedEventQuery = { dagId?: string; assetId?: number; before?: Moment };

/** Returns one row per DAG and asset, with the moment of the first waiting event. */
export async function listQueuedEvents(db: TenantDb, query: QueuedEventQuery): Promise<QueuedEventRow[]> {
  let queued = db
    .selectFrom('asset_queue as q')
    .innerJoin('dags', 'dags.dag_id', 'q.dag_id')
    .select(['q.dag_id', 'q.asset_id', 'dags.display_name'])
    .select((eb) => eb.fn.min('q.created_at').as('created_at'))
    .groupBy(['q.dag_id', 'q.asset_id', 'dags.display_name'])
    .orderBy('q.dag_id')
    .orderBy('q.asset_id');
  if (query.dagId !== undefined) queued = queued.where('q.dag_id', '=', query.dagId);
  if (query.assetId !== undefined) queued = queued.where('q.asset_id', '=', query.assetId);
  if (query.before !== undefined) queued = queued.where('q.created_at', '<', query.before);
  return queued.execute();
}

/** Returns how many were deleted. */
export async function deleteQueuedEvents(db: TenantDb, query: QueuedEventQuery): Promise<number> {
  let queued = db.deleteFrom('asset_queue');
  if (query.dagId !== undefined) queued = queued.where('dag_id', '=', query.dagId);
  if (query.assetId !== undefined) queued = queued.where('asset_id', '=', query.assetId);
  if (query.before !== undefined) queued = queued.where('created_at', '<', query.before);
  const { numDeletedRows } = await queued.executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
