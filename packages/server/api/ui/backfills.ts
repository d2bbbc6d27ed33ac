/** The public list of backfills under the private path of the web UI. */
import { Type } from 'typebox';
import { listBackfills } from '../../db/dag-runs/backfills.ts';
import { databaseOf } from '../../http/access.ts';
import { BACKFILL_ORDER, Backfill, backfillBody } from '../backfills/schemas.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { Collection, OrderByQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

export function registerUiBackfills(app: App, { db }: Services): void {
  app.get(
    '/ui/backfills',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'list_backfills_ui',
        tags: ['UI'],
        summary: 'List backfills, newest first if not asked otherwise',
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
          ...OrderByQuery(Object.keys(BACKFILL_ORDER)),
          dag_id: Type.Optional(Type.String()),
          active: Type.Optional(Type.Boolean()),
        }),
        response: { 200: Collection('BackfillCollectionUi', 'backfills', Backfill) },
      },
    },
    async (request) => {
      const { limit, offset, order_by: keys, dag_id: dagId, active: isActive } = request.query;
      const { backfills, total } = await listBackfills(databaseOf(request, db), {
        limit,
        offset,
        order: parseOrderBy(keys, BACKFILL_ORDER, [{ column: 'id', direction: 'desc' }]),
        ...(dagId !== undefined && { dagId }),
        ...(isActive !== undefined && { isActive }),
      });
      return { backfills: backfills.map(backfillBody), total_entries: total };
    },
  );
}
