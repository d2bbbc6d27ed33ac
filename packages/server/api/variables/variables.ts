/** Variables of the caller's tenant. */
import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { TenantDb } from '../../db/database.ts';
import {
  deleteVariables,
  findVariable,
  listVariables,
  lockVariables,
  saveVariables,
} from '../../db/secrets/variables.ts';
import type { ListedVariable } from '../../db/secrets/variables.ts';
import { MASK, maskVariable } from '../../vault/mask.ts';
import { createVault } from '../../vault/vault.ts';
import type { Vault } from '../../vault/vault.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { BulkResponse, answerBulk, refuseRepeatedNames } from '../../http/bulk.ts';
import type { BulkStore } from '../../http/bulk.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { Collection, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { UpdateMaskQuery, applyUpdateMask } from '../../http/update-mask.ts';
import { BulkVariablesBody, VARIABLE_FIELDS, Variable, VariableBody, VariableUpdate } from './schemas.ts';
import { mergeVariable, openVariable, secretsOfVariable, variableChange } from './writes.ts';
import type { VariableChange } from './writes.ts';

const ORDER_COLUMNS = { key: 'key', id: 'id', description: 'description', is_encrypted: 'is_encrypted' } as const;
/**
 * Accepted because Airflow has them. Teams are always null. An order by value would reveal how secrets compare, so it
 * has no effect.
 */
const NO_ORDER = ['value', '_val', 'team_name'];

const TAGS = ['Variables'];

/**
 * A key may contain slashes. Clients write them as %2F, which is one part of a path. The web UI writes them plainly.
 */
const ONE_PART = {
  url: '/api/v2/variables/:variable_key',
  suffix: '',
  note: {},
  params: Type.Object({ variable_key: Type.String() }),
} as const;
const SEVERAL_PARTS = {
  url: '/api/v2/variables/:variable_key/*',
  suffix: '_with_slashes',
  note: { description: 'The same for a key whose slashes are not written as %2F: `*` is what follows the first one.' },
  params: Type.Object({ variable_key: Type.String(), '*': Type.String() }),
} as const;
type Address = typeof ONE_PART | typeof SEVERAL_PARTS;

export function registerVariables(app: App, services: Services): void {
  const vault = createVault({ keyring: services.keyring, log: app.log });
  registerCollection(app, services, vault);
  registerBulk(app, services, vault);
  for (const address of [ONE_PART, SEVERAL_PARTS]) {
    registerReadOne(app, services, vault, address);
    registerPatch(app, services, vault, address);
    registerDelete(app, services, address);
  }
}

function registerCollection(app: App, services: Services, vault: Vault): void {
  app.get(
    '/api/v2/variables',
    {
      config: { access: 'read:variable' },
      schema: {
        operationId: 'get_variables',
        tags: TAGS,
        summary: 'List variables',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery([...Object.keys(ORDER_COLUMNS), ...NO_ORDER]),
          ...PatternQuery('variable_key'),
        }),
        response: { 200: Collection('VariableCollection', 'variables', Variable) },
      },
    },
    async (request) => {
      const tenant = databaseOf(request, services.db);
      const { query } = request;
      const { tenantId } = principalOf(request);
      const { variables, total } = await listVariables(tenant, {
        limit: query.limit,
        offset: query.offset,
        order: parseOrderBy(
          query.order_by?.filter((key) => !NO_ORDER.includes(key.replace(/^-/, ''))),
          ORDER_COLUMNS,
          [{ column: 'key', direction: 'asc' }],
        ),
        keys: parsePatterns({ pattern: query.variable_key_pattern, prefix: query.variable_key_prefix_pattern }),
      });
      return { variables: variables.map((row) => variableBody(row, tenantId, vault)), total_entries: total };
    },
  );

  app.post(
    '/api/v2/variables',
    {
      config: { access: 'write:variable', refuses: ['conflict'] },
      schema: {
        operationId: 'post_variable',
        tags: TAGS,
        summary: 'Create a variable, or change the one with this key',
        body: VariableBody,
        response: { 201: Variable },
      },
    },
    async (request, reply) => {
      const { key } = request.body;
      const change = variableChange(request.body);
      return reply.code(201).send(await writeOne({ request, services, vault, key, change, event: 'post_variable' }));
    },
  );
}

function registerReadOne(app: App, { db }: Services, vault: Vault, { url, suffix, note, params }: Address): void {
  app.get(
    url,
    {
      config: { access: 'read:variable' },
      schema: {
        operationId: `get_variable${suffix}`,
        tags: TAGS,
        summary: 'Get one variable',
        ...note,
        params,
        response: { 200: Variable },
      },
    },
    async (request) => {
      const key = variableKeyOf(request);
      const row = await findVariable(databaseOf(request, db), key);
      if (!row) throw noSuchVariable(key);
      return variableBody(row, principalOf(request).tenantId, vault);
    },
  );
}

function registerPatch(app: App, services: Services, vault: Vault, { url, suffix, note, params }: Address): void {
  app.patch(
    url,
    {
      config: { access: 'write:variable', refuses: ['conflict'] },
      schema: {
        operationId: `patch_variable${suffix}`,
        tags: TAGS,
        summary: 'Change a variable',
        ...note,
        params,
        querystring: Type.Object(UpdateMaskQuery(VARIABLE_FIELDS)),
        body: VariableUpdate,
        response: { 200: Variable },
      },
    },
    async (request) => {
      const key = variableKeyOf(request);
      const { key: named, ...sent } = request.body;
      if (named !== undefined && named !== key) {
        throw new ApiError(
          'invalid_request',
          `key: the body says "${named}" and the path "${key.slice(0, 250)}": a variable cannot be renamed`,
        );
      }
      const change = variableChange(applyUpdateMask(sent, request.query.update_mask, VARIABLE_FIELDS));
      return writeOne({ request, services, vault, key, change, event: 'patch_variable' });
    },
  );
}

function registerDelete(app: App, { db }: Services, { url, suffix, note, params }: Address): void {
  app.delete(
    url,
    {
      config: { access: 'write:variable' },
      schema: {
        operationId: `delete_variable${suffix}`,
        tags: TAGS,
        summary: 'Delete a variable',
        ...note,
        params,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const key = variableKeyOf(request);
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const deleted = await deleteVariables(trx, [key]);
          if (deleted.length === 0) throw noSuchVariable(key);
          await recordAudit(trx, actorOf(request), { event: 'delete_variable', objectKind: 'variable', objectId: key });
        });
      return reply.code(204).send(null);
    },
  );
}

/** The router removes one slash from the end of a path, but it may belong to the key. */
function variableKeyOf(request: FastifyRequest): string {
  const { variable_key: first, '*': rest } = request.params as { variable_key: string; '*'?: string };
  const key = rest === undefined ? first : `${first}/${rest}`;
  return request.url.split(/[?#]/, 1)[0]?.endsWith('/') ? `${key}/` : key;
}

async function writeOne(input: {
  request: FastifyRequest;
  services: Services;
  vault: Vault;
  key: string;
  change: VariableChange;
  event: 'post_variable' | 'patch_variable';
}) {
  const { request, services, vault, key, change, event } = input;
  const { tenantId } = principalOf(request);
  for (const secret of secretsOfVariable(key, change)) services.secrets.addPassing(secret);
  const row = await databaseOf(request, services.db)
    .transaction()
    .execute(async (trx) => {
      let changed: string[] = [];
      const saved = await saveVariables(trx, [key], (_key, stored) => {
        if (!stored && event === 'patch_variable') throw noSuchVariable(key);
        const merge = mergeVariable({ tenantId, key, stored, change, vault });
        changed = merge.changed;
        return merge.values;
      });
      await recordAudit(trx, actorOf(request), { event, objectKind: 'variable', objectId: key, detail: { changed } });
      return saved.get(key);
    });
  if (!row) throw new Error('unreachable: the variable was written');
  return variableBody(row, tenantId, vault);
}

function registerBulk(app: App, services: Services, vault: Vault): void {
  app.patch(
    '/api/v2/variables',
    {
      config: { grows: 'body', access: 'write:variable', refuses: ['conflict'] },
      schema: {
        operationId: 'bulk_variables',
        tags: TAGS,
        summary: 'Create, update and delete several variables',
        body: BulkVariablesBody,
        response: { 200: BulkResponse },
      },
    },
    async (request) => {
      const { actions } = request.body;
      refuseRepeatedNames(actions, NAMED);
      for (const action of actions) {
        if (action.action === 'delete') continue;
        if (action.action === 'update') applyUpdateMask({}, action.update_mask, VARIABLE_FIELDS);
        for (const { key, ...sent } of action.entities) {
          for (const secret of secretsOfVariable(key, variableChange(sent))) services.secrets.addPassing(secret);
        }
      }
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

type VariableEntity = { key: string; value?: unknown; description?: string | null };

const NAMED = { noun: 'variable', nameOf: (entity: object) => (entity as VariableEntity).key };

function bulkStore(db: TenantDb, tenantId: string, vault: Vault): BulkStore<VariableEntity> {
  return {
    ...NAMED,
    existing: async (names) => new Set((await lockVariables(db, names)).keys()),
    async save(entities, { mask, ifExists }) {
      const byKey = new Map(entities.map((entity) => [entity.key, entity]));
      const saved = await saveVariables(db, [...byKey.keys()], (key, stored) => {
        if (stored && ifExists === 'skip') return undefined;
        if (stored && ifExists === 'fail') throw createdMeanwhile(key);
        const change = variableChange(applyUpdateMask(byKey.get(key) ?? {}, mask, VARIABLE_FIELDS));
        return mergeVariable({ tenantId, key, stored, change, vault }).values;
      });
      return [...byKey.keys()].filter((key) => saved.has(key));
    },
    delete: async (names) => void (await deleteVariables(db, names)),
  };
}

const createdMeanwhile = (key: string): ApiError =>
  new ApiError(
    'conflict',
    `the variable "${key}" was created by somebody else meanwhile: nothing was done, send it again`,
  );

const noSuchVariable = (key: string): ApiError =>
  new ApiError('not_found', `there is no variable with key "${key.slice(0, 250)}"`);

function variableBody(row: ListedVariable, tenantId: string, vault: Vault) {
  const { key } = row;
  const value = openVariable(row, tenantId, vault);
  return {
    key,
    value: value.kind === 'text' ? maskVariable(key, value.text) : value.kind === 'none' ? '' : MASK,
    description: row.description,
    is_encrypted: row.value_sealed !== null,
    team_name: null,
  };
}
