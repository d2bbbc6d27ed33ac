/** The assets that an asset-scheduled DAG still waits for. */
import { Type } from 'typebox';
import { findAssetIds } from '../../db/assets/assets.ts';
import { listPartitions } from '../../db/assets/partitions.ts';
import { listScheduleAssets } from '../../db/assets/uses.ts';
import { findDag } from '../../db/dags/dags.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { assetExpression, assetsIn, conditionOf } from '../dags/asset-expression.ts';
import { noSuchDag } from '../paths.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';
import { mapperOf } from '../../engine/runs/partition-waits.ts';
import { PartitionOfAsset, withoutPartition } from './partitions.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const NextRunAssets = Type.Object(
  {
    asset_expression: Nullable(Type.Record(Type.String(), Type.Unknown())),
    events: Type.Array(
      Type.Object({
        id: Type.Integer(),
        name: Nullable(Type.String()),
        uri: Type.String(),
        last_update: Nullable(DateTime),
        lastUpdate: Nullable(Type.String({ description: 'The same, as Airflow 3.2 calls it' })),
        ...PartitionOfAsset,
      }),
    ),
    pending_partition_count: Nullable(
      Type.Integer({ description: 'Partitions that wait for events; null for a DAG without partitions' }),
    ),
  },
  { title: 'NextRunAssets' },
);

export function registerUiNextRunAssets(app: App, { db }: Services): void {
  app.get(
    '/ui/next_run_assets/:dag_id',
    {
      config: { grows: 'events', access: 'read:asset' },
      schema: {
        operationId: 'next_run_assets',
        tags: ['UI'],
        summary: 'The assets of a DAG’s schedule, and when each was last updated since the last run',
        params: Type.Object({ dag_id: Type.String() }),
        response: { 200: NextRunAssets },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const { dag_id: dagId } = request.params;
      const scope = databaseOf(request, db);
      const dag = await findDag(scope, dagId);
      if (!dag) throw noSuchDag(dagId);
      const condition = conditionOf(dag.timetable);
      const { timetable } = dag;
      const isPartitioned = timetable.type === 'partitioned_asset';
      const pending = isPartitioned ? await listPartitions(scope, tenantId, { dagId, isCreated: false }) : null;
      return {
        asset_expression: assetExpression(condition, await findAssetIds(scope, assetsIn(condition))),
        events: (await listScheduleAssets(scope, tenantId, dagId)).map(({ id, name, uri, lastUpdate }) => ({
          id,
          name,
          uri,
          lastUpdate,
          last_update: lastUpdate,
          ...withoutPartition({
            isReceived: lastUpdate !== null,
            isRollup:
              timetable.type === 'partitioned_asset' &&
              mapperOf(timetable, { name: name ?? '', uri, aliases: [] }).mapper === 'rollup',
          }),
        })),
        pending_partition_count: pending?.length ?? null,
      };
    },
  );

  app.get(
    '/ui/teams',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'list_teams',
        tags: ['UI'],
        summary: 'Teams: there are none; tenants are separate worlds instead',
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
          order_by: Type.Optional(Type.Array(Type.String())),
        }),
        response: { 200: Type.Object({ teams: Type.Array(Type.Unknown()), total_entries: Type.Integer() }) },
      },
    },
    async () => ({ teams: [], total_entries: 0 }),
  );
}
