/** Sealed values of all tenants in batches, for the rotation of keys. */
import { sql } from 'kysely';
import type { SharedDb } from '../database.ts';

export type SealedConnection = {
  tenant_id: string;
  connection_id: string;
  password_sealed: string | null;
  extra_sealed: string | null;
};

export function connectionsAfter(
  db: SharedDb,
  last: SealedConnection | undefined,
  size: number,
): Promise<SealedConnection[]> {
  const rows = db
    .selectFrom('connections')
    .select(['tenant_id', 'connection_id', 'password_sealed', 'extra_sealed'])
    .orderBy('tenant_id')
    .orderBy('connection_id')
    .limit(size);
  // Along the primary key, so that the cost of a batch does not depend on its position.
  return last
    ? rows.where(sql<boolean>`(tenant_id, connection_id) > (${last.tenant_id}::uuid, ${last.connection_id})`).execute()
    : rows.execute();
}

/** Returns false when the row has changed since `before` was read. It then stays as it is. */
export async function replaceConnection(
  db: SharedDb,
  before: SealedConnection,
  after: SealedConnection,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('connections')
    .set({ password_sealed: after.password_sealed, extra_sealed: after.extra_sealed })
    .where('tenant_id', '=', before.tenant_id)
    .where('connection_id', '=', before.connection_id)
    .where('password_sealed', 'is not distinct from', before.password_sealed)
    .where('extra_sealed', 'is not distinct from', before.extra_sealed)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export type SealedVariable = {
  tenant_id: string;
  key: string;
  value_plain: string | null;
  value_sealed: string | null;
};

export function variablesAfter(
  db: SharedDb,
  last: SealedVariable | undefined,
  size: number,
): Promise<SealedVariable[]> {
  const rows = db
    .selectFrom('variables')
    .select(['tenant_id', 'key', 'value_plain', 'value_sealed'])
    .orderBy('tenant_id')
    .orderBy('key')
    .limit(size);
  return last
    ? rows.where(sql<boolean>`(tenant_id, key) > (${last.tenant_id}::uuid, ${last.key})`).execute()
    : rows.execute();
}

/** Returns false when the row has changed since `before` was read. It then stays as it is. */
export async function replaceVariable(db: SharedDb, before: SealedVariable, after: SealedVariable): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('variables')
    .set({ value_plain: after.value_plain, value_sealed: after.value_sealed })
    .where('tenant_id', '=', before.tenant_id)
    .where('key', '=', before.key)
    .where('value_plain', 'is not distinct from', before.value_plain)
    .where('value_sealed', 'is not distinct from', before.value_sealed)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export type SealedTrigger = {
  tenant_id: string;
  id: number;
  attempt_id: string | null;
  kwargs: string;
  next_kwargs: string;
};

/** Triggers of tasks only. Arguments of a DAG's watchers and callbacks are public in its version. */
export function triggersAfter(db: SharedDb, last: SealedTrigger | undefined, size: number): Promise<SealedTrigger[]> {
  const rows = db
    .selectFrom('triggers')
    .select(['tenant_id', 'id', 'attempt_id', 'kwargs', 'next_kwargs'])
    .where('kind', '=', 'task')
    .orderBy('tenant_id')
    .orderBy('id')
    .limit(size);
  return last
    ? rows.where(sql<boolean>`(tenant_id, id) > (${last.tenant_id}::uuid, ${last.id}::bigint)`).execute()
    : rows.execute();
}

/** Returns false when the trigger has changed or is gone. */
export async function replaceTrigger(db: SharedDb, before: SealedTrigger, after: SealedTrigger): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('triggers')
    .set({ kwargs: after.kwargs, next_kwargs: after.next_kwargs })
    .where('tenant_id', '=', before.tenant_id)
    .where('id', '=', before.id)
    .where('kwargs', '=', before.kwargs)
    .where('next_kwargs', '=', before.next_kwargs)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
