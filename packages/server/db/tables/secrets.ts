/** Connections and variables, sealed. */
import type { Generated } from 'kysely';
import type { TenantId, Timestamp } from './columns.ts';

export type ConnectionsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  connection_id: string;
  conn_type: string;
  description: string | null;
  host: string | null;
  login: string | null;
  schema: string | null;
  port: number | null;
  password_sealed: string | null;
  extra_sealed: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
};

/** Written by Postgres triggers of the two other tables: each of their changes increases the sum of a tenant's rows. */
export type VaultChangesTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  changes: number;
};

export type VariablesTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  key: string;
  value_plain: string | null;
  value_sealed: string | null;
  description: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
};
