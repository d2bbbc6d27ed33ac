/** The tables as TypeScript sees them. The migrations are the truth; this mirrors them. */
import type { ColumnType, Generated, Selectable } from 'kysely';
import type { RunState, RunType, TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import type { PluginsSection } from '@svc/spec/schema.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';

/** ISO 8601 in UTC with microseconds, as pool.ts reads it: a JavaScript Date would lose the last three digits. */
export type Moment = string;
type Timestamp = ColumnType<Moment, Date | string | undefined, Date | string>;
/** Present in every row, filled in by the tenant scope: never written by hand. */
type TenantId = ColumnType<string, string | undefined, never>;

type TenantsTable = {
  id: Generated<string>;
  name: string;
  created_at: Timestamp;
  /** Null: it is in use. */
  disabled_at: ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;
};

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
  expires_at: ColumnType<Moment, Date | string, Date | string>;
  ended_at: ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;
};

type ServiceAccountsTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  name: string;
  role_name: string;
  token_hash: Buffer;
  /** Enough of the token to recognise it by, and far too little to use. */
  token_start: string;
  created_by: string;
  created_at: Timestamp;
  expires_at: ColumnType<Moment, Date | string, Date | string>;
  last_used_at: ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;
};

type UserIdentitiesTable = {
  tenant_id: TenantId;
  issuer: string;
  subject: string;
  user_id: string;
  bound_at: Timestamp;
  last_login_at: Timestamp;
};

type SsoSessionsTable = { tenant_id: TenantId; session_id: string; id_token_sealed: string };

type UsedSignInsTable = { id_hash: string; used_at: Timestamp };

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
  id: ColumnType<number, never, never>;
  process_id: string;
  component: string;
  hostname: string;
  version: string;
  started_at: Timestamp;
  last_seen_at: Timestamp;
  stopped_at: ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;
  /** With what a scheduler runs tasks. */
  executor: ColumnType<ExecutorFacts | null, string | null | undefined, string | null>;
};

/** What a scheduler tells of its executor, as `/monitor/executor` shows it. */
export type ExecutorFacts = {
  pod_dispatch_enabled: boolean;
  task_namespace: string;
  agent_control_plane_addr: string;
  execution_modes: string[];
};

type InstallationTable = {
  is_only: Generated<boolean>;
  id: Generated<string>;
  created_at: Timestamp;
  logs_marked_at: NullableTimestamp;
};

type GrantedIdentitiesTable = { pg_user: string; role: DatabaseRole; granted_at: Timestamp };

/** What an identity of the database is for: grants/privileges.ts. */
export type DatabaseRole = 'api' | 'scheduler';

type NullableTimestamp = ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;

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
  /** Null: all. */
  allowed_run_types: string[] | null;
  next_dagrun_logical_date: NullableTimestamp;
  next_dagrun_data_interval_start: NullableTimestamp;
  next_dagrun_data_interval_end: NullableTimestamp;
  next_dagrun_run_after: NullableTimestamp;
  /** Of its bundle, as the newest version found them; null: none. */
  plugins: ColumnType<PluginsSection | null, string | null | undefined, string | null>;
  /** When the timetable is to be asked for more runs; null: it need not be. */
  timetable_ask_at: NullableTimestamp;
  start_date: NullableTimestamp;
  end_date: NullableTimestamp;
  current_version: number;
  last_parsed_at: Timestamp;
  last_parse_seconds: number | null;
  /** Of the environment its tasks run in; null until one has run. */
  installed_providers: ColumnType<InstalledProvider[] | null, string | null | undefined, string | null>;
  created_at: Timestamp;
};

/** A provider package as its own metadata has it. */
export type InstalledProvider = {
  name: string;
  version: string;
  summary: string;
  /** Where it says that its documentation is; older workers do not tell. */
  documentation_url?: string | null;
  /** Left out when it declares none. */
  connection_types?: ConnectionTypeOfProvider[];
};

/** For the form of connections, by names of Airflow's fields (`schema`, `extra`). */
export type ConnectionTypeOfProvider = {
  type: string;
  hook_class: string | null;
  name: string;
  hidden: string[];
  titles: Record<string, string>;
  placeholders: Record<string, string>;
  /** Kept in `extra`. */
  extra: Record<string, { label: string; description?: string; schema: Record<string, unknown> }>;
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

type TokenExchangesTable = { tenant_id: TenantId; pod_uid: string; attempt_id: string; at: Timestamp };

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

type PoolsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  name: string;
  /** -1: no limit. */
  slots: number;
  description: string | null;
  include_deferred: Generated<boolean>;
  created_at: Timestamp;
};

type Json<T> = ColumnType<T, string | undefined, string>;

type DagRunsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  dag_id: string;
  run_id: string;
  run_type: RunType;
  state: RunState;
  logical_date: NullableTimestamp;
  data_interval_start: NullableTimestamp;
  data_interval_end: NullableTimestamp;
  run_after: Timestamp;
  queued_at: NullableTimestamp;
  start_date: NullableTimestamp;
  end_date: NullableTimestamp;
  duration: ColumnType<number | null, never, never>;
  conf: Json<Record<string, unknown>>;
  triggered_by: string;
  triggering_user_name: string | null;
  note: string | null;
  note_user: string | null;
  version_number: number;
  backfill_id: number | null;
  partition_key: string | null;
  /** Of the run of a partition schedule: what its key was made from. */
  partition_date: NullableTimestamp;
  state_counts: Json<StateCounts>;
  timeout_at: NullableTimestamp;
  created_at: Timestamp;
};

/**
 * Instances of a run by state, exact because it is written only under the run's lock. No status is `none`; what changes
 * without that lock (scheduled, queued, running, restarting, deferred) is one number, `live`: few rows with an index of their own.
 */
export type StateCounts = Partial<Record<CountedState, number>>;
export type CountedState =
  | 'none'
  | 'live'
  | Exclude<TaskState, 'scheduled' | 'queued' | 'running' | 'restarting' | 'deferred'>;

type TaskInstancesTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: Generated<number>;
  id: Generated<string>;
  dag_id: string;
  state: TaskStateOrNone;
  try_number: Generated<number>;
  max_tries: number;
  attempt_id: string | null;
  given_by: Generated<string | null>;
  claimable: Generated<boolean>;
  waits: string | null;
  /** Its shown name. */
  operator: string;
  /** Null when that is its shown name, too. */
  operator_class: string | null;
  pool: string;
  pool_slots: number;
  priority_weight: number;
  queue: string;
  max_active_tis_per_dag: number | null;
  upstream: string;
  /** JSON list. */
  skips: string | null;
  scheduled_at: NullableTimestamp;
  queued_at: NullableTimestamp;
  start_date: NullableTimestamp;
  end_date: NullableTimestamp;
  duration: ColumnType<number | null, never, never>;
  due_at: NullableTimestamp;
  first_poke_at: NullableTimestamp;
  heartbeat_at: NullableTimestamp;
  hostname: Generated<string>;
  pid: number | null;
  failure_reason: string | null;
  failure_detail: string | null;
  note: string | null;
  note_user: string | null;
  rendered_map_index: string | null;
  version_number: number;
  updated_at: Timestamp;
};

type TaskInstanceHistoryTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: number;
  try_number: number;
  id: string;
  dag_id: string;
  state: TaskStateOrNone;
  max_tries: number;
  attempt_id: string | null;
  operator: string;
  pool: string;
  pool_slots: number;
  priority_weight: number;
  queue: string;
  scheduled_at: NullableTimestamp;
  queued_at: NullableTimestamp;
  start_date: NullableTimestamp;
  end_date: NullableTimestamp;
  duration: ColumnType<number | null, never, never>;
  hostname: string;
  pid: number | null;
  failure_reason: string | null;
  failure_detail: string | null;
  rendered_map_index: string | null;
  version_number: number;
};

/** Kept by a trigger (migrations 0006 and 0010): the sum of all rows of a DAG is what its finished runs have, and how many they are. */
type InstancesOfFinishedRunsTable = {
  tenant_id: TenantId;
  dag_id: string;
  id: Generated<number>;
  runs_success: Generated<number>;
  runs_failed: Generated<number>;
} & Record<CountedState, number>;

type XcomsTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: Generated<number>;
  key: string;
  dag_id: string;
  value: string;
  length: number | null;
  at: Timestamp;
  /** New with every write; null: written before there were any. */
  version: Generated<string | null>;
};

type RenderedFieldsTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: Generated<number>;
  fields: string;
};

type CallbackRequestsTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  /** Null: a question about a timetable. */
  run: number | null;
  dag_id: string;
  task_id: string | null;
  map_index: number | null;
  try_number: number | null;
  which: string;
  reason: string;
  /** Of questions: whose timetable, what is asked, and what came of it. */
  version_number: number | null;
  question: ColumnType<unknown, string | null | undefined, string | null>;
  answer: ColumnType<unknown, string | null | undefined, string | null>;
  problem: string | null;
  state: Generated<string>;
  attempt_id: string | null;
  created_at: Timestamp;
  started_at: NullableTimestamp;
};

export type HitlParam = { value: unknown; description: string | null; schema: Record<string, unknown> };
export type Person = { id: string; name: string };

type HitlRequestsTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: number;
  try_number: number;
  dag_id: string;
  subject: string;
  body: string | null;
  options: string[];
  defaults: string[] | null;
  multiple: boolean;
  params: Json<Record<string, HitlParam>>;
  assigned_users: Json<Person[]>;
  created_at: Timestamp;
  expires_at: NullableTimestamp;
  responded_at: NullableTimestamp;
  responded_by_id: string | null;
  responded_by_name: string | null;
  chosen_options: string[] | null;
  params_input: Json<Record<string, unknown>>;
};

type TriggerersTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  place: string;
  dag_id: string;
  version_number: number;
  created_at: Timestamp;
  started_at: NullableTimestamp;
  heartbeat_at: Timestamp;
  hostname: Generated<string>;
};

type TriggersTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  kind: 'task' | 'asset' | 'callback';
  dag_id: string;
  version_number: number;
  run: number | null;
  task_id: string | null;
  map_index: number | null;
  try_number: number | null;
  attempt_id: string | null;
  hash: string | null;
  class_path: string;
  kwargs: string;
  next_method: Generated<string>;
  next_kwargs: Generated<string>;
  created_at: Timestamp;
  timeout_at: NullableTimestamp;
  fires_at: NullableTimestamp;
  event: string | null;
  fired_at: NullableTimestamp;
  triggerer_id: string | null;
  failures: Generated<number>;
  awaits: string | null;
  awaits_dag_id: string | null;
  awaits_runs: string[] | null;
};

type AssetWatchersTable = {
  tenant_id: TenantId;
  dag_id: string;
  asset_name: string;
  asset_uri: string;
  name: string;
  version_number: number;
  hash: string;
  class_path: string;
  kwargs: string;
};

type DeadlinesTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  run: number;
  dag_id: string;
  position: number;
  deadline_time: Timestamp;
  created_at: Timestamp;
  missed_at: NullableTimestamp;
  kept_at: NullableTimestamp;
};

export type ReprocessBehavior = 'none' | 'failed' | 'completed';

type BackfillsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  dag_id: string;
  from_date: ColumnType<Moment, string, never>;
  to_date: ColumnType<Moment, string, never>;
  dag_run_conf: ColumnType<Record<string, unknown> | null, string | null, never>;
  reprocess_behavior: ReprocessBehavior;
  max_active_runs: number;
  run_backwards: boolean;
  is_paused: Generated<boolean>;
  triggering_user_name: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  completed_at: NullableTimestamp;
};

type AssetsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  name: string;
  uri: string;
  group_name: string;
  extra: Json<Record<string, unknown>>;
  created_at: Timestamp;
  updated_at: Timestamp;
};

type AssetAliasesTable = { tenant_id: TenantId; id: Generated<number>; name: string; group_name: string };

type AssetAliasAssetsTable = { tenant_id: TenantId; alias_id: number; asset_id: number };

export type AssetRole = 'schedule' | 'outlet' | 'inlet';

type AssetReferencesTable = {
  tenant_id: TenantId;
  dag_id: string;
  role: AssetRole;
  /** Empty for the schedule, which belongs to the DAG. */
  task_id: Generated<string>;
  target: 'asset' | 'alias' | 'name' | 'uri';
  target_id: Generated<number>;
  target_text: Generated<string>;
  created_at: Timestamp;
  updated_at: Timestamp;
};

type AssetEventsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  asset_id: number;
  extra: Json<Record<string, unknown>>;
  source_dag_id: string | null;
  source_task_id: string | null;
  source_run_id: string | null;
  source_map_index: Generated<number>;
  partition_key: string | null;
  at: Timestamp;
};

type AssetEventAliasesTable = { tenant_id: TenantId; event_id: number; alias_id: number };

type AssetQueueTable = {
  tenant_id: TenantId;
  /** Of the run that waits for the event; null: of the DAG's next one. */
  partition_key: string | null;
  dag_id: string;
  event_id: number;
  asset_id: number;
  is_considered: Generated<boolean>;
  created_at: Timestamp;
};

type DagRunAssetEventsTable = { tenant_id: TenantId; run: number; event_id: number };

/** Tables whose rows belong to a tenant. */
type VersionsOfDeletedDagsTable = { tenant_id: TenantId; dag_id: string; last_version_number: number };

type TaskLogsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  dag_id: string;
  run_id: string;
  task_id: string;
  map_index: number;
  try_number: number;
  length: number;
  appended_from: Generated<number>;
  appended_at: Timestamp;
  object_size: Generated<number>;
  object_tag: string | null;
  parts: ColumnType<{ at: number; to: number }[], string | undefined, string>;
  stored: Generated<number>;
  stored_at: NullableTimestamp;
  lease_by: string | null;
  lease_until: NullableTimestamp;
};

type LogChunksTable = { tenant_id: TenantId; log_id: number; at: number; bytes: Buffer };

type LogRemovalsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  dag_id: string;
  run_id: string | null;
  task_id: string | null;
  map_index: number | null;
  try_number: number | null;
  lease_by: string | null;
  lease_until: NullableTimestamp;
};

type LogStoreStateTable = {
  is_only: Generated<boolean>;
  away_since: NullableTimestamp;
  reason: string | null;
  listed_at: NullableTimestamp;
};

type AirflowImportsTable = {
  tenant_id: TenantId;
  /** Where it comes from, without credentials. */
  source: string;
  kind: string;
  /** What was asked for: which DAGs, since when. */
  scope: string;
  /** Up to where it is done; null when all is. */
  position: string | null;
  started_at: Timestamp;
  updated_at: Timestamp;
  finished_at: NullableTimestamp;
};

export type TenantTables = {
  roles: RolesTable;
  users: UsersTable;
  user_roles: UserRolesTable;
  sessions: SessionsTable;
  service_accounts: ServiceAccountsTable;
  user_identities: UserIdentitiesTable;
  sso_sessions: SsoSessionsTable;
  connections: ConnectionsTable;
  variables: VariablesTable;
  audit_log: AuditLogTable;
  dags: DagsTable;
  versions_of_deleted_dags: VersionsOfDeletedDagsTable;
  dag_versions: DagVersionsTable;
  dag_favorites: DagFavoritesTable;
  import_errors: ImportErrorsTable;
  dag_warnings: DagWarningsTable;
  pools: PoolsTable;
  dag_runs: DagRunsTable;
  task_instances: TaskInstancesTable;
  task_instance_history: TaskInstanceHistoryTable;
  instances_of_finished_runs: InstancesOfFinishedRunsTable;
  xcoms: XcomsTable;
  rendered_fields: RenderedFieldsTable;
  callback_requests: CallbackRequestsTable;
  token_exchanges: TokenExchangesTable;
  questions: HitlRequestsTable;
  triggerers: TriggerersTable;
  triggers: TriggersTable;
  asset_watchers: AssetWatchersTable;
  deadlines: DeadlinesTable;
  backfills: BackfillsTable;
  assets: AssetsTable;
  asset_aliases: AssetAliasesTable;
  asset_alias_assets: AssetAliasAssetsTable;
  asset_references: AssetReferencesTable;
  asset_events: AssetEventsTable;
  asset_event_aliases: AssetEventAliasesTable;
  asset_queue: AssetQueueTable;
  dag_run_asset_events: DagRunAssetEventsTable;
  task_logs: TaskLogsTable;
  log_chunks: LogChunksTable;
  log_removals: LogRemovalsTable;
  airflow_imports: AirflowImportsTable;
};

/** Tables that exist before, or across, tenants. */
export type SharedTables = {
  tenants: TenantsTable;
  login_failures: LoginFailuresTable;
  used_sign_ins: UsedSignInsTable;
  heartbeats: HeartbeatsTable;
  installation: InstallationTable;
  granted_identities: GrantedIdentitiesTable;
  log_store_state: LogStoreStateTable;
};

export type AllTables = TenantTables & SharedTables;

/** A whole row of `dag_runs`, and one of `task_instances`, as they are read. */
export type RunRow = Selectable<TenantTables['dag_runs']>;
export type InstanceRow = Selectable<TenantTables['task_instances']>;
export type TriggerRow = Selectable<TenantTables['triggers']>;

/** The names, for the tenant scope. Typed so that a table added above and forgotten here does not compile. */
const TENANT_TABLE_NAMES: Record<keyof TenantTables, true> = {
  roles: true,
  users: true,
  user_roles: true,
  sessions: true,
  service_accounts: true,
  user_identities: true,
  sso_sessions: true,
  connections: true,
  variables: true,
  audit_log: true,
  dags: true,
  versions_of_deleted_dags: true,
  dag_versions: true,
  dag_favorites: true,
  import_errors: true,
  dag_warnings: true,
  pools: true,
  dag_runs: true,
  task_instances: true,
  task_instance_history: true,
  instances_of_finished_runs: true,
  xcoms: true,
  rendered_fields: true,
  callback_requests: true,
  token_exchanges: true,
  questions: true,
  triggerers: true,
  triggers: true,
  asset_watchers: true,
  deadlines: true,
  backfills: true,
  assets: true,
  asset_aliases: true,
  asset_alias_assets: true,
  asset_references: true,
  asset_events: true,
  asset_event_aliases: true,
  asset_queue: true,
  dag_run_asset_events: true,
  task_logs: true,
  log_chunks: true,
  log_removals: true,
  airflow_imports: true,
};

export const isTenantTable = (name: string): boolean => Object.hasOwn(TENANT_TABLE_NAMES, name);
