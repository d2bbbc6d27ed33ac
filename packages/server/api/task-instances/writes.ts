/** Changes one task instance, or all instances of a mapped task: marks, writes notes, deletes. */
import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { findInstances } from '../../db/task-instances/task-instances.ts';
import type { ListedInstance } from '../../db/task-instances/task-instances.ts';
import { databaseOf } from '../../http/access.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { instanceBodies } from './bodies.ts';
import { PATCH_FIELDS, addressed, applyPatch, masked, previewPatch, removeInstance } from './changes.ts';
import type { PatchBody as Patch, Target } from './changes.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import { MapIndexQuery, MappedParams, RUN_PATH, TAGS, TaskParams, noSuchInstance } from './paths.ts';
import type { TaskInPath } from './paths.ts';
import { MapIndex, PatchBody, TaskInstanceCollection } from './schemas.ts';
import { UpdateMaskQuery } from '../../http/update-mask.ts';

const access = 'write:task_instance';
const mask = UpdateMaskQuery(PATCH_FIELDS);
/** Without it, the request addresses every instance of the task. */
const anyMapIndex = { map_index: Type.Optional(MapIndex) };

const targetOf = (params: TaskInPath, mapIndex: number | undefined): Target => ({
  dagId: params.dag_id,
  runId: params.dag_run_id,
  taskId: params.task_id,
  mapIndex,
});

export function registerTaskInstanceWrites(app: App, services: Services, summaries: TaskSummaries): void {
  const listed = async (request: FastifyRequest, rows: readonly ListedInstance[]) => ({
    task_instances: await instanceBodies(databaseOf(request, services.db), summaries, rows),
    total_entries: rows.length,
    total_entries_limit: null,
    next_cursor: null,
    previous_cursor: null,
  });
  const change: Change = async (request, target, body, fields) => {
    await applyPatch({ request, services, target, body, mask: fields });
    return listed(request, await addressed(request, services, target));
  };
  const preview: Change = async (request, target, body, fields) => {
    const wanted = masked(body, fields);
    await addressed(request, services, target); // answers 404 if there is no such instance
    const places = await previewPatch(request, services, target, wanted);
    return listed(request, await findInstances(databaseOf(request, services.db), places));
  };
  registerPatch(app, change);
  registerPreview(app, preview);

  app.delete(
    `${RUN_PATH}/:task_id`,
    {
      config: { access },
      schema: {
        operationId: 'delete_task_instance',
        tags: TAGS,
        summary: 'Delete a task instance with its tries and values',
        description: 'What comes after it does not wait for it any more. Its logs stay.',
        params: TaskParams,
        querystring: Type.Object(MapIndexQuery),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const mapIndex = request.query.map_index;
      const [row] = await addressed(request, services, targetOf(request.params, mapIndex));
      if (!row || !(await removeInstance(request, services, row))) throw noSuchInstance(request.params, mapIndex);
      return reply.code(204).send(null);
    },
  );
}

type Collection = Promise<{
  task_instances: Awaited<ReturnType<typeof instanceBodies>>;
  total_entries: number;
  total_entries_limit: null;
  next_cursor: null;
  previous_cursor: null;
}>;

/** `fields` lists the fields of the body that count. Undefined means all. */
type Change = (
  request: FastifyRequest,
  target: Target,
  body: Patch,
  fields: readonly string[] | undefined,
) => Collection;

function registerPatch(app: App, change: Change): void {
  const common = { tags: TAGS, body: PatchBody, response: { 200: TaskInstanceCollection } };
  app.patch(
    `${RUN_PATH}/:task_id`,
    {
      config: { grows: 'instances', access, refuses: ['conflict'] },
      schema: {
        ...common,
        operationId: 'patch_task_instance',
        summary: 'Mark a task instance, or write a note on it',
        description:
          'A marked task counts as ended that way; what failed because of it is judged anew. Without `map_index`, all ' +
          'instances of a mapped task.',
        params: TaskParams,
        querystring: Type.Object({ ...anyMapIndex, ...mask }),
      },
    },
    (request) =>
      change(request, targetOf(request.params, request.query.map_index), request.body, request.query.update_mask),
  );

  app.patch(
    `${RUN_PATH}/:task_id/:map_index`,
    {
      config: { grows: 'instances', access, refuses: ['conflict'] },
      schema: {
        ...common,
        operationId: 'patch_mapped_task_instance',
        summary: 'Mark an instance of a mapped task, or write a note on it',
        params: MappedParams,
        querystring: Type.Object(mask),
      },
    },
    (request) =>
      change(request, targetOf(request.params, request.params.map_index), request.body, request.query.update_mask),
  );
}

function registerPreview(app: App, preview: Change): void {
  const common = { tags: TAGS, body: PatchBody, response: { 200: TaskInstanceCollection } };
  app.patch(
    `${RUN_PATH}/:task_id/dry_run`,
    {
      config: { grows: 'instances', access, refuses: ['conflict'] },
      schema: {
        ...common,
        operationId: 'patch_task_instance_dry_run',
        summary: 'List the task instances that marking this one would change',
        params: TaskParams,
        querystring: Type.Object({ ...anyMapIndex, ...mask }),
      },
    },
    (request) =>
      preview(request, targetOf(request.params, request.query.map_index), request.body, request.query.update_mask),
  );

  app.patch(
    `${RUN_PATH}/:task_id/:map_index/dry_run`,
    {
      config: { grows: 'instances', access, refuses: ['conflict'] },
      schema: {
        ...common,
        operationId: 'patch_mapped_task_instance_dry_run',
        summary: 'List the task instances that marking this mapped one would change',
        params: MappedParams,
        querystring: Type.Object(mask),
      },
    },
    (request) =>
      preview(request, targetOf(request.params, request.params.map_index), request.body, request.query.update_mask),
  );
}
