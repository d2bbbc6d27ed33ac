/** The types of the tables, one file per group in tables/. They mirror the migrations. */
import type { AlertFactsTable, AlertRulesTable, AlertSourcesTable, AlertsTable } from './tables/alerts.ts';
import type { Selectable } from 'kysely';
import type {
  AssetAliasAssetsTable,
  AssetAliasesTable,
  AssetEventAliasesTable,
  AssetEventsTable,
  AssetQueueTable,
  AssetReferencesTable,
  AssetStatesTable,
  AssetsTable,
  DagRunAssetEventsTable,
} from './tables/assets.ts';
import type {
  ArchiveFilesTable,
  ArchivePartsTable,
  ArchiveTreesTable,
  BundlesTable,
  DeploymentsTable,
  WebhookDeliveriesTable,
} from './tables/bundles.ts';
import type {
  DagFavoritesTable,
  DagVersionsTable,
  DagWarningsTable,
  DagsTable,
  ImportErrorsTable,
  TokenExchangesTable,
  VersionsOfDeletedDagsTable,
} from './tables/dags.ts';
import type {
  AuditLogTable,
  LoginFailuresTable,
  RolesTable,
  ServiceAccountsTable,
  SessionsTable,
  SsoSessionsTable,
  TenantsTable,
  UsedSignInsTable,
  UserIdentitiesTable,
  UserRolesTable,
  UsersTable,
} from './tables/identity.ts';
import type { AirflowImportsTable } from './tables/imports.ts';
import type { GrantedIdentitiesTable, HeartbeatsTable, InstallationTable } from './tables/processes.ts';
import type {
  BackfillsTable,
  DagRunsTable,
  InstancesOfFinishedRunsTable,
  PoolsTable,
  RenderedFieldsTable,
  ReplacedXcomsTable,
  StoredValuesTable,
  TaskInstanceHistoryTable,
  TaskInstancesTable,
  TaskStatesTable,
  XcomsTable,
} from './tables/runs.ts';
import type { LogsOfRemovedRunsTable, PruneStateTable } from './tables/pruning.ts';
import type { ConnectionsTable, VariablesTable, VaultChangesTable } from './tables/secrets.ts';
import type { LogChunksTable, LogRemovalsTable, LogStoreStateTable, TaskLogsTable } from './tables/task-logs.ts';
import type {
  AssetWatchersTable,
  CallbackRequestsTable,
  DeadlinesTable,
  HitlRequestsTable,
  TriggerersTable,
  TriggersTable,
} from './tables/waiting.ts';
import type {
  UsageDaysTable,
  WaitDaysTable,
  WorkFactsTable,
  WorkLeasesTable,
  WorkTotalsOfTenantsTable,
  WorkTotalsTable,
} from './tables/work.ts';
import type { WorkerTokensTable, WorkersTable } from './tables/workers.ts';

export type { Moment } from './tables/columns.ts';
export type { AssetRole } from './tables/assets.ts';
export type { DatabaseRole, ExecutorFacts } from './tables/processes.ts';
export type { CountedState, ReprocessBehavior, StateCounts } from './tables/runs.ts';
export type { HitlParam, Person } from './tables/waiting.ts';

/** Tables whose rows belong to a tenant. */
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
  vault_changes: VaultChangesTable;
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
  replaced_xcoms: ReplacedXcomsTable;
  task_states: TaskStatesTable;
  stored_values: StoredValuesTable;
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
  asset_states: AssetStatesTable;
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
  logs_of_removed_runs: LogsOfRemovedRunsTable;
  airflow_imports: AirflowImportsTable;
  worker_tokens: WorkerTokensTable;
  bundles: BundlesTable;
  deployments: DeploymentsTable;
  archive_trees: ArchiveTreesTable;
  archive_files: ArchiveFilesTable;
  archive_parts: ArchivePartsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  alert_rules: AlertRulesTable;
  alerts: AlertsTable;
  alert_sources: AlertSourcesTable;
  usage_days: UsageDaysTable;
  wait_days: WaitDaysTable;
};

/** Tables without a tenant, or across tenants. */
export type SharedTables = {
  tenants: TenantsTable;
  login_failures: LoginFailuresTable;
  used_sign_ins: UsedSignInsTable;
  heartbeats: HeartbeatsTable;
  installation: InstallationTable;
  granted_identities: GrantedIdentitiesTable;
  log_store_state: LogStoreStateTable;
  workers: WorkersTable;
  prune_state: PruneStateTable;
  alert_facts: AlertFactsTable;
  work_facts: WorkFactsTable;
  work_totals: WorkTotalsTable;
  work_totals_of_tenants: WorkTotalsOfTenantsTable;
  work_leases: WorkLeasesTable;
};

export type AllTables = TenantTables & SharedTables;

/** Whole rows of `dag_runs` and `task_instances`, as they are read. */
export type RunRow = Selectable<TenantTables['dag_runs']>;
export type InstanceRow = Selectable<TenantTables['task_instances']>;
export type TriggerRow = Selectable<TenantTables['triggers']>;

/**
 * The table names for the tenant scope. Typed so that a table that is added above but missing here does not compile.
 */
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
  vault_changes: true,
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
  replaced_xcoms: true,
  task_states: true,
  stored_values: true,
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
  asset_states: true,
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
  logs_of_removed_runs: true,
  airflow_imports: true,
  worker_tokens: true,
  bundles: true,
  deployments: true,
  archive_trees: true,
  archive_files: true,
  archive_parts: true,
  webhook_deliveries: true,
  alert_rules: true,
  alerts: true,
  alert_sources: true,
  usage_days: true,
  wait_days: true,
};

export const isTenantTable = (name: string): boolean => Object.hasOwn(TENANT_TABLE_NAMES, name);
