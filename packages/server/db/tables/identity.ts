/** Tenants, people, service accounts, and what they did. */
import type { ColumnType, Generated } from 'kysely';
import type { GivenTimestamp, NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type TenantsTable = {
  id: Generated<string>;
  name: string;
  created_at: Timestamp;
  /** Null: enabled. */
  disabled_at: NullableTimestamp;
};

export type RolesTable = { tenant_id: TenantId; name: string; permissions: string[] };

export type UsersTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  email: string;
  password_hash: string | null;
  is_active: Generated<boolean>;
  created_at: Timestamp;
};

export type UserRolesTable = { tenant_id: TenantId; user_id: string; role_name: string };

export type SessionsTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  user_id: string;
  first_login_at: Timestamp;
  expires_at: GivenTimestamp;
  ended_at: NullableTimestamp;
};

export type ServiceAccountsTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  name: string;
  role_name: string;
  token_hash: Buffer;
  /** The beginning of the token, enough to recognise it and too little to use it. */
  token_start: string;
  created_by: string;
  created_at: Timestamp;
  expires_at: GivenTimestamp;
  last_used_at: NullableTimestamp;
};

export type UserIdentitiesTable = {
  tenant_id: TenantId;
  issuer: string;
  subject: string;
  user_id: string;
  bound_at: Timestamp;
  last_login_at: Timestamp;
};

export type SsoSessionsTable = { tenant_id: TenantId; session_id: string; id_token_sealed: string };

export type UsedSignInsTable = { id_hash: string; used_at: Timestamp };

export type LoginFailuresTable = { client_ip: string; window_started_at: GivenTimestamp; failures: number };

export type AuditLogTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  at: Timestamp;
  event: string;
  actor: string | null;
  client_ip: string | null;
  request_id: string | null;
  object_kind: string;
  object_id: string;
  dag_id: string | null;
  run_id: string | null;
  task_id: string | null;
  map_index: number | null;
  try_number: number | null;
  detail: ColumnType<Record<string, unknown>, string | undefined, string>;
};
