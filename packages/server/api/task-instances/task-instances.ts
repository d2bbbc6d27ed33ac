/** Task instances: lists, by query and by body, one instance, one mapped instance. Other files have the writes. */
import { findVersion } from '../../db/dags/dag-versions.ts';
import { findDag } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import type { InstanceFilter } from '../../db/task-instances/filters.ts';
import { sortKeysOf } from '../../db/task-instances/orders.ts';
import type { InstanceOrder } from '../../db/task-instances/orders.ts';
import { findInstancesOfTask, listInstances, listInstancesFrom } from '../../db/task-instances/task-instances.ts';
import type { ListedInstance } from '../../db/task-instances/task-instances.ts';
import { databaseOf } from '../../http/access.ts';
import { decodeCursor, encodeCursor } from '../../http/cursor.ts';
import { ALL, RunParams, noSuchDag } from '../paths.ts';
import { createTaskSummaries } from '../dags/task-summaries.ts';
import { ApiError } from '../../http/errors.ts';
import { WHOLE_UP_TO_A_PAGE, limitOf, linkToNextPage } from '../../http/next-page.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { registerTaskInstanceClear } from './clear.ts';
import { registerTaskInstanceBulk } from './bulk.ts';
import { registerTaskInstanceDependencies } from './dependencies.ts';
import { registerTaskInstanceWrites } from './writes.ts';
import { instanceBodies } from './bodies.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import type { RunInPath } from '../paths.ts';
import { BatchBody, ListQuery, MappedListQuery, filterOfBatch, filterOfQuery, instanceOrder } from './filters.ts';
import type { ListScope } from './filters.ts';
import { MappedParams, RUN_PATH, TAGS, TaskParams, existingInstance, existingRunKey, noSuchInstance } from './paths.ts';
import type { TaskInPath } from './paths.ts';
import { TaskInstance, TaskInstanceCollection } from './schemas.ts';
import { registerTaskGroups } from './task-groups.ts';
import { registerTaskInstanceLinks } from './links.ts';
import { registerReplayValues } from './replay-values.ts';
import { registerTaskInstanceTries } from './tries.ts';

export function registerTaskInstances(app: App, services: Services): void {
  const summaries = createTaskSummaries();
  registerLists(app, services, summaries);
  registerMappedList(app, services, summaries);
  registerOne(app, services, summaries);
  registerTaskInstanceLinks(app, services, summaries);
  registerTaskInstanceTries(app, services, summaries);
  registerReplayValues(app, services);
  registerTaskInstanceDependencies(app, services);
  registerTaskInstanceClear(app, services, summaries);
  registerTaskInstanceWrites(app, services, summaries);
  registerTaskInstanceBulk(app, services);
  registerTaskGroups(app, services, summaries);
}

/** Resolves `~` and the names in the path. */
async function scopeOf(db: TenantDb, params: RunInPath): Promise<ListScope> {
  const { dag_id: dagId, dag_run_id: runId } = params;
  if (runId !== ALL) {
    if (dagId === ALL) {
      throw new ApiError(
        'invalid_request',
        'dag_id: a run id is unique within its DAG only: name the DAG, or use ~ for both',
      );
    }
    const run = await existingRunKey(db, params);
    return { dagId, run: run.id, versionNumber: run.version_number };
  }
  if (dagId === ALL) return {};
  if (!(await findDag(db, dagId))) throw noSuchDag(dagId);
  return { dagId };
}

function registerLists(app: App, { db }: Services, summaries: TaskSummaries): void {
  app.get(
    RUN_PATH,
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_task_instances',
        tags: TAGS,
        summary: 'List task instances of a run; `~` for all runs, and for all DAGs',
        description: WHOLE_UP_TO_A_PAGE,
        params: RunParams,
        querystring: ListQuery,
        response: { 200: TaskInstanceCollection },
      },
    },
    async (request, reply) => {
      const scope = databaseOf(request, db);
      const { offset, cursor, order_by: keys } = request.query;
      const limit = limitOf(request.query.limit, { isOfOne: request.params.dag_run_id !== ALL });
      const listed = await scopeOf(scope, request.params);
      const filter = await filterOfQuery({ db: scope, summaries }, listed, request.query);
      const order = instanceOrder(keys);
      if (cursor !== undefined) return pageByCursor(scope, summaries, { filter, order, limit, cursor });
      const page = await pageByOffset(scope, summaries, { filter, order, limit, offset });
      linkToNextPage(request, reply, { limit, offset, total: page.total_entries });
      return page;
    },
  );

  app.post(
    `${RUN_PATH}/list`,
    {
      config: { grows: 'page', access: 'read:task_instance' },
      schema: {
        operationId: 'get_task_instances_batch',
        tags: TAGS,
        summary: 'List task instances by a filter that is too long for a URL; `~` for all runs, and for all DAGs',
        params: RunParams,
        body: BatchBody,
        response: { 200: TaskInstanceCollection },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { page_limit: limit, page_offset: offset, order_by: key } = request.body;
      const listed = await scopeOf(scope, request.params);
      const filter = await filterOfBatch({ db: scope, summaries }, listed, request.body);
      return pageByOffset(scope, summaries, { filter, order: instanceOrder(key ? [key] : undefined), limit, offset });
    },
  );
}

function registerMappedList(app: App, { db }: Services, summaries: TaskSummaries): void {
  app.get(
    `${RUN_PATH}/:task_id/listMapped`,
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_mapped_task_instances',
        tags: TAGS,
        summary: 'List the instances of a mapped task',
        params: TaskParams,
        querystring: MappedListQuery,
        response: { 200: TaskInstanceCollection },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId, task_id: taskId } = request.params;
      const { limit, offset, order_by: keys } = request.query;
      const run = await existingRunKey(scope, request.params);
      const listed = { dagId, run: run.id, versionNumber: run.version_number };
      const asked = await filterOfQuery({ db: scope, summaries }, listed, request.query);
      const filter = { ...asked, taskIds: [taskId], isExpanded: true };
      const answer = await pageByOffset(scope, summaries, { filter, order: instanceOrder(keys), limit, offset });
      if (answer.total_entries === 0) await refuseUnmapped(scope, summaries, run.id, request.params);
      return answer;
    },
  );
}

/** Distinguishes reasons for an empty list: no match, a task that is not expanded yet, or a task that is not mapped. */
async function refuseUnmapped(db: TenantDb, summaries: TaskSummaries, run: number, params: TaskInPath): Promise<void> {
  const [first] = await findInstancesOfTask(db, run, params.task_id);
  if (!first) throw noSuchInstance(params);
  if (first.map_index >= 0 || (await isMapped(db, summaries, first))) return;
  throw new ApiError('not_found', `Task id ${params.task_id} is not mapped`);
}

async function isMapped(db: TenantDb, summaries: TaskSummaries, row: ListedInstance): Promise<boolean> {
  const version = await findVersion(db, row.dag_id, row.version_number);
  const known = version && (await summaries.get(db, [version.id])).get(version.id);
  return known?.get(row.task_id)?.isMapped ?? false;
}

function registerOne(app: App, { db }: Services, summaries: TaskSummaries): void {
  const answer = async (scope: TenantDb, params: TaskInPath, mapIndex: number) => {
    const [body] = await instanceBodies(scope, summaries, [await existingInstance(scope, params, mapIndex)]);
    if (!body) throw new Error('unreachable: one row, one body');
    return body;
  };

  app.get(
    `${RUN_PATH}/:task_id`,
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_task_instance',
        tags: TAGS,
        summary: 'Get a task instance',
        params: TaskParams,
        response: { 200: TaskInstance },
      },
    },
    (request) => answer(databaseOf(request, db), request.params, -1),
  );

  app.get(
    `${RUN_PATH}/:task_id/:map_index`,
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_mapped_task_instance',
        tags: TAGS,
        summary: 'Get an instance of a mapped task; -1 for one that is not mapped',
        params: MappedParams,
        response: { 200: TaskInstance },
      },
    },
    (request) => answer(databaseOf(request, db), request.params, request.params.map_index),
  );
}

async function pageByOffset(
  db: TenantDb,
  summaries: TaskSummaries,
  query: { filter: InstanceFilter; order: InstanceOrder; limit: number; offset: number },
) {
  const { instances, total } = await listInstances(db, query);
  return {
    task_instances: await instanceBodies(db, summaries, instances),
    total_entries: total,
    total_entries_limit: null,
    next_cursor: null,
    previous_cursor: null,
  };
}

async function pageByCursor(
  db: TenantDb,
  summaries: TaskSummaries,
  query: { filter: InstanceFilter; order: InstanceOrder; limit: number; cursor: string },
) {
  const { filter, order, cursor } = query;
  const keys = order.map(({ column, direction }) => (direction === 'desc' ? `-${column}` : column));
  const name = [...keys, filter.run === undefined ? 'of runs' : 'of a run'].join();
  const from = decodeCursor(cursor, name, sortKeysOf(order, filter));
  const { instances, previous, next } = await listInstancesFrom(db, { ...query, from });
  return {
    task_instances: await instanceBodies(db, summaries, instances),
    total_entries: null,
    total_entries_limit: null,
    next_cursor: next && encodeCursor(name, next),
    previous_cursor: previous && encodeCursor(name, previous),
  };
}
