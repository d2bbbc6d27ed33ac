/** The tables as TypeScript sees them. The migrations are the truth; this mirrors them. */
import type { ColumnType, Generated } from 'kysely';

type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
/** Present in every row, filled in by the tenant scope: never written by hand. */
type TenantId = ColumnType<string, string | undefined, never>;

type TenantsTable = { id: Generated<string>; name: string; created_at: Timestamp };

type RolesTable = { tenant_id: TenantId; name: string; permissions: string[] };

type UsersTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  email: string;
  password_hash: string | null;
  is_active: Generated<boolean>;
  created_at: Timestamp;
};

type UserRolesTable = { tenant_id: TenantId; user_id: string; role_name: string };

type SessionsTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  user_id: string;
  first_login_at: Timestamp;
  expires_at: ColumnType<Date, Date | string, Date | string>;
  ended_at: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
};

type LoginFailuresTable = { client_ip: string; window_started_at: Timestamp; failures: number };

type ConnectionsTable = {
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

type VariablesTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  key: string;
  value_plain: string | null;
  value_sealed: string | null;
  description: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
};

type AuditLogTable = {
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

type HeartbeatsTable = {
  process_id: string;
  component: string;
  hostname: string;
  version: string;
  started_at: Timestamp;
  last_seen_at: Timestamp;
  stopped_at: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
};

/** Tables whose rows belong to a tenant. */
export type TenantTables = {
  roles: RolesTable;
  users: UsersTable;
  user_roles: UserRolesTable;
  sessions: SessionsTable;
  connections: ConnectionsTable;
  variables: VariablesTable;
  audit_log: AuditLogTable;
};

/** Tables that exist before, or across, tenants. */
export type SharedTables = {
  tenants: TenantsTable;
  login_failures: LoginFailuresTable;
  heartbeats: HeartbeatsTable;
};

export type AllTables = TenantTables & SharedTables;

/** The names, for the tenant scope. Typed so that a table added above and forgotten here does not compile. */
const TENANT_TABLE_NAMES: Record<keyof TenantTables, true> = {
  roles: true,
  users: true,
  user_roles: true,
  sessions: true,
  connections: true,
  variables: true,
  audit_log: true,
};

export const isTenantTable = (name: string): boolean => Object.hasOwn(TENANT_TABLE_NAMES, name);
