/** Materializes an asset with a run of the DAG that writes it. */
import { Type } from 'typebox';
import { findProducers } from '../../db/assets/assets.ts';
import type { TenantDb } from '../../db/database.ts';
import { databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { AssetParams, existingAsset } from '../assets/assets.ts';
import { ASSET_TAGS } from '../assets/schemas.ts';
import type { Services } from '../services.ts';
import { DagRun, DagRunCreate } from './schemas.ts';
import { newRunOf, triggerInName } from './trigger.ts';

export function registerMaterialize(app: App, services: Services): void {
  app.post(
    '/api/v2/assets/:asset_id/materialize',
    {
      // It starts a run, so it needs the same permission as a trigger.
      config: { grows: 'dag', access: 'write:dag_run', refuses: ['conflict', 'already_exists'] },
      schema: {
        operationId: 'materialize_asset',
        tags: ASSET_TAGS,
        summary: 'Materialize an asset: run the DAG that writes it',
        params: AssetParams,
        body: Type.Optional(Nullable(DagRunCreate)),
        response: { 200: DagRun },
      },
    },
    async (request) => {
      const { asset_id: assetId } = request.params;
      const dagId = await onlyProducer(databaseOf(request, services.db), assetId);
      return triggerInName(request, services, {
        run: {
          ...newRunOf(request.body ?? {}),
          logicalDate: request.body?.logical_date ?? null,
          dagId,
          runType: 'asset_materialization',
        },
        event: 'materialize_asset',
        detail: { asset_id: assetId },
      });
    },
  );
}

async function onlyProducer(db: TenantDb, assetId: number): Promise<string> {
  await existingAsset(db, assetId);
  const [dagId, ...others] = await findProducers(db, assetId);
  if (dagId === undefined) throw new ApiError('not_found', `No Dag materializes asset with ID: ${assetId}`);
  if (others.length > 0) {
    throw new ApiError(
      'conflict',
      `More than one Dag materializes asset with ID: ${assetId}: trigger one of ${[dagId, ...others].slice(0, 10).join(', ')}`,
    );
  }
  return dagId;
}
