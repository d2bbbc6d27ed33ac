/** The state store of a task instance: what its tries keep for each other. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { TenantDb } from '../../db/database.ts';
import {
  changeTaskState,
  deleteStatesOfTask,
  deleteTaskStates,
  findTaskState,
  listTaskStates,
  putTaskState,
} from '../../db/task-instances/task-states.ts';
import type { Expiry, InstanceKey, TaskState } from '../../db/task-instances/task-states.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { sendJson } from '../../http/send-raw.ts';
import { Collection } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { defaultExpiry, stateLimitsOf } from '../../xcom/state-limits.ts';
import type { StateStoreLimits } from '../../xcom/state-limits.ts';
import type { Services } from '../services.ts';
import {
  StateKey,
  StatePaging,
  TaskStateBody,
  TaskStateEntry,
  ValueBody,
  noSuchState,
  oneStateText,
  stateListText,
  storeIsFull,
  storedText,
} from '../state-values.ts';
import { MapIndexQuery, RUN_PATH, TaskParams, existingInstance, existingRunKey } from './paths.ts';
import type { TaskInPath } from './paths.ts';

const TAGS = ['Task state store'];
const STORE = `${RUN_PATH}/:task_id/state-store`;
const IndexQuery = Type.Object(MapIndexQuery);
const KeyParams = Type.Object({ ...TaskParams.properties, key: StateKey });
type KeyInPath = Static<typeof KeyParams>;

export function registerTaskStateStore(app: App, services: Services): void {
  const limits = stateLimitsOf(services.config);
  registerList(app, services);
  registerClear(app, services);
  registerGet(app, services);
  registerPut(app, services, limits);
  registerPatch(app, services, limits);
  registerDelete(app, services);
}

function registerList(app: App, services: Services): void {
  app.get(
    STORE,
    {
      config: { access: 'read:xcom' },
      schema: {
        operationId: 'list_task_state_store',
        tags: TAGS,
        summary: 'List the state store of a task instance',
        description: 'In the order of the keys.',
        params: TaskParams,
        querystring: Type.Object({ ...MapIndexQuery, ...StatePaging }),
        response: { 200: Collection('TaskStateStoreCollectionResponse', 'task_state_store', TaskStateEntry) },
      },
    },
    async (request, reply) => {
      const scope = databaseOf(request, services.db);
      const { map_index: mapIndex, limit, offset } = request.query;
      const instance = await instanceOf(scope, request, mapIndex);
      const { states, total } = await listTaskStates(scope, instance, { limit, offset });
      const list = { name: 'task_state_store', entries: states.map(entryOf), total, writer: 'write:xcom' } as const;
      return sendJson(reply, await stateListText(request, services, list));
    },
  );
}

function registerClear(app: App, { db }: Services): void {
  app.delete(
    STORE,
    {
      config: { access: 'write:xcom' },
      schema: {
        operationId: 'clear_task_state_store',
        tags: TAGS,
        summary: 'Delete all keys of the state store of a task instance',
        params: TaskParams,
        querystring: Type.Object({
          ...MapIndexQuery,
          all_map_indices: Type.Boolean({
            default: false,
            description: 'Those of all instances of the task; `map_index` does not count then',
          }),
        }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { map_index: mapIndex, all_map_indices: isOfAll } = request.query;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if (isOfAll) {
            const { id: run } = await existingRunKey(trx, request.params);
            await deleteStatesOfTask(trx, { run, taskId: request.params.task_id });
          } else {
            await deleteTaskStates(trx, await instanceOf(trx, request, mapIndex), null);
          }
          await audit(trx, request, 'clear_task_state_store', isOfAll ? null : mapIndex);
        });
      return reply.code(204).send(null);
    },
  );
}

function registerGet(app: App, services: Services): void {
  app.get(
    `${STORE}/:key`,
    {
      config: { access: 'read:xcom' },
      schema: {
        operationId: 'get_task_state_store',
        tags: TAGS,
        summary: 'Get one value of the state store of a task instance',
        params: KeyParams,
        querystring: IndexQuery,
        response: { 200: TaskStateEntry },
      },
    },
    async (request, reply) => sendJson(reply, await entryText(request, services, request.query.map_index)),
  );
}

function registerPut(app: App, { db }: Services, limits: StateStoreLimits): void {
  app.put(
    `${STORE}/:key`,
    {
      config: { access: 'write:xcom', refuses: ['conflict'] },
      schema: {
        operationId: 'set_task_state_store',
        tags: TAGS,
        summary: 'Set one value of the state store of a task instance',
        params: KeyParams,
        querystring: IndexQuery,
        body: TaskStateBody,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { map_index: mapIndex } = request.query;
      const { key } = request.params;
      const value = storedText(key, request.body.value, limits);
      const state = { key, value, expiry: expiryOf(request.body, limits), maxKeys: limits.maxKeys };
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const answer = await putTaskState(trx, await instanceOf(trx, request, mapIndex), state);
          if (answer === 'full') throw storeIsFull(limits, 'the task instance');
          await audit(trx, request, 'set_task_state_store', mapIndex, key);
        });
      return reply.code(204).send(null);
    },
  );
}

function registerPatch(app: App, services: Services, limits: StateStoreLimits): void {
  app.patch(
    `${STORE}/:key`,
    {
      config: { access: 'write:xcom' },
      schema: {
        operationId: 'patch_task_state_store',
        tags: TAGS,
        summary: 'Change one value of the state store of a task instance',
        description: 'The value expires when it would have expired before.',
        params: KeyParams,
        querystring: IndexQuery,
        body: ValueBody('TaskStateStorePatchBody'),
        response: { 200: TaskStateEntry },
      },
    },
    async (request, reply) => {
      const { map_index: mapIndex } = request.query;
      const { key } = request.params;
      const value = storedText(key, request.body.value, limits);
      await databaseOf(request, services.db)
        .transaction()
        .execute(async (trx) => {
          const isChanged = await changeTaskState(trx, await instanceOf(trx, request, mapIndex), { key, value });
          if (!isChanged) throw noSuchState(key);
          await audit(trx, request, 'patch_task_state_store', mapIndex, key);
        });
      return sendJson(reply, await entryText(request, services, mapIndex));
    },
  );
}

function registerDelete(app: App, { db }: Services): void {
  app.delete(
    `${STORE}/:key`,
    {
      config: { access: 'write:xcom' },
      schema: {
        operationId: 'delete_task_state_store',
        tags: TAGS,
        summary: 'Delete one key of the state store of a task instance',
        description: 'A key that does not exist is no error.',
        params: KeyParams,
        querystring: IndexQuery,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { map_index: mapIndex } = request.query;
      const { key } = request.params;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          await deleteTaskStates(trx, await instanceOf(trx, request, mapIndex), key);
          await audit(trx, request, 'delete_task_state_store', mapIndex, key);
        });
      return reply.code(204).send(null);
    },
  );
}

/** Answers 404 for an unknown task instance, because an empty store would hide the mistake. */
async function instanceOf(db: TenantDb, request: FastifyRequest, mapIndex: number): Promise<InstanceKey> {
  const { run, task_id: taskId } = await existingInstance(db, request.params as TaskInPath, mapIndex);
  return { tenantId: principalOf(request).tenantId, run, taskId, mapIndex };
}

const entryOf = ({ key, value, updatedAt, expiresAt }: TaskState) => ({
  key,
  value,
  fields: { updated_at: updatedAt, expires_at: expiresAt },
});

async function entryText(request: FastifyRequest, services: Services, mapIndex: number): Promise<string> {
  const scope = databaseOf(request, services.db);
  const { key } = request.params as KeyInPath;
  const found = await findTaskState(scope, await instanceOf(scope, request, mapIndex), key);
  if (!found) throw noSuchState(key);
  return oneStateText(request, services, { entry: entryOf(found), writer: 'write:xcom' });
}

function expiryOf({ expires_at: at = 'default' }: TaskStateBody, limits: StateStoreLimits): Expiry {
  if (at === null) return 'never';
  return at === 'default' ? defaultExpiry(limits) : { at };
}

function audit(
  db: TenantDb,
  request: FastifyRequest,
  event: string,
  mapIndex: number | null,
  key?: string,
): Promise<void> {
  const { dag_id: dagId, dag_run_id: runId, task_id: taskId } = request.params as TaskInPath;
  return recordAudit(db, actorOf(request), {
    event,
    objectKind: 'task_state_store',
    objectId: key ?? taskId,
    dagId,
    runId,
    taskId,
    ...(mapIndex !== null && { mapIndex }),
  });
}
