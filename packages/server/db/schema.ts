/** The tables as TypeScript sees them. The migrations are the truth; this mirrors them. */
import type { ColumnType, Generated } from 'kysely';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';

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

type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

type DagsTable = {
  tenant_id: TenantId;
  dag_id: string;
  display_name: string;
  description: string | null;
  fileloc: string;
  relative_fileloc: string | null;
  bundle_name: string;
  bundle_version: string | null;
  owners: string[];
  tags: string[];
  is_paused: boolean;
  is_stale: Generated<boolean>;
  timetable: ColumnType<TimetableSpec, string, string>;
  timetable_summary: string | null;
  timetable_description: string | null;
  catchup: boolean;
  max_active_runs: number;
  max_active_tasks: number;
  max_consecutive_failed_dag_runs: number;
  has_task_concurrency_limits: boolean;
  next_dagrun_logical_date: NullableTimestamp;
  next_dagrun_data_interval_start: NullableTimestamp;
  next_dagrun_data_interval_end: NullableTimestamp;
  next_dagrun_run_after: NullableTimestamp;
  current_version: number;
  last_parsed_at: Timestamp;
  last_parse_seconds: number | null;
  created_at: Timestamp;
};

type DagVersionsTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  dag_id: string;
  version_number: number;
  content_hash: string;
  spec: string;
  source: string | null;
  bundle_name: string;
  bundle_version: string | null;
  bundle_url: string | null;
  image: string | null;
  created_at: Timestamp;
};

type DagFavoritesTable = { tenant_id: TenantId; user_id: string; dag_id: string };

type ImportErrorsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  bundle_name: string;
  filename: string;
  stack_trace: string;
  at: Timestamp;
};

type DagWarningsTable = { tenant_id: TenantId; dag_id: string; warning_type: string; message: string; at: Timestamp };

/** Tables whose rows belong to a tenant. */
export type TenantTables = {
  roles: RolesTable;
  users: UsersTable;
  user_roles: UserRolesTable;
  sessions: SessionsTable;
  connections: ConnectionsTable;
  variables: VariablesTable;
  audit_log: AuditLogTable;
  dags: DagsTable;
  dag_versions: DagVersionsTable;
  dag_favorites: DagFavoritesTable;
  import_errors: ImportErrorsTable;
  dag_warnings: DagWarningsTable;
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
  dags: true,
  dag_versions: true,
  dag_favorites: true,
  import_errors: true,
  dag_warnings: true,
};

export const isTenantTable = (name: string): boolean => Object.hasOwn(TENANT_TABLE_NAMES, name);
