/** Cross-task values (XCom): the endpoint of the specification, and Airflow's xcomEntries. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findDag } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { findRunKey } from '../../db/task-instances/xcoms.ts';
import type { XcomColumn, XcomKey, XcomQuery } from '../../db/task-instances/xcoms.ts';
import { createXcomStore } from '../../xcom/store.ts';
import type { FoundXcom, Refusal, XcomStore } from '../../xcom/store.ts';
import { actorOf, databaseOf } from '../../http/access.ts';
import { noSuchDag } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { Collection, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { createTaskSummaries } from '../dags/task-summaries.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import { entryText, summaryBody, valueText } from './bodies.ts';
import type { Form } from './bodies.ts';
import { MapIndex, Xcom, XcomCreate, XcomFilters, XcomSummary, XcomUpdate } from './schemas.ts';
import { textOf } from '../stored-value.ts';
import { maskFor } from '../../http/masked-fields.ts';
import { sendRaw } from '../../http/send-raw.ts';

const TAGS = ['XComs'];
const ALL = '~';
const ENTRIES = '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskInstances/:task_id/xcomEntries';

const ORDER_COLUMNS = {
  key: 'key',
  dag_id: 'dag_id',
  run_id: 'run_id',
  task_id: 'task_id',
  map_index: 'map_index',
  timestamp: 'timestamp',
  run_after: 'run_after',
} as const;

const InstanceIds = { dag_id: Type.String(), dag_run_id: Type.String(), task_id: Type.String() };
const InstanceParams = Type.Object(InstanceIds);
type InstanceInPath = Static<typeof InstanceParams>;

const ListQuery = Type.Object({
  ...PagingQuery,
  ...OrderByQuery(Object.keys(ORDER_COLUMNS)),
  ...XcomFilters,
  ...PatternQuery('xcom_key'),
  ...PatternQuery('dag_display_name'),
  ...PatternQuery('run_id'),
  ...PatternQuery('task_id'),
});

/**
 * A key may contain slashes. Clients write them as %2F, which is one part of a path. The web UI writes them plainly.
 */
const addressesOf = (url: string, name: 'key' | 'xcom_key') => [
  { url: `${url}/:${name}`, suffix: '', note: {}, params: Type.Object({ ...InstanceIds, [name]: Type.String() }) },
  {
    url: `${url}/:${name}/*`,
    suffix: '_with_slashes',
    note: {
      description: 'The same for a key whose slashes are not written as %2F: `*` is what follows the first one.',
    },
    params: Type.Object({ ...InstanceIds, [name]: Type.String(), '*': Type.String() }),
  },
];
type Address = ReturnType<typeof addressesOf>[number];

type Deps = {
  db: Services['db'];
  xcoms: XcomStore;
  summaries: TaskSummaries;
} & Pick<Services, 'readerMasks' | 'storedValues'>;

export function registerXcoms(app: App, { db, config, readerMasks, valueCache, storedValues }: Services): void {
  const xcoms = createXcomStore({ maxBytes: config.xcom.maxBytes, cache: valueCache });
  const deps = { db, xcoms, summaries: createTaskSummaries(), readerMasks, storedValues };
  registerList(app, deps);
  registerCreate(app, deps);
  for (const address of addressesOf('/api/v2/xcoms/:dag_id/:dag_run_id/:task_id', 'key'))
    registerGet(app, deps, address);
  for (const address of addressesOf(ENTRIES, 'xcom_key')) {
    registerGetEntry(app, deps, address);
    registerUpdate(app, deps, address);
    registerDelete(app, deps, address);
  }
}

function registerList(app: App, { db, xcoms, summaries }: Deps): void {
  app.get(
    ENTRIES,
    {
      config: { access: 'read:xcom' },
      schema: {
        operationId: 'get_xcom_entries',
        tags: TAGS,
        summary: 'List cross-task values, without the values; `~` as an id is all',
        description: 'Default order: the newest run first, then by task_id, map_index and key.',
        params: InstanceParams,
        querystring: ListQuery,
        response: { 200: Collection('XComCollection', 'xcom_entries', XcomSummary) },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const run = await namedRun(scope, request.params);
      const { entries, total } = await xcoms.list(scope, xcomQuery(request.params, run, request.query));
      const names = await summaries.get(
        scope,
        entries.map((row) => row.version_id ?? '').filter((id) => id !== ''),
      );
      const body = entries.map((row) =>
        summaryBody(row, names.get(row.version_id ?? '')?.get(row.task_id)?.displayName),
      );
      return { xcom_entries: body, total_entries: total };
    },
  );
}

/** Answers 404 for an unknown DAG or run, because an empty list would hide the mistake. */
async function namedRun(
  db: TenantDb,
  { dag_id: dagId, dag_run_id: runId }: InstanceInPath,
): Promise<number | undefined> {
  if (dagId === ALL) return undefined;
  if (!(await findDag(db, dagId))) throw noSuchDag(dagId);
  return runId === ALL ? undefined : (await existingRun(db, dagId, runId)).run;
}

/** Removes undefined keys, because the database layer requires that absent filters have no key. */
function xcomQuery(ids: InstanceInPath, run: number | undefined, query: Static<typeof ListQuery>): XcomQuery {
  const asked = {
    run,
    dagId: ids.dag_id === ALL ? undefined : ids.dag_id,
    runId: ids.dag_run_id === ALL || run !== undefined ? undefined : ids.dag_run_id,
    taskId: ids.task_id === ALL ? undefined : ids.task_id,
    key: query.xcom_key || undefined,
    mapIndex: query.map_index ?? query.map_index_filter,
  };
  return {
    limit: query.limit,
    offset: query.offset,
    order: parseOrderBy<XcomColumn>(query.order_by, ORDER_COLUMNS, [{ column: 'run', direction: 'desc' }]),
    keys: parsePatterns({ pattern: query.xcom_key_pattern, prefix: query.xcom_key_prefix_pattern }),
    dagNames: parsePatterns({ pattern: query.dag_display_name_pattern, prefix: query.dag_display_name_prefix_pattern }),
    runIds: parsePatterns({ pattern: query.run_id_pattern, prefix: query.run_id_prefix_pattern }),
    taskIds: parsePatterns({ pattern: query.task_id_pattern, prefix: query.task_id_prefix_pattern }),
    runAfter: rangeOf(query, 'run_after'),
    logicalDate: rangeOf(query, 'logical_date'),
    ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)),
  };
}

const rangeOf = (query: Static<typeof ListQuery>, name: 'run_after' | 'logical_date') =>
  Object.fromEntries(
    (['gte', 'gt', 'lte', 'lt'] as const).flatMap((end) => {
      const moment = query[`${name}_${end}`];
      return moment === undefined ? [] : [[end, moment] as const];
    }),
  );

function registerGet(app: App, deps: Deps, { url, suffix, note, params }: Address): void {
  app.get(
    url,
    {
      config: { access: 'read:xcom' },
      schema: {
        operationId: `get_xcom${suffix}`,
        tags: TAGS,
        summary: 'Get one cross-task value',
        ...note,
        params,
        querystring: Type.Object({ map_index: MapIndex }),
        response: { 200: Xcom },
      },
    },
    async (request, reply) => sendEntry({ deps, request, reply, mapIndex: request.query.map_index }),
  );
}

function registerGetEntry(app: App, deps: Deps, { url, suffix, note, params }: Address): void {
  app.get(
    url,
    {
      config: { access: 'read:xcom' },
      schema: {
        operationId: `get_xcom_entry${suffix}`,
        tags: TAGS,
        summary: 'Get one cross-task value',
        ...note,
        params,
        querystring: Type.Object({
          map_index: MapIndex,
          deserialize: Type.Boolean({
            default: false,
            description: 'Show dates, tuples and the like as people read them',
          }),
          stringify: Type.Boolean({ default: false, description: 'The value as one string' }),
        }),
        response: { 200: Xcom },
      },
    },
    async (request, reply) =>
      sendEntry({ deps, request, reply, mapIndex: request.query.map_index, form: request.query }),
  );
}

function registerCreate(app: App, deps: Deps): void {
  app.post(
    ENTRIES,
    {
      config: { access: 'write:xcom', refuses: ['already_exists'] },
      schema: {
        operationId: 'create_xcom_entry',
        tags: TAGS,
        summary: 'Create a cross-task value',
        params: InstanceParams,
        body: XcomCreate,
        response: { 201: Xcom },
      },
    },
    async (request, reply) => {
      const { db, xcoms, summaries } = deps;
      const { dag_id: dagId, task_id: taskId, dag_run_id: runId } = request.params;
      const { map_index: mapIndex = -1 } = request.body;
      const entry = { key: request.body.key, value: valueText(request.body.value) };
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const { run, version_id: version } = await existingRun(trx, dagId, runId);
          const tasks = version === null ? undefined : (await summaries.get(trx, [version])).get(version);
          if (tasks && !tasks.has(taskId))
            throw new ApiError('not_found', `Task with ID: \`${taskId}\` not found in Dag: \`${dagId}\``);
          const outcome = await xcoms.create(trx, { run, dagId, taskId, mapIndex }, entry);
          if (outcome.kind === 'refused') throw refused(outcome);
          if (outcome.kind === 'exists')
            throw new ApiError(
              'already_exists',
              `The XCom with key: \`${entry.key}\` with mentioned task instance already exists: PATCH it to change it`,
            );
          await audit(trx, request, 'create_xcom_entry', entry.key, mapIndex);
        });
      return sendEntry({ deps, request, reply: reply.code(201), mapIndex, key: entry.key });
    },
  );
}

function registerUpdate(app: App, deps: Deps, { url, suffix, note, params }: Address): void {
  app.patch(
    url,
    {
      config: { access: 'write:xcom' },
      schema: {
        operationId: `update_xcom_entry${suffix}`,
        tags: TAGS,
        summary: 'Change a cross-task value',
        ...note,
        params,
        body: XcomUpdate,
        response: { 200: Xcom },
      },
    },
    async (request, reply) => {
      const { db, xcoms } = deps;
      const { map_index: mapIndex = -1 } = request.body;
      const value = valueText(request.body.value);
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const key = await keyIn(trx, request, mapIndex);
          const outcome = key && (await xcoms.update(trx, key, value));
          if (outcome?.kind === 'refused') throw refused(outcome);
          if (outcome?.kind !== 'written') throw noSuchEntry(keyOf(request));
          await audit(trx, request, 'update_xcom_entry', keyOf(request), mapIndex);
        });
      return sendEntry({ deps, request, reply, mapIndex });
    },
  );
}

function registerDelete(app: App, { db, xcoms }: Deps, { url, suffix, note, params }: Address): void {
  app.delete(
    url,
    {
      config: { access: 'write:xcom' },
      schema: {
        operationId: `delete_xcom_entry${suffix}`,
        tags: TAGS,
        summary: 'Delete a cross-task value',
        ...note,
        params,
        querystring: Type.Object({ map_index: MapIndex }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { map_index: mapIndex } = request.query;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const key = await keyIn(trx, request, mapIndex);
          if (!key || !(await xcoms.delete(trx, key))) throw noSuchEntry(keyOf(request));
          await audit(trx, request, 'delete_xcom_entry', keyOf(request), mapIndex);
        });
      return reply.code(204).send(null);
    },
  );
}

/** The router removes one slash from the end of a path, but it may belong to the key. */
function keyOf(request: FastifyRequest): string {
  const params = request.params as { key?: string; xcom_key?: string; '*'?: string };
  const first = params.key ?? params.xcom_key ?? '';
  const key = params['*'] === undefined ? first : `${first}/${params['*']}`;
  return request.url.split(/[?#]/, 1)[0]?.endsWith('/') ? `${key}/` : key;
}

async function keyIn(
  db: TenantDb,
  request: FastifyRequest,
  mapIndex: number,
  key = keyOf(request),
): Promise<XcomKey | undefined> {
  const { dag_id: dagId, dag_run_id: runId, task_id: taskId } = request.params as InstanceInPath;
  const found = await findRunKey(db, dagId, runId);
  return found && { run: found.run, taskId, mapIndex, key };
}

async function existingRun(db: TenantDb, dagId: string, runId: string) {
  const run = await findRunKey(db, dagId, runId);
  if (!run) throw noSuchRun(dagId, runId);
  return run;
}

async function sendEntry(input: {
  deps: Deps;
  request: FastifyRequest;
  reply: FastifyReply;
  mapIndex: number;
  key?: string;
  form?: Form;
}): Promise<FastifyReply> {
  const { deps, request, reply, mapIndex, form } = input;
  const scope = databaseOf(request, deps.db);
  const name = input.key ?? keyOf(request);
  const key = await keyIn(scope, request, mapIndex, name);
  const found: FoundXcom | undefined = key && (await deps.xcoms.find(scope, key));
  if (!found) throw noSuchEntry(name);
  const row = { ...found, value: await textOf(scope, deps.storedValues, found) };
  const version = row.version_id ?? '';
  const names = version === '' ? undefined : (await deps.summaries.get(scope, [version])).get(version);
  const mask = await maskFor(request, deps.readerMasks, 'write:xcom');
  return sendRaw(
    reply.type('application/json; charset=utf-8'),
    await entryText(row, names?.get(row.task_id)?.displayName, { ...form, mask }),
  );
}

function audit(db: TenantDb, request: FastifyRequest, event: string, key: string, mapIndex: number): Promise<void> {
  const { dag_id: dagId, dag_run_id: runId, task_id: taskId } = request.params as InstanceInPath;
  return recordAudit(db, actorOf(request), {
    event,
    objectKind: 'xcom',
    objectId: key,
    dagId,
    runId,
    taskId,
    mapIndex,
  });
}

const refused = ({ problem }: Refusal): ApiError => new ApiError('invalid_request', problem);

const noSuchRun = (dagId: string, runId: string): ApiError =>
  new ApiError('not_found', `The DagRun with dag_id: \`${dagId}\` and run_id: \`${runId}\` was not found`);

const noSuchEntry = (key: string): ApiError =>
  new ApiError('not_found', `XCom entry with key: \`${key.slice(0, 250)}\` not found`);
