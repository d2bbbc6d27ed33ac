/** Reads every variable and connection of a tenant as stored: secrets are sealed. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { ConnectionRow } from './connections.ts';
import type { VariableRow } from './variables.ts';

export type StoredSecrets = {
  variables: Pick<VariableRow, 'key' | 'value_plain' | 'value_sealed'>[];
  connections: ConnectionRow[];
};

export async function readAllSecrets(db: TenantDb): Promise<StoredSecrets> {
  const [variables, connections] = await Promise.all([
    db.selectFrom('variables').select(['key', 'value_plain', 'value_sealed']).orderBy('key').execute(),
    db.selectFrom('connections').selectAll().orderBy('connection_id').execute(),
  ]);
  return { variables, connections };
}

/** Differs when any variable or connection of the tenant differs. Postgres triggers count their changes. */
export async function readVaultStamp(db: TenantDb): Promise<string> {
  const stamp = sql<string>`coalesce(sum(changes), 0)::text`.as('stamp');
  return (await db.selectFrom('vault_changes').select(stamp).executeTakeFirstOrThrow()).stamp;
}
