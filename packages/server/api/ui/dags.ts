/** The DAG list of the web UI: each DAG with its newest runs, and the newest run that the UI polls. */
import { Type } from 'typebox';
import { PARKED_STATES } from '@svc/spec/states.ts';
import { findAssetIds } from '../../db/assets/assets.ts';
import { findNewestRuns } from '../../db/dag-runs/dag-runs.ts';
import { findDag, findFavorites, listDags } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { listHitlDetails } from '../../db/task-instances/hitl.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { WRITTEN } from '../../http/lists-in-turns.ts';
import { assetExpression, assetsIn, conditionOf } from '../dags/asset-expression.ts';
import { dagBody } from '../dags/bodies.ts';
import { DagListQuery, dagQuery } from '../dags/dags.ts';
import { hitlBodies } from '../hitl/bodies.ts';
import { HitlDetail } from '../hitl/hitl.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { noSuchDag } from '../paths.ts';
import { createTaskSummaries } from '../dags/task-summaries.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import { createKeptRuns } from './kept-runs.ts';

/** More questions than people answer from the list of DAGs. The page of required actions has all of them. */
const ACTIONS_AT_MOST = 100;

/**
 * Fields that are not declared here are sent unchanged. Questions are declared, because some callers must see them
 * masked.
 */
const DagWithRuns = Type.Object({ pending_actions: Type.Array(HitlDetail) }, { additionalProperties: true });

export function registerUiDags(app: App, { db }: Services): void {
  const summaries = createTaskSummaries();
  const keptRuns = createKeptRuns();
  app.get(
    '/ui/dags',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dags_ui',
        tags: ['UI'],
        summary: 'List DAGs with their newest runs',
        querystring: Type.Object({
          ...DagListQuery.properties,
          dag_runs_limit: Type.Integer({ minimum: 0, maximum: 100, default: 10 }),
          dag_ids: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000, description: 'Only these' })),
          has_pending_actions: Type.Optional(Type.Boolean()),
        }),
        response: { 200: Type.Object({ dags: Type.Array(DagWithRuns), total_entries: Type.Integer() }) },
      },
    },
    async (request) => {
      const { query } = request;
      const scope = databaseOf(request, db);
      const { userId, tenantId, permissions } = principalOf(request);
      const { has_pending_actions: hasPendingAction, dag_ids: dagIds } = query;
      const { dags, total } = await listDags(scope, {
        ...dagQuery(query, userId),
        ...(hasPendingAction !== undefined && { hasPendingAction }),
        ...(dagIds && { dagIds }),
      });
      const ids = dags.map((dag) => dag.dag_id);
      const runs = permissions.has('read:dag_run')
        ? await keptRuns.read(scope, { tenantId, dagIds: ids, limit: query.dag_runs_limit })
        : new Map<string, string>();
      const assetIds = await findAssetIds(
        scope,
        dags.flatMap((dag) => assetsIn(conditionOf(dag.timetable))),
      );
      const favorites = await findFavorites(scope, userId, ids);
      const questions = permissions.has('read:task_instance') ? await pendingActions(scope, summaries, ids) : [];
      const byDag = Map.groupBy(questions, (question) => question.task_instance.dag_id);
      return {
        dags: dags.map((dag) => ({
          ...dagBody(dag),
          asset_expression: assetExpression(conditionOf(dag.timetable), assetIds),
          pending_actions: byDag.get(dag.dag_id) ?? [],
          is_favorite: favorites.has(dag.dag_id),
          [WRITTEN]: { latest_dag_runs: runs.get(dag.dag_id) ?? '[]' },
        })),
        total_entries: total,
      };
    },
  );

  app.get(
    '/ui/dags/:dag_id/latest_run',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_latest_run_info',
        tags: ['UI'],
        summary: 'The newest run of a DAG, or null',
        params: Type.Object({ dag_id: Type.String() }),
        response: { 200: Type.Unknown() },
      },
    },
    async (request, reply) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId } = request.params;
      if (!(await findDag(scope, dagId))) throw noSuchDag(dagId);
      const { tenantId } = principalOf(request);
      const runs = await findNewestRuns(scope, { tenantId, dagIds: [dagId], limit: 1 });
      // The body is written out, because an empty body would be an error for the UI.
      return reply.type('application/json').send(JSON.stringify(runs.get(dagId)?.[0] ?? null));
    },
  );
}

async function pendingActions(scope: TenantDb, summaries: TaskSummaries, dagIds: readonly string[]) {
  if (dagIds.length === 0) return [];
  const { questions } = await listHitlDetails(scope, {
    limit: ACTIONS_AT_MOST,
    offset: 0,
    order: [{ column: 'created_at', direction: 'desc' }],
    dagIds,
    states: PARKED_STATES,
    isAnswered: false,
  });
  return hitlBodies(scope, summaries, questions);
}
