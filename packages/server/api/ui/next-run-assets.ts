/** The assets that an asset-scheduled DAG still waits for. */
import { Type } from 'typebox';
import { findAssetIds } from '../../db/assets/assets.ts';
import { listScheduleAssets } from '../../db/assets/uses.ts';
import { findDag } from '../../db/dags/dags.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { assetExpression, assetsIn, conditionOf } from '../dags/asset-expression.ts';
import { noSuchDag } from '../paths.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

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
        response: { 200: Type.Object({ asset_expression: Type.Unknown(), events: Type.Array(Type.Unknown()) }) },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const { dag_id: dagId } = request.params;
      const scope = databaseOf(request, db);
      const dag = await findDag(scope, dagId);
      if (!dag) throw noSuchDag(dagId);
      const condition = conditionOf(dag.timetable);
      return {
        asset_expression: assetExpression(condition, await findAssetIds(scope, assetsIn(condition))),
        events: await listScheduleAssets(scope, tenantId, dagId),
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
