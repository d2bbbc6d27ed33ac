/** Pools of the caller's tenant, with their current usage. */
import { Type } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { TenantDb } from '../../db/database.ts';
import {
  DEFAULT_POOL,
  deletePools,
  findPool,
  listPools,
  lockPools,
  readPoolUsage,
  savePools,
  usageOf,
} from '../../db/task-instances/pools.ts';
import type { PoolRow, PoolUsage, PoolValues } from '../../db/task-instances/pools.ts';
import { actorOf, databaseOf } from '../../http/access.ts';
import { BulkResponse, answerBulk, refuseRepeatedNames } from '../../http/bulk.ts';
import type { BulkStore } from '../../http/bulk.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { BulkPoolsBody, POOL_BODY_FIELDS, POOL_FIELDS, Pool, PoolBody, PoolUpdate } from './schemas.ts';
import { Collection, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { UpdateMaskQuery, applyUpdateMask } from '../../http/update-mask.ts';

const ORDER_COLUMNS = {
  name: 'name',
  pool: 'name',
  id: 'id',
  slots: 'slots',
  description: 'description',
  include_deferred: 'include_deferred',
} as const;
const TAGS = ['Pools'];
const Params = Type.Object({ pool_name: Type.String() });

export function registerPools(app: App, services: Services): void {
  registerReads(app, services);
  registerCreate(app, services);
  registerPatch(app, services);
  registerDelete(app, services);
  registerBulk(app, services);
}

function registerReads(app: App, { db }: Services): void {
  app.get(
    '/api/v2/pools',
    {
      config: { access: 'read:pool' },
      schema: {
        operationId: 'get_pools',
        tags: TAGS,
        summary: 'List pools',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery(Object.keys(ORDER_COLUMNS)),
          ...PatternQuery('pool_name'),
        }),
        response: { 200: Collection('PoolCollection', 'pools', Pool) },
      },
    },
    async (request) => {
      const {
        limit,
        offset,
        order_by: keys,
        pool_name_pattern: pattern,
        pool_name_prefix_pattern: prefix,
      } = request.query;
      const scope = databaseOf(request, db);
      const [{ pools, total }, usage] = await Promise.all([
        listPools(scope, {
          limit,
          offset,
          order: parseOrderBy(keys, ORDER_COLUMNS, [{ column: 'name', direction: 'asc' }]),
          names: parsePatterns({ pattern, prefix }),
        }),
        readPoolUsage(scope),
      ]);
      return { pools: pools.map((pool) => poolBody(pool, usageOf(usage, pool.name))), total_entries: total };
    },
  );

  app.get(
    '/api/v2/pools/:pool_name',
    {
      config: { access: 'read:pool' },
      schema: {
        operationId: 'get_pool',
        tags: TAGS,
        summary: 'Get one pool',
        params: Params,
        response: { 200: Pool },
      },
    },
    async (request) => {
      const { pool_name: name } = request.params;
      const scope = databaseOf(request, db);
      const pool = await findPool(scope, name);
      if (!pool) throw noSuchPool(name);
      return poolBody(pool, usageOf(await readPoolUsage(scope), name));
    },
  );
}

function registerCreate(app: App, { db, scheduler }: Services): void {
  app.post(
    '/api/v2/pools',
    {
      config: { access: 'write:pool', refuses: ['already_exists'] },
      schema: {
        operationId: 'post_pool',
        tags: TAGS,
        summary: 'Create a pool',
        body: PoolBody,
        response: { 201: Pool },
      },
    },
    async (request, reply) => {
      const { name } = request.body;
      const values = newPool(request.body);
      const scope = databaseOf(request, db);
      const pool = await scope.transaction().execute(async (trx) => {
        const saved = await savePools(trx, [name], (_name, stored) => {
          if (stored) throw new ApiError('already_exists', `there is a pool "${name}" already: change it with PATCH`);
          return values;
        });
        await recordAudit(trx, actorOf(request), { event: 'post_pool', objectKind: 'pool', objectId: name });
        return written(saved, name);
      });
      scheduler.requestClaim(); // tasks may already wait for a pool with this name
      return reply.code(201).send(poolBody(pool, usageOf(await readPoolUsage(scope), name)));
    },
  );
}

function registerPatch(app: App, { db, scheduler }: Services): void {
  app.patch(
    '/api/v2/pools/:pool_name',
    {
      config: { access: 'write:pool' },
      schema: {
        operationId: 'patch_pool',
        tags: TAGS,
        summary: 'Change a pool',
        params: Params,
        querystring: Type.Object(UpdateMaskQuery([...POOL_FIELDS, 'name'])),
        body: PoolUpdate,
        response: { 200: Pool },
      },
    },
    async (request) => {
      const { pool_name: name } = request.params;
      refuseTeam(request.body.team_name);
      if (typeof request.body.pool === 'string' && request.body.pool !== name) {
        throw new ApiError(
          'invalid_request',
          `pool: the body says "${request.body.pool}" and the path "${name.slice(0, 256)}": a pool cannot be renamed`,
        );
      }
      const change = applyUpdateMask(request.body, request.query.update_mask, [...POOL_FIELDS, 'name']);
      const scope = databaseOf(request, db);
      const pool = await scope.transaction().execute(async (trx) => {
        const saved = await savePools(trx, [name], (_name, stored) => {
          if (!stored) throw noSuchPool(name);
          return changedPool(stored, change);
        });
        await recordAudit(trx, actorOf(request), {
          event: 'patch_pool',
          objectKind: 'pool',
          objectId: name,
          detail: { changed: Object.keys(change) },
        });
        return written(saved, name);
      });
      scheduler.requestClaim();
      return poolBody(pool, usageOf(await readPoolUsage(scope), name));
    },
  );
}

function registerDelete(app: App, { db }: Services): void {
  app.delete(
    '/api/v2/pools/:pool_name',
    {
      config: { access: 'write:pool' },
      schema: {
        operationId: 'delete_pool',
        tags: TAGS,
        summary: 'Delete a pool',
        description: 'Tasks that name it wait until there is a pool of this name again; those that run go on.',
        params: Params,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { pool_name: name } = request.params;
      refuseDeletingDefault([name]);
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if ((await deletePools(trx, [name])).length === 0) throw noSuchPool(name);
          await recordAudit(trx, actorOf(request), { event: 'delete_pool', objectKind: 'pool', objectId: name });
        });
      return reply.code(204).send(null);
    },
  );
}

function registerBulk(app: App, { db, scheduler }: Services): void {
  app.patch(
    '/api/v2/pools',
    {
      config: { grows: 'body', access: 'write:pool', refuses: ['conflict'] },
      schema: {
        operationId: 'bulk_pools',
        tags: TAGS,
        summary: 'Create, update and delete several pools',
        body: BulkPoolsBody,
        response: { 200: BulkResponse },
      },
    },
    async (request) => {
      const { actions } = request.body;
      refuseRepeatedNames(actions, NAMED);
      for (const action of actions) {
        if (action.action === 'delete')
          refuseDeletingDefault(action.entities.map((entity) => (typeof entity === 'string' ? entity : entity.name)));
        else for (const entity of action.entities) refuseTeam(entity.team_name);
        if (action.action === 'update') applyUpdateMask({}, action.update_mask, POOL_BODY_FIELDS);
      }
      const outcome = await answerBulk({ request, db, noun: NAMED.noun, actions, storeIn: (trx) => bulkStore(trx) });
      scheduler.requestClaim();
      return outcome;
    },
  );
}

type PoolEntity = {
  name: string;
  slots: number;
  description?: string | null;
  include_deferred?: boolean;
  team_name?: string | null;
};

const NAMED = { noun: 'pool', nameOf: (entity: object) => (entity as PoolEntity).name };

function bulkStore(db: TenantDb): BulkStore<PoolEntity> {
  return {
    ...NAMED,
    existing: async (names) => new Set((await lockPools(db, names)).keys()),
    async save(entities, { mask, ifExists }) {
      const byName = new Map(entities.map((entity) => [entity.name, entity]));
      const saved = await savePools(db, [...byName.keys()], (name, stored) => {
        const entity = byName.get(name);
        if (!entity || (stored && ifExists === 'skip')) return undefined;
        if (stored && ifExists === 'fail') {
          throw new ApiError('conflict', `the pool "${name}" was created by somebody else meanwhile: send it again`);
        }
        return stored ? changedPool(stored, applyUpdateMask(entity, mask, POOL_BODY_FIELDS)) : newPool(entity);
      });
      return [...byName.keys()].filter((name) => saved.has(name));
    },
    delete: async (names) => void (await deletePools(db, names)),
  };
}

function newPool(entity: PoolEntity): PoolValues {
  refuseTeam(entity.team_name);
  const { name, slots, description = null, include_deferred: includeDeferred = false } = entity;
  return { name, slots, description, include_deferred: includeDeferred };
}

function changedPool(
  stored: PoolRow,
  change: { slots?: number | null; description?: string | null; include_deferred?: boolean | null },
): PoolValues {
  const description = change.description === undefined ? stored.description : change.description;
  if (stored.name === DEFAULT_POOL && description !== stored.description) {
    throw new ApiError(
      'invalid_request',
      'description: only slots and include_deferred of the default pool can change',
    );
  }
  return {
    name: stored.name,
    slots: change.slots ?? stored.slots,
    description,
    include_deferred: change.include_deferred ?? stored.include_deferred,
  };
}

function written(saved: ReadonlyMap<string, PoolRow>, name: string): PoolRow {
  const pool = saved.get(name);
  if (!pool) throw new Error('unreachable: the pool was written');
  return pool;
}

function refuseTeam(team: string | null | undefined): void {
  if (team) throw new ApiError('invalid_request', 'team_name: there are no teams here: leave it out');
}

function refuseDeletingDefault(names: readonly string[]): void {
  if (names.includes(DEFAULT_POOL)) {
    throw new ApiError('invalid_request', `the pool "${DEFAULT_POOL}" cannot be deleted: tasks use it by default`);
  }
}

const noSuchPool = (name: string): ApiError =>
  new ApiError('not_found', `The Pool with name: \`${name.slice(0, 256)}\` was not found`);

function poolBody(pool: PoolRow, usage: PoolUsage) {
  const occupied = usage.running + usage.queued + (pool.include_deferred ? usage.deferred : 0);
  return {
    name: pool.name,
    slots: pool.slots,
    description: pool.description,
    include_deferred: pool.include_deferred,
    occupied_slots: occupied,
    running_slots: usage.running,
    queued_slots: usage.queued,
    scheduled_slots: usage.scheduled,
    open_slots: pool.slots === -1 ? -1 : pool.slots - occupied,
    deferred_slots: usage.deferred,
    team_name: null,
  };
}
