/** Runs that wait for the events of one partition, and runs that such events have started. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import { findAssetIds } from '../../db/assets/assets.ts';
import { findAssetNames, listPartitions } from '../../db/assets/partitions.ts';
import type { PartitionRow } from '../../db/assets/partitions.ts';
import { findDag } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { waitOf } from '../../engine/runs/partition-waits.ts';
import type { ArrivedAsset, WaitOfAsset } from '../../engine/runs/partition-waits.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { assetExpression, assetsIn, conditionOf } from '../dags/asset-expression.ts';
import { noSuchDag } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const Common = {
  id: Type.Integer(),
  partition_key: Type.String(),
  created_at: Nullable(Type.String()),
  created_dag_run_id: Nullable(Type.String()),
  total_received: Type.Integer(),
  total_required: Type.Integer(),
};

/** What a run in a partition needs of one asset: an event, or with a rollup, the events of a window. */
export const PartitionOfAsset = {
  received_count: Type.Integer(),
  required_count: Type.Integer(),
  received_keys: Type.Array(Type.String()),
  required_keys: Type.Array(Type.String()),
  is_rollup: Type.Boolean(),
  mapper_error: Type.Boolean(),
  asset_inactive: Type.Boolean(),
};

/** For a run without a partition. */
export const withoutPartition = ({ isReceived, isRollup }: { isReceived: boolean; isRollup: boolean }) => ({
  received_count: isReceived ? 1 : 0,
  required_count: 1,
  received_keys: [],
  required_keys: [],
  is_rollup: isRollup,
  mapper_error: false,
  asset_inactive: false,
});

const partitionBody = ({ isRollup, received, required, count, problem }: WaitOfAsset) => ({
  received_count: received.length,
  required_count: count,
  received_keys: [...received],
  required_keys: [...required],
  is_rollup: isRollup,
  mapper_error: problem !== null,
  asset_inactive: false,
});

/** The schedule may have changed since: then each asset needs one event. */
const waitIn = (timetable: TimetableSpec, partitionKey: string, asset: ArrivedAsset): WaitOfAsset =>
  timetable.type === 'partitioned_asset'
    ? waitOf(timetable, partitionKey, asset)
    : {
        isRollup: false,
        isSatisfied: asset.keys.length > 0,
        received: asset.keys.length > 0 ? [partitionKey] : [],
        required: [partitionKey],
        count: 1,
        problem: null,
      };

const Expression = Nullable(Type.Record(Type.String(), Type.Unknown()));

const PendingRun = Type.Object({
  ...Common,
  dag_id: Type.String(),
  updated_at: Nullable(Type.String()),
  assets: Type.Array(
    Type.Object({
      asset_id: Type.Integer(),
      asset_name: Type.String(),
      asset_uri: Type.String(),
      received: Type.Boolean(),
      ...PartitionOfAsset,
    }),
  ),
  asset_expression: Expression,
});

export function registerUiPartitions(app: App, { db }: Services): void {
  app.get(
    '/ui/partitioned_dag_runs',
    {
      config: { grows: 'events', access: 'read:dag_run', refuses: ['not_found'] },
      schema: {
        operationId: 'get_partitioned_dag_runs',
        tags: ['UI'],
        summary: 'List runs that wait for a partition, and those that were created for one',
        querystring: Type.Object({
          dag_id: Type.Optional(Type.String()),
          has_created_dag_run_id: Type.Optional(Type.Boolean()),
        }),
        response: {
          200: Type.Object({
            partitioned_dag_runs: Type.Array(
              Type.Object({ ...Common, dag_id: Nullable(Type.String()), state: Nullable(Type.String()) }),
            ),
            total: Type.Integer(),
            asset_expressions: Nullable(Type.Record(Type.String(), Expression)),
          }),
        },
      },
    },
    async (request) => {
      const { dag_id: dagId, has_created_dag_run_id: isCreated } = request.query;
      const scope = databaseOf(request, db);
      if (dagId !== undefined && !(await findDag(scope, dagId))) throw noSuchDag(dagId);
      const rows = await listPartitions(scope, principalOf(request).tenantId, { dagId, isCreated });
      const assets = await assetsOf(scope, rows);
      const timetables = new Map(rows.map((row) => [row.dagId, row.timetable]));
      const expressions: Record<string, Record<string, unknown> | null> = {};
      for (const [id, timetable] of timetables) expressions[id] = await expressionOf(scope, timetable);
      return {
        partitioned_dag_runs: rows.map((row, index) => ({
          ...bodyOf(row, assets[index] ?? []),
          dag_id: row.dagId,
          state: row.state,
        })),
        total: rows.length,
        asset_expressions: rows.length === 0 ? null : expressions,
      };
    },
  );

  const pendingRun = async (request: FastifyRequest, dagId: string, partitionKey: string) => {
    const scope = databaseOf(request, db);
    if (!(await findDag(scope, dagId))) throw noSuchDag(dagId);
    const filter = { dagId, partitionKey, isCreated: false };
    const [row] = await listPartitions(scope, principalOf(request).tenantId, filter);
    if (!row) {
      throw new ApiError('not_found', `No PartitionedDagRun for dag_id ${dagId} and partition ${partitionKey}`);
    }
    const [assets = []] = await assetsOf(scope, [row]);
    return {
      ...bodyOf(row, assets),
      dag_id: dagId,
      updated_at: row.updatedAt,
      assets,
      asset_expression: await expressionOf(scope, row.timetable),
    };
  };
  const summary = 'What a run still waits for in its partition';
  const response = { 200: PendingRun };

  app.get(
    '/ui/pending_partitioned_dag_run/:dag_id',
    {
      config: { grows: 'events', access: 'read:dag_run' },
      schema: {
        operationId: 'get_pending_partitioned_dag_run',
        tags: ['UI'],
        summary,
        params: Type.Object({ dag_id: Type.String() }),
        querystring: Type.Object({ partition_key: Type.String({ maxLength: 250 }) }),
        response,
      },
    },
    (request) => pendingRun(request, request.params.dag_id, request.query.partition_key),
  );

  app.get(
    '/ui/pending_partitioned_dag_run/:dag_id/:partition_key',
    {
      config: { grows: 'events', access: 'read:dag_run' },
      schema: {
        operationId: 'get_pending_partitioned_dag_run_by_path',
        tags: ['UI'],
        summary: `${summary}, as the web UI of Airflow 3.2 asks for it`,
        params: Type.Object({ dag_id: Type.String(), partition_key: Type.String() }),
        response,
      },
    },
    (request) => pendingRun(request, request.params.dag_id, request.params.partition_key),
  );
}

/** A created run has received everything it needed, even if the schedule of its DAG has changed since. */
function bodyOf({ id, partitionKey, createdAt, runId }: PartitionRow, assets: readonly AssetOfPartition[]) {
  const sum = (of: (asset: AssetOfPartition) => number) => assets.reduce((total, asset) => total + of(asset), 0);
  const received = sum((asset) => asset.received_count);
  return {
    id,
    partition_key: partitionKey,
    created_at: createdAt,
    created_dag_run_id: runId,
    total_received: received,
    total_required:
      runId === null
        ? Math.max(
            sum((asset) => asset.required_count),
            received,
          )
        : received,
  };
}

async function expressionOf(scope: TenantDb, timetable: TimetableSpec): Promise<Record<string, unknown> | null> {
  const condition = conditionOf(timetable);
  return assetExpression(condition, await findAssetIds(scope, assetsIn(condition)));
}

type AssetOfPartition = ReturnType<typeof partitionBody> & {
  asset_id: number;
  asset_name: string;
  asset_uri: string;
  received: boolean;
};

/** Returns assets that the schedules name with name and URI, and assets that matched a reference or an alias. */
async function assetsOf(scope: TenantDb, rows: readonly PartitionRow[]): Promise<AssetOfPartition[][]> {
  const conditions = new Map(rows.map(({ dagId, timetable }) => [dagId, assetsIn(conditionOf(timetable))]));
  const named = new Map<string, number[]>();
  for (const [dagId, assets] of conditions) {
    const known = await findAssetIds(scope, assets);
    named.set(
      dagId,
      assets.flatMap((asset) => known.get(asset) ?? []),
    );
  }
  const arrived = rows.flatMap((row) => row.arrived.map(({ assetId }) => assetId));
  const names = await findAssetNames(scope, [...new Set([...arrived, ...[...named.values()].flat()])]);
  const byId = new Map(names.map((asset) => [asset.id, asset]));
  return rows.map(({ dagId, partitionKey, timetable, arrived: present }) => {
    const ids = new Set([...present.map(({ assetId }) => assetId), ...(named.get(dagId) ?? [])]);
    return [...ids]
      .sort((a, b) => a - b)
      .flatMap((id) => {
        const asset = byId.get(id);
        if (!asset) return [];
        const keys = present.find(({ assetId }) => assetId === id)?.keys ?? [];
        const wait = waitIn(timetable, partitionKey, { name: asset.name, uri: asset.uri, aliases: [], keys });
        return [
          {
            asset_id: id,
            asset_name: asset.name,
            asset_uri: asset.uri,
            received: wait.isSatisfied,
            ...partitionBody(wait),
          },
        ];
      });
  });
}
