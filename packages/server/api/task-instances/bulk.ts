/**
 * Airflow's bulk request for task instances: marks, notes and deletions. Unlike in other bulk requests, each entity is
 * a separate change, because each belongs to a run with its own lock. The answer lists failures; all other changes take
 * effect.
 */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { databaseOf } from '../../http/access.ts';
import { findRunKey } from '../../db/task-instances/details.ts';
import { BulkBody, BulkResponse } from '../../http/bulk.ts';
import type { BulkOutcome } from '../../http/bulk.ts';
import { ALL, RunParams, noSuchDag, noSuchRun } from '../paths.ts';
import type { RunInPath } from '../paths.ts';
import { findDag } from '../../db/dags/dags.ts';
import { ImportedRunError } from '../../db/imports/imported-version.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { PATCH_FIELDS, addressed, applyPatch, removeInstance } from './changes.ts';
import type { Target } from './changes.ts';
import { RUN_PATH, TAGS } from './paths.ts';
import { MapIndex, patchFields } from './schemas.ts';
import { applyUpdateMask } from '../../http/update-mask.ts';

const Entity = Type.Object(
  {
    task_id: Type.String(),
    map_index: Type.Optional(Type.Union([MapIndex, Type.Null()])),
    dag_id: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Default: that of the path' })),
    dag_run_id: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Default: that of the path' })),
    ...patchFields,
  },
  { title: 'BulkTaskInstance', additionalProperties: false },
);
type Entity = Static<typeof Entity>;

type Result = NonNullable<BulkOutcome['update']>;
type Action = Static<ReturnType<typeof BulkBody<typeof Entity, typeof Entity>>>['actions'][number];

export function registerTaskInstanceBulk(app: App, services: Services): void {
  app.patch(
    RUN_PATH,
    {
      config: { grows: 'body', access: 'write:task_instance' },
      schema: {
        operationId: 'bulk_task_instances',
        tags: TAGS,
        summary: 'Mark, note and delete several task instances; `~` when the entities name their DAGs and runs',
        params: RunParams,
        body: BulkBody('TaskInstances', Entity, Entity),
        response: { 200: BulkResponse },
      },
    },
    async (request) => {
      await refuseUnknown(request, services);
      const outcome: BulkOutcome = { create: null, update: null, delete: null };
      for (const action of request.body.actions) {
        if (action.action === 'update') applyUpdateMask({}, action.update_mask, PATCH_FIELDS);
        const before = outcome[action.action] ?? { success: [], errors: [] };
        const result = await runAction(request, services, request.params, action);
        outcome[action.action] = {
          success: [...before.success, ...result.success],
          errors: [...before.errors, ...result.errors],
        };
      }
      return outcome;
    },
  );
}

/** Answers 404 for an unknown DAG or run in the path, regardless of the entities. */
async function refuseUnknown(request: FastifyRequest, { db }: Services): Promise<void> {
  const params = request.params as RunInPath;
  const { dag_id: dagId, dag_run_id: runId } = params;
  const scope = databaseOf(request, db);
  if (dagId !== ALL && !(await findDag(scope, dagId))) throw noSuchDag(dagId);
  if (dagId !== ALL && runId !== ALL && !(await findRunKey(scope, dagId, runId))) throw noSuchRun(params);
}

async function runAction(
  request: FastifyRequest,
  services: Services,
  params: RunInPath,
  action: Action,
): Promise<Result> {
  const result: Result = { success: [], errors: [] };
  if (action.action === 'create') {
    result.errors.push({ error: 'Task instances bulk create is not supported', status_code: 405 });
    return result;
  }
  for (const item of action.entities) {
    const entity: Entity = typeof item === 'string' ? { task_id: item } : item;
    try {
      const target = targetOf(params, entity);
      const rows = await addressed(request, services, target);
      if (action.action === 'update') {
        await applyPatch({ request, services, target, body: entity, mask: action.update_mask });
      } else for (const row of rows) await removeInstance(request, services, row);
      result.success.push(...rows.map((row) => `${row.dag_id}.${row.run_id}.${row.task_id}[${row.map_index}]`));
    } catch (thrown) {
      const error = thrown instanceof ImportedRunError ? new ApiError('conflict', thrown.message) : thrown;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 && action.action_on_non_existence === 'skip') continue;
      result.errors.push({ error: error.message, status_code: error.status });
    }
  }
  return result;
}

function targetOf(params: RunInPath, entity: Entity): Target {
  const dagId = entity.dag_id ?? params.dag_id;
  const runId = entity.dag_run_id ?? params.dag_run_id;
  if (dagId === ALL || runId === ALL) {
    throw new ApiError(
      'invalid_request',
      `When using wildcard in path, dag_id and dag_run_id must be specified in request body for task_id: ${entity.task_id}`,
    );
  }
  return { dagId, runId, taskId: entity.task_id, mapIndex: entity.map_index ?? undefined };
}
