/** The shapes of assets, their aliases and their events on the wire. */
import { Type } from 'typebox';
import type { AssetEventRow } from '../../db/assets/event-lists.ts';
import type { AliasRow, AssetRow } from '../../db/assets/assets.ts';
import { maskedWithout } from '../../http/masked-fields.ts';
import { DateTime, Nullable, ShownAs } from '../../http/schemas.ts';

export const ASSET_TAGS = ['Assets'];

const Extra = Type.Record(Type.String(), Type.Unknown());
const ShownExtra = Type.Record(Type.String(), Type.Unknown(), maskedWithout('write:asset'));
export const AssetId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const AssetAlias = Type.Object(
  { id: Type.Integer(), name: Type.String(), group: Type.String() },
  { title: 'AssetAlias' },
);

const dates = { created_at: DateTime, updated_at: DateTime };
const TaskUse = Type.Object({ dag_id: Type.String(), task_id: Type.String(), ...dates });

export const Asset = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    uri: Type.String(),
    group: Type.String(),
    extra: Nullable(Extra),
    ...dates,
    scheduled_dags: Type.Array(Type.Object({ dag_id: Type.String(), ...dates }), {
      description: 'DAGs whose schedule names it',
    }),
    producing_tasks: Type.Array(TaskUse, { description: 'Tasks that write it' }),
    consuming_tasks: Type.Array(TaskUse, { description: 'Tasks that read it' }),
    aliases: Type.Array(AssetAlias, { description: 'Aliases that tasks have attached it to' }),
    watchers: Type.Array(Type.Unknown(), { description: 'Always empty: nothing is watched from outside' }),
    last_asset_event: Nullable(Type.Object({ id: Nullable(Type.Integer()), timestamp: Nullable(DateTime) })),
  },
  { title: 'Asset' },
);

const CausedRun = Type.Object(
  {
    run_id: Type.String(),
    dag_id: Type.String(),
    logical_date: Nullable(DateTime),
    start_date: Type.String({ format: 'date-time', description: 'Until the run starts, the moment it was queued' }),
    end_date: Nullable(DateTime),
    state: Type.String(),
    data_interval_start: Nullable(DateTime),
    data_interval_end: Nullable(DateTime),
    partition_key: Nullable(Type.String()),
    triggering: Type.Boolean({ description: 'It is the newest of the events that the run consumed' }),
  },
  { title: 'DagRunAssetReference' },
);

export const AssetEvent = Type.Object(
  {
    id: Type.Integer(),
    asset_id: Type.Integer(),
    uri: Nullable(Type.String()),
    name: Nullable(Type.String()),
    group: Nullable(Type.String()),
    extra: Nullable(ShownExtra),
    source_task_id: Nullable(Type.String()),
    source_dag_id: Nullable(Type.String()),
    source_run_id: Nullable(Type.String()),
    source_map_index: Type.Integer(),
    created_dagruns: Type.Array(CausedRun, { description: 'Runs it caused' }),
    timestamp: DateTime,
    partition_key: Nullable(Type.String()),
  },
  { title: 'AssetEvent' },
);

/** Airflow's limit of an event to teams. There are no teams, so every DAG of the tenant may consume each event. */
const AccessControl = Type.Object(
  {
    allow_global: Type.Optional(Type.Boolean({ default: true, description: 'Only true: there are no teams' })),
    consumer_teams: Type.Optional(
      ShownAs(Nullable(Type.Array(Type.String())), {
        type: ['array', 'null'],
        items: { type: 'string' },
        maxItems: 0,
        description: 'Leave it out: there are no teams',
      }),
    ),
  },
  { title: 'AssetEventAccessControl', additionalProperties: false },
);

export const AssetEventCreate = Type.Object(
  {
    asset_id: AssetId,
    partition_key: Type.Optional(Nullable(Type.String({ maxLength: 250 }))),
    extra: Type.Optional(Extra),
    access_control: Type.Optional(Nullable(AccessControl)),
  },
  { title: 'AssetEventCreate', additionalProperties: false },
);

export const aliasBody = ({ id, name, group_name: group }: AliasRow) => ({ id, name, group });

type User = AssetRow['users'][number];

const datesOf = ({ created_at: createdAt, updated_at: updatedAt }: User) => ({
  created_at: createdAt,
  updated_at: updatedAt,
});
const taskUse = (user: User) => ({ dag_id: user.dag_id, task_id: user.task_id, ...datesOf(user) });

export function assetBody(asset: AssetRow) {
  const users = (role: User['role']) => asset.users.filter((user) => user.role === role);
  return {
    id: asset.id,
    name: asset.name,
    uri: asset.uri,
    group: asset.group_name,
    extra: asset.extra,
    created_at: asset.created_at,
    updated_at: asset.updated_at,
    scheduled_dags: users('schedule').map((user) => ({ dag_id: user.dag_id, ...datesOf(user) })),
    producing_tasks: users('outlet').map(taskUse),
    consuming_tasks: users('inlet').map(taskUse),
    aliases: asset.aliases.map(aliasBody),
    watchers: [],
    last_asset_event: { id: asset.lastEvent?.id ?? null, timestamp: asset.lastEvent?.at ?? null },
  };
}

export const assetEventBody = (event: AssetEventRow) => ({
  id: event.id,
  asset_id: event.asset_id,
  uri: event.uri,
  name: event.name,
  group: event.group_name,
  extra: event.extra,
  source_task_id: event.source_task_id,
  source_dag_id: event.source_dag_id,
  source_run_id: event.source_run_id,
  source_map_index: event.source_map_index,
  created_dagruns: event.causedRuns,
  timestamp: event.at,
  partition_key: event.partition_key,
});
