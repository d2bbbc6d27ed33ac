/** Connections of the caller's tenant. Secrets are stored sealed, and no answer contains them. */
import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { recordAudit } from '../../db/identity/audit-log.ts';
import {
  deleteConnections,
  findConnection,
  listConnections,
  lockConnections,
  saveConnections,
} from '../../db/secrets/connections.ts';
import type { ListedConnection } from '../../db/secrets/connections.ts';
import type { TenantDb } from '../../db/database.ts';
import { MASK, maskExtra } from '../../vault/mask.ts';
import { connectionBinding, createVault } from '../../vault/vault.ts';
import type { Vault } from '../../vault/vault.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { BulkResponse, answerBulk, refuseRepeatedNames } from '../../http/bulk.ts';
import type { BulkStore } from '../../http/bulk.ts';
import { BulkConnectionsBody, CONNECTION_FIELDS, Connection, ConnectionBody, ConnectionUpdate } from './schemas.ts';
import type { ConnectionChange } from './schemas.ts';
import { registerDefaultConnections } from './defaults.ts';
import { registerEnqueuedTests } from './enqueued-test.ts';
import { createConnectionTests, registerConnectionTest } from './test.ts';
import { mergeConnection, refuseInvalidConnection, secretsOfConnection } from './writes.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { Collection, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { UpdateMaskQuery, applyUpdateMask } from '../../http/update-mask.ts';

const ORDER_COLUMNS = {
  connection_id: 'connection_id',
  conn_id: 'connection_id',
  conn_type: 'conn_type',
  description: 'description',
  host: 'host',
  port: 'port',
  id: 'id',
} as const;
/** Accepted because Airflow has it. It is always null, so it orders nothing. */
const NO_ORDER = 'team_name';

const Params = Type.Object({ connection_id: Type.String() });
const TAGS = ['Connections'];

export function registerConnections(app: App, services: Services): void {
  const vault = createVault({ keyring: services.keyring, log: app.log });
  registerReads(app, services, vault);
  registerWrites(app, services, vault);
  registerDelete(app, services);
  registerBulk(app, services, vault);
  registerDefaultConnections(app, services);
  const begin = createConnectionTests(services, { vault, admit: (change) => admit([change], services, vault) });
  registerConnectionTest(app, begin);
  registerEnqueuedTests(app, {
    begin,
    save: async (request, id, change) => {
      await writeOne({ request, services, vault, id, change, event: 'post_connection' });
    },
  });
}

function registerReads(app: App, { db }: Services, vault: Vault): void {
  app.get(
    '/api/v2/connections',
    {
      config: { access: 'read:connection' },
      schema: {
        operationId: 'get_connections',
        tags: TAGS,
        summary: 'List connections',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery([...Object.keys(ORDER_COLUMNS), NO_ORDER]),
          ...PatternQuery('connection_id'),
        }),
        response: { 200: Collection('ConnectionCollection', 'connections', Connection) },
      },
    },
    async (request) => {
      const tenant = databaseOf(request, db);
      const { query } = request;
      const { tenantId } = principalOf(request);
      const { connections, total } = await listConnections(tenant, {
        limit: query.limit,
        offset: query.offset,
        order: parseOrderBy(
          query.order_by?.filter((key) => key.replace(/^-/, '') !== NO_ORDER),
          ORDER_COLUMNS,
          [{ column: 'connection_id', direction: 'asc' }],
        ),
        ids: parsePatterns({ pattern: query.connection_id_pattern, prefix: query.connection_id_prefix_pattern }),
      });
      return { connections: connections.map((row) => connectionBody(row, tenantId, vault)), total_entries: total };
    },
  );

  app.get(
    '/api/v2/connections/:connection_id',
    {
      config: { access: 'read:connection' },
      schema: {
        operationId: 'get_connection',
        tags: TAGS,
        summary: 'Get one connection',
        params: Params,
        response: { 200: Connection },
      },
    },
    async (request) => {
      const row = await findConnection(databaseOf(request, db), request.params.connection_id);
      if (!row) throw noSuchConnection(request.params.connection_id);
      return connectionBody(row, principalOf(request).tenantId, vault);
    },
  );
}

function registerWrites(app: App, services: Services, vault: Vault): void {
  app.post(
    '/api/v2/connections',
    {
      config: { access: 'write:connection', refuses: ['conflict', 'already_exists'] },
      schema: {
        operationId: 'post_connection',
        tags: TAGS,
        summary: 'Create a connection, or change the one with this id',
        body: ConnectionBody,
        response: { 201: Connection },
      },
    },
    async (request, reply) => {
      const { connection_id: id, ...change } = request.body;
      const body = await writeOne({ request, services, vault, id, change, event: 'post_connection' });
      return reply.code(201).send(body);
    },
  );

  app.patch(
    '/api/v2/connections/:connection_id',
    {
      config: { access: 'write:connection', refuses: ['conflict'] },
      schema: {
        operationId: 'patch_connection',
        tags: TAGS,
        summary: 'Change a connection',
        params: Params,
        querystring: Type.Object(UpdateMaskQuery(CONNECTION_FIELDS)),
        body: ConnectionUpdate,
        response: { 200: Connection },
      },
    },
    async (request) => {
      const id = request.params.connection_id;
      const { connection_id: named, ...change } = request.body;
      if (named !== undefined && named !== id) {
        throw new ApiError(
          'invalid_request',
          `connection_id: the body says "${named}" and the path "${id.slice(0, 200)}": a connection cannot be renamed`,
        );
      }
      const masked = applyUpdateMask(change, request.query.update_mask, CONNECTION_FIELDS);
      return writeOne({ request, services, vault, id, change: masked, event: 'patch_connection' });
    },
  );
}

async function writeOne(input: {
  request: FastifyRequest;
  services: Services;
  vault: Vault;
  id: string;
  change: ConnectionChange;
  event: 'post_connection' | 'patch_connection';
}) {
  const { request, services, vault, id, change, event } = input;
  const { tenantId } = principalOf(request);
  admit([change], services, vault);
  const row = await databaseOf(request, services.db)
    .transaction()
    .execute(async (trx) => {
      let changed: string[] = [];
      const saved = await saveConnections(trx, [id], (connectionId, stored) => {
        if (!stored && event === 'patch_connection') throw noSuchConnection(id);
        const merge = mergeConnection({ tenantId, connectionId, stored, change, vault });
        changed = merge.changed;
        return merge.values;
      });
      await recordAudit(trx, actorOf(request), { event, objectKind: 'connection', objectId: id, detail: { changed } });
      return saved.get(id);
    });
  if (!row) throw new Error('unreachable: the connection was written');
  return connectionBody(row, tenantId, vault);
}

/** Checks the request first, then the installation. */
function admit(changes: readonly ConnectionChange[], { secrets }: Services, vault: Vault): void {
  for (const change of changes) {
    for (const secret of secretsOfConnection(change)) secrets.addPassing(secret);
    refuseInvalidConnection(change);
  }
  if (!vault.canSeal) {
    throw new ApiError(
      'encryption_unavailable',
      'connections hold secrets, and there is no key to encrypt them with: set SVC_SECRET_KEY (openssl rand -hex 32) and restart',
    );
  }
}

function registerDelete(app: App, { db }: Services): void {
  app.delete(
    '/api/v2/connections/:connection_id',
    {
      config: { access: 'write:connection' },
      schema: {
        operationId: 'delete_connection',
        tags: TAGS,
        summary: 'Delete a connection',
        params: Params,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const id = request.params.connection_id;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const deleted = await deleteConnections(trx, [id]);
          if (deleted.length === 0) throw noSuchConnection(id);
          await recordAudit(trx, actorOf(request), {
            event: 'delete_connection',
            objectKind: 'connection',
            objectId: id,
          });
        });
      return reply.code(204).send(null);
    },
  );
}

function registerBulk(app: App, services: Services, vault: Vault): void {
  app.patch(
    '/api/v2/connections',
    {
      config: { grows: 'body', access: 'write:connection', refuses: ['conflict'] },
      schema: {
        operationId: 'bulk_connections',
        tags: TAGS,
        summary: 'Create, update and delete several connections',
        body: BulkConnectionsBody,
        response: { 200: BulkResponse },
      },
    },
    async (request) => {
      const { actions } = request.body;
      refuseRepeatedNames(actions, NAMED);
      const masks = actions.map((action) => (action.action === 'update' ? action.update_mask : null));
      for (const mask of masks) applyUpdateMask({}, mask, CONNECTION_FIELDS);
      const written = actions.flatMap((action) => (action.action === 'delete' ? [] : action.entities));
      if (written.length > 0) admit(written, services, vault);
      return answerBulk({
        request,
        db: services.db,
        noun: NAMED.noun,
        actions,
        storeIn: (trx, tenantId) => bulkStore(trx, tenantId, vault),
      });
    },
  );
}

type ConnectionEntity = ConnectionChange & { connection_id: string };

const NAMED = {
  noun: 'connection',
  nameOf: (entity: object) => (entity as ConnectionEntity).connection_id,
};

function bulkStore(db: TenantDb, tenantId: string, vault: Vault): BulkStore<ConnectionEntity> {
  return {
    ...NAMED,
    existing: async (names) => new Set((await lockConnections(db, names)).keys()),
    async save(entities, { mask, ifExists }) {
      const byId = new Map(entities.map((entity) => [entity.connection_id, entity]));
      const saved = await saveConnections(db, [...byId.keys()], (connectionId, stored) => {
        if (stored && ifExists === 'skip') return undefined;
        if (stored && ifExists === 'fail') throw createdMeanwhile(connectionId);
        const change = applyUpdateMask(byId.get(connectionId) ?? {}, mask, CONNECTION_FIELDS);
        return mergeConnection({ tenantId, connectionId, stored, change, vault }).values;
      });
      return [...byId.keys()].filter((id) => saved.has(id));
    },
    delete: async (names) => void (await deleteConnections(db, names)),
  };
}

const createdMeanwhile = (id: string): ApiError =>
  new ApiError(
    'conflict',
    `the connection "${id}" was created by somebody else meanwhile: nothing was done, send it again`,
  );

const noSuchConnection = (id: string): ApiError =>
  new ApiError('not_found', `there is no connection with connection_id "${id.slice(0, 200)}"`);

function connectionBody(row: ListedConnection, tenantId: string, vault: Vault) {
  const { connection_id: id, extra_sealed: sealed } = row;
  const extra = vault.open(sealed, connectionBinding(tenantId, id, 'extra'));
  return {
    connection_id: id,
    conn_type: row.conn_type,
    description: row.description,
    host: row.host,
    login: row.login,
    schema: row.schema,
    port: row.port,
    extra: sealed === null ? null : extra.kind === 'text' ? maskExtra(extra.text) : MASK,
    team_name: null,
  };
}
