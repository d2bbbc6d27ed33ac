/** Every variable and connection of a tenant, as stored: what is secret is sealed. */
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
