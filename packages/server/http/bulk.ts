/**
 * Airflow's bulk requests: a list of actions, each of which creates, updates or deletes entities of one kind.
 *
 * The whole request is one transaction. By default (`fail`), an action fails when an entity exists or is missing, and
 * then it changes nothing. Otherwise it takes effect completely. The status is 200 in both cases, and the body says for
 * each kind of action what happened.
 */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { recordAudit } from '../db/identity/audit-log.ts';
import { lockBulkRequests } from '../db/bulk-lock.ts';
import type { Database, TenantDb } from '../db/database.ts';
import { actorOf, databaseOf, principalOf } from './access.ts';
import { ApiError } from './errors.ts';
import { Nullable } from './schemas.ts';

const OnExistence = Type.Enum(['fail', 'skip', 'overwrite'], {
  default: 'fail',
  description: 'What to do with an entity that exists',
});
const OnNonExistence = Type.Enum(['fail', 'skip'], {
  default: 'fail',
  description: 'What to do about an entity that does not exist',
});

/** `entity` is the body of a create. `named` is the smallest body that a delete needs; the bare name works as well. */
export function BulkBody<Entity extends TSchema, Named extends TSchema>(name: string, entity: Entity, named: Named) {
  const closed = { additionalProperties: false };
  const create = Type.Object(
    {
      action: Type.Literal('create'),
      entities: Type.Array(entity),
      action_on_existence: Type.Optional(OnExistence),
    },
    { title: `BulkCreate${name}`, ...closed },
  );
  const update = Type.Object(
    {
      action: Type.Literal('update'),
      entities: Type.Array(entity),
      update_mask: Type.Optional(Nullable(Type.Array(Type.String()))),
      action_on_non_existence: Type.Optional(OnNonExistence),
    },
    { title: `BulkUpdate${name}`, ...closed },
  );
  const remove = Type.Object(
    {
      action: Type.Literal('delete'),
      entities: Type.Array(Type.Union([named, Type.String()])),
      action_on_non_existence: Type.Optional(OnNonExistence),
    },
    { title: `BulkDelete${name}`, ...closed },
  );
  type Action = Static<typeof create> | Static<typeof update> | Static<typeof remove>;
  const action = Type.Unsafe<Action>({
    type: 'object',
    required: ['action'],
    properties: { action: { type: 'string', enum: ['create', 'update', 'delete'] } },
    discriminator: { propertyName: 'action' },
    oneOf: [create, update, remove],
  });
  return Type.Object({ actions: Type.Array(action, { maxItems: 1_000 }) }, { title: `Bulk${name}Body`, ...closed });
}

const ActionResult = Type.Object(
  {
    success: Type.Array(Type.String({ description: 'The name of an entity' })),
    errors: Type.Array(Type.Object({ error: Type.String(), status_code: Type.Integer() })),
  },
  { title: 'BulkActionResponse' },
);

export const BulkResponse = Type.Object(
  { create: Nullable(ActionResult), update: Nullable(ActionResult), delete: Nullable(ActionResult) },
  { title: 'BulkResponse' },
);

type BulkAction<Entity> =
  | { action: 'create'; entities: Entity[]; action_on_existence?: 'fail' | 'skip' | 'overwrite' }
  | {
      action: 'update';
      entities: Entity[];
      update_mask?: string[] | null;
      action_on_non_existence?: 'fail' | 'skip';
    }
  | { action: 'delete'; entities: (string | object)[]; action_on_non_existence?: 'fail' | 'skip' };

/** Stores one kind of entity in the transaction of the request. */
export type BulkStore<Entity> = {
  /** The noun in messages, for example `connection`. */
  noun: string;
  nameOf(entity: Entity | object): string;
  /** Locks the entities that exist, and returns their names. */
  existing(names: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Returns the names that it wrote. `ifExists` applies to entities that another request creates between the check and
   * the write.
   */
  save(
    entities: readonly Entity[],
    options: { mask?: string[] | null | undefined; ifExists: 'write' | 'skip' | 'fail' },
  ): Promise<string[]>;
  delete(names: readonly string[]): Promise<void>;
};

type Result = Static<typeof ActionResult>;
export type BulkOutcome = Static<typeof BulkResponse>;

/**
 * Carries out a bulk request: one transaction, one request at a time per tenant and kind, one entry in the audit log.
 */
export function answerBulk<Entity>(input: {
  request: FastifyRequest;
  db: Database;
  noun: string;
  actions: readonly BulkAction<Entity>[];
  storeIn: (trx: TenantDb, tenantId: string) => BulkStore<Entity>;
}): Promise<BulkOutcome> {
  const { request, db, noun, actions, storeIn } = input;
  const { tenantId } = principalOf(request);
  return databaseOf(request, db)
    .transaction()
    .execute(async (trx) => {
      await lockBulkRequests(trx, tenantId, noun);
      const outcome = await runBulk(actions, storeIn(trx, tenantId));
      await recordAudit(trx, actorOf(request), {
        event: `bulk_${noun}s`,
        objectKind: noun,
        objectId: '*',
        detail: {
          created: outcome.create?.success ?? [],
          updated: outcome.update?.success ?? [],
          deleted: outcome.delete?.success ?? [],
        },
      });
      return outcome;
    });
}

export async function runBulk<Entity>(
  actions: readonly BulkAction<Entity>[],
  store: BulkStore<Entity>,
): Promise<BulkOutcome> {
  const outcome: BulkOutcome = { create: null, update: null, delete: null };
  for (const action of actions) {
    const result = await runAction(action, store);
    const before = outcome[action.action] ?? { success: [], errors: [] };
    outcome[action.action] = {
      success: [...before.success, ...result.success],
      errors: [...before.errors, ...result.errors],
    };
  }
  return outcome;
}

async function runAction<Entity>(action: BulkAction<Entity>, store: BulkStore<Entity>): Promise<Result> {
  switch (action.action) {
    case 'create': {
      const mode = action.action_on_existence ?? 'fail';
      const names = action.entities.map(store.nameOf);
      const existing = await store.existing(names);
      if (mode === 'fail' && existing.size > 0) return failed(409, store.noun, existing, 'already exist');
      const wanted = action.entities.filter((entity) => mode === 'overwrite' || !existing.has(store.nameOf(entity)));
      const ifExists = mode === 'overwrite' ? 'write' : mode;
      return { success: await store.save(wanted, { ifExists }), errors: [] };
    }
    case 'update': {
      const names = action.entities.map(store.nameOf);
      const existing = await store.existing(names);
      const missing = names.filter((name) => !existing.has(name));
      if (action.action_on_non_existence !== 'skip' && missing.length > 0) return notFound(store.noun, missing);
      const wanted = action.entities.filter((entity) => existing.has(store.nameOf(entity)));
      return { success: await store.save(wanted, { mask: action.update_mask, ifExists: 'write' }), errors: [] };
    }
    case 'delete': {
      const names = [...new Set(action.entities.map((item) => (typeof item === 'string' ? item : store.nameOf(item))))];
      const existing = await store.existing(names);
      const missing = names.filter((name) => !existing.has(name));
      if (action.action_on_non_existence !== 'skip' && missing.length > 0) return notFound(store.noun, missing);
      const wanted = names.filter((name) => existing.has(name));
      await store.delete(wanted);
      return { success: wanted, errors: [] };
    }
  }
}

const notFound = (noun: string, names: Iterable<string>): Result => failed(404, noun, names, 'were not found');

const NAMES_IN_MESSAGE = 20;

function failed(status: number, noun: string, names: Iterable<string>, what: string): Result {
  const all = [...names];
  const shown = all.slice(0, NAMES_IN_MESSAGE).map((name) => JSON.stringify(name));
  const more = all.length > shown.length ? ` and ${all.length - shown.length} more` : '';
  const error = `these ${noun}s ${what}, so nothing of this action was done: ${shown.join(', ')}${more}`;
  return { success: [], errors: [{ error, status_code: status }] };
}

/** Refuses an action that names the same entity twice. The last one would win, and the caller would not know. */
export function refuseRepeatedNames<Entity>(
  actions: readonly BulkAction<Entity>[],
  store: Pick<BulkStore<Entity>, 'noun' | 'nameOf'>,
): void {
  for (const [index, action] of actions.entries()) {
    if (action.action === 'delete') continue;
    const seen = new Set<string>();
    for (const name of action.entities.map(store.nameOf)) {
      if (seen.has(name)) {
        throw new ApiError('invalid_request', `actions.${index} names the ${store.noun} "${name}" twice: name it once`);
      }
      seen.add(name);
    }
  }
}
