/** The DAG list of the web UI: each DAG with its newest runs, and the one newest run it polls. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import type { RunState } from '@svc/spec/states.ts';
import { findAssetIds } from '../../db/assets/assets.ts';
import { findDag, listDags } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { listQuestions } from '../../db/task-instances/hitl.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { assetExpression, assetsIn, conditionOf } from '../dags/asset-expression.ts';
import { dagBody } from '../dags/bodies.ts';
import { DagListQuery, dagQuery } from '../dags/dags.ts';
import { questionBodies } from '../hitl/bodies.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { noSuchDag } from '../paths.ts';
import { createTaskSummaries } from '../dags/task-summaries.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';

type LightRun = {
  id: number;
  dag_id: string;
  run_id: string;
  logical_date: string | null;
  run_after: string;
  start_date: string | null;
  end_date: string | null;
  state: RunState;
  duration: number | null;
};

/** More than anybody would answer from the list of DAGs; the page of required actions has them all. */
const QUESTIONS_AT_MOST = 100;

export function registerUiDags(app: App, { db }: Services): void {
  const summaries = createTaskSummaries();
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
          dag_ids: Type.Optional(Type.Array(Type.String())),
          has_pending_actions: Type.Optional(Type.Boolean()),
        }),
        response: { 200: Type.Object({ dags: Type.Array(Type.Unknown()), total_entries: Type.Integer() }) },
      },
    },
    async (request) => {
      const { query } = request;
      const scope = databaseOf(request, db);
      const { userId, tenantId, permissions } = principalOf(request);
      const { has_pending_actions: hasQuestion } = query;
      const { dags, total } = await listDags(scope, {
        ...dagQuery(query, userId),
        ...(hasQuestion !== undefined && { hasQuestion }),
      });
      const ids = dags.map((dag) => dag.dag_id);
      const runs = permissions.has('read:dag_run')
        ? await newestRuns(scope, { tenantId, dagIds: ids, limit: query.dag_runs_limit })
        : new Map<string, LightRun[]>();
      const assetIds = await findAssetIds(
        scope,
        dags.flatMap((dag) => assetsIn(conditionOf(dag.timetable))),
      );
      const favorites = await favoritesAmong(scope, userId, ids);
      const questions = permissions.has('read:task_instance') ? await openQuestions(scope, summaries, ids) : [];
      const byDag = Map.groupBy(questions, (question) => question.task_instance.dag_id);
      return {
        dags: dags.map((dag) => ({
          ...dagBody(dag),
          asset_expression: assetExpression(conditionOf(dag.timetable), assetIds),
          latest_dag_runs: runs.get(dag.dag_id) ?? [],
          pending_actions: byDag.get(dag.dag_id) ?? [],
          is_favorite: favorites.has(dag.dag_id),
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
      const runs = await newestRuns(scope, { tenantId, dagIds: [dagId], limit: 1 });
      // Written out: an empty body would be an error for the UI.
      return reply.type('application/json').send(JSON.stringify(runs.get(dagId)?.[0] ?? null));
    },
  );
}

/** Plan: per DAG an index scan of dag_runs_newest, limited. */
async function newestRuns(
  scope: TenantDb,
  { tenantId, dagIds, limit }: { tenantId: string; dagIds: readonly string[]; limit: number },
): Promise<Map<string, LightRun[]>> {
  if (dagIds.length === 0 || limit === 0) return new Map();
  const { rows } = await sql<LightRun>`
    select r.id, r.dag_id, r.run_id, r.logical_date, r.run_after, r.start_date, r.end_date, r.state, r.duration
    from dags d cross join lateral (
      select * from dag_runs n where n.tenant_id = d.tenant_id and n.dag_id = d.dag_id
      order by n.run_after desc, n.id desc limit ${limit}
    ) as r
    where d.dag_id = any(${[...dagIds]}::text[]) and d.tenant_id = ${tenantId}
    order by r.dag_id, r.run_after desc, r.id desc`.execute(scope);
  const byDag = new Map<string, LightRun[]>();
  for (const row of rows) byDag.set(row.dag_id, [...(byDag.get(row.dag_id) ?? []), row]);
  return byDag;
}

async function openQuestions(scope: TenantDb, summaries: TaskSummaries, dagIds: readonly string[]) {
  if (dagIds.length === 0) return [];
  const { questions } = await listQuestions(scope, {
    limit: QUESTIONS_AT_MOST,
    offset: 0,
    order: [{ column: 'created_at', direction: 'desc' }],
    dagIds,
    states: ['deferred'],
    isAnswered: false,
  });
  return questionBodies(scope, summaries, questions);
}

async function favoritesAmong(scope: TenantDb, userId: string, dagIds: readonly string[]): Promise<Set<string>> {
  if (dagIds.length === 0) return new Set();
  const rows = await scope
    .selectFrom('dag_favorites')
    .select('dag_id')
    .where('user_id', '=', userId)
    .where('dag_id', 'in', [...dagIds])
    .execute();
  return new Set(rows.map((row) => row.dag_id));
}
