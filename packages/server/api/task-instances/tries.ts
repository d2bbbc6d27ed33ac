/** The tries of a task instance: ended ones and the current one. */
import { Type } from 'typebox';
import type { TenantDb } from '../../db/database.ts';
import { findTry, listTries } from '../../db/task-instances/try-history.ts';
import type { TryRow } from '../../db/task-instances/try-history.ts';
import { databaseOf } from '../../http/access.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { tryBodies } from './bodies.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import { MAX_INT, TaskInstanceTry, TaskInstanceTryCollection } from './schemas.ts';
import {
  MapIndexQuery,
  MappedParams,
  RUN_PATH,
  TAGS,
  TaskParams,
  existingRunKey,
  noSuchInstance,
  noSuchTry,
} from './paths.ts';
import type { TaskInPath } from './paths.ts';

/** 0 means an instance without a try yet. */
const tryNumber = { task_try_number: Type.Integer({ minimum: 0, maximum: MAX_INT }) };

export function registerTaskInstanceTries(app: App, { db }: Services, summaries: TaskSummaries): void {
  const access = 'read:task_instance';
  const all = { tags: TAGS, response: { 200: TaskInstanceTryCollection } };
  app.get(
    `${RUN_PATH}/:task_id/tries`,
    {
      config: { grows: 'tries', access },
      schema: {
        ...all,
        operationId: 'get_task_instance_tries',
        summary: 'List the tries of a task instance, oldest first',
        params: TaskParams,
        querystring: Type.Object(MapIndexQuery),
      },
    },
    (request) => everyTry(databaseOf(request, db), summaries, request.params, request.query.map_index),
  );

  app.get(
    `${RUN_PATH}/:task_id/:map_index/tries`,
    {
      config: { grows: 'tries', access },
      schema: {
        ...all,
        operationId: 'get_mapped_task_instance_tries',
        summary: 'List the tries of an instance of a mapped task, oldest first',
        params: MappedParams,
      },
    },
    (request) => everyTry(databaseOf(request, db), summaries, request.params, request.params.map_index),
  );

  const one = { tags: TAGS, response: { 200: TaskInstanceTry } };
  app.get(
    `${RUN_PATH}/:task_id/tries/:task_try_number`,
    {
      config: { access },
      schema: {
        ...one,
        operationId: 'get_task_instance_try_details',
        summary: 'Get one try of a task instance',
        params: Type.Object({ ...TaskParams.properties, ...tryNumber }),
        querystring: Type.Object(MapIndexQuery),
      },
    },
    (request) => oneTry(databaseOf(request, db), summaries, request.params, request.query.map_index),
  );

  app.get(
    `${RUN_PATH}/:task_id/:map_index/tries/:task_try_number`,
    {
      config: { access },
      schema: {
        ...one,
        operationId: 'get_mapped_task_instance_try_details',
        summary: 'Get one try of an instance of a mapped task',
        params: Type.Object({ ...MappedParams.properties, ...tryNumber }),
      },
    },
    (request) => oneTry(databaseOf(request, db), summaries, request.params, request.params.map_index),
  );
}

async function everyTry(db: TenantDb, summaries: TaskSummaries, params: TaskInPath, mapIndex: number) {
  const { id: run } = await existingRunKey(db, params);
  const rows = await listTries(db, { run, taskId: params.task_id, mapIndex });
  if (rows.length === 0) throw noSuchInstance(params, mapIndex);
  return { task_instances: await tryBodies(db, summaries, rows), total_entries: rows.length };
}

async function oneTry(
  db: TenantDb,
  summaries: TaskSummaries,
  params: TaskInPath & { task_try_number: number },
  mapIndex: number,
) {
  const row = await existingTry(db, params, mapIndex, params.task_try_number);
  const [body] = await tryBodies(db, summaries, [row]);
  if (!body) throw new Error('unreachable: a row has a body');
  return body;
}

export async function existingTry(db: TenantDb, params: TaskInPath, mapIndex: number, number: number): Promise<TryRow> {
  const { id: run } = await existingRunKey(db, params);
  const row = await findTry(db, { run, taskId: params.task_id, mapIndex }, number);
  if (row) return row;
  throw noSuchTry(params, mapIndex, number);
}
