/**
 * What each role of the control plane may do with each table. The migrations belong to a third user, the owner of the
 * tables. No running process needs it, except `svc db migrate` and a scheduler that migrates on its own.
 *
 * `api` serves people: it writes what they cause, including runs and their task instances. It cannot give out attempts,
 * renew leases, read exchanged pod tokens, change the audit log or the permissions of roles, rename or delete tenants,
 * or act as a scheduler. `scheduler` reads and writes its working tables. Like `api`, it changes neither the schema nor
 * the audit log.
 *
 * A table that is missing here does not compile. A table of the database that is not listed fails the tests.
 */
import type { AllTables, DatabaseRole } from '../schema.ts';

/** `except`: every column except these. `only`: just these. */
export type Privilege = true | { except: readonly string[] } | { only: readonly string[] };
export type Privileges = { select?: true; insert?: Privilege; update?: Privilege; delete?: true };

const READ: Privileges = { select: true };
const APPEND: Privileges = { select: true, insert: true };
const WRITE: Privileges = { select: true, insert: true, update: true, delete: true };
const NONE: Privileges = {};

type Grants = Readonly<Record<keyof AllTables | MigrationTable, Readonly<Record<DatabaseRole, Privileges>>>>;
/** Kysely's own tables, which record the migrations. */
type MigrationTable = 'kysely_migration' | 'kysely_migration_lock';

const both = (privileges: Privileges): Record<DatabaseRole, Privileges> => ({
  api: privileges,
  scheduler: privileges,
});

export const GRANTS: Grants = {
  // Identity.
  tenants: {
    api: { select: true, insert: { only: ['name'] }, update: { only: ['disabled_at'] } },
    scheduler: { select: true, insert: true, update: true },
  },
  // A new tenant gets its roles. Locking a row requires the right to update one of its columns, here one that the keys
  // of the table do not allow to change.
  roles: { api: { select: true, insert: true, update: { only: ['tenant_id'] } }, scheduler: WRITE },
  users: both(WRITE),
  user_roles: both(WRITE),
  service_accounts: both(WRITE),
  user_identities: both(WRITE),
  sso_sessions: both(WRITE),
  used_sign_ins: both(WRITE),
  sessions: both(WRITE),
  login_failures: both(WRITE),
  audit_log: both(APPEND),
  // Secrets and settings.
  connections: both(WRITE),
  variables: both(WRITE),
  // The database itself counts here.
  vault_changes: both(READ),
  pools: both(WRITE),
  dag_favorites: both(WRITE),
  // DAGs.
  dags: both(WRITE),
  versions_of_deleted_dags: both(WRITE),
  dag_versions: both(WRITE),
  import_errors: both(WRITE),
  bundles: both(WRITE),
  deployments: both(WRITE),
  // Schedulers sync bundles and serve agents.
  archive_trees: { api: NONE, scheduler: WRITE },
  archive_files: { api: NONE, scheduler: WRITE },
  archive_parts: { api: NONE, scheduler: WRITE },
  webhook_deliveries: both(WRITE),
  dag_warnings: both(WRITE),
  // Runs. A user that may write `given_by` may give out attempts: migration 0023.
  dag_runs: both(WRITE),
  task_instances: {
    api: {
      select: true,
      insert: { except: ['attempt_id', 'given_by', 'queued_at', 'heartbeat_at', 'hostname', 'pid'] },
      update: { except: ['given_by'] },
      delete: true,
    },
    scheduler: WRITE,
  },
  task_instance_history: both(WRITE),
  instances_of_finished_runs: both(WRITE),
  // A change of an instance or a run notes a fact: migration 0041. Schedulers add them up.
  work_facts: { api: APPEND, scheduler: WRITE },
  work_totals: { api: READ, scheduler: WRITE },
  work_totals_of_tenants: { api: READ, scheduler: WRITE },
  usage_days: { api: READ, scheduler: WRITE },
  wait_days: { api: READ, scheduler: WRITE },
  work_leases: both({ select: true, insert: true, update: true }),
  xcoms: both(WRITE),
  replaced_xcoms: both(WRITE),
  // A change of an XCom notes whether its stored value is still in use: migration 0039.
  stored_values: { api: { select: true, update: { only: ['unused_since'] } }, scheduler: WRITE },
  task_states: both(WRITE),
  asset_states: both(WRITE),
  rendered_fields: { api: { select: true, delete: true }, scheduler: WRITE },
  callback_requests: {
    api: { select: true, insert: { except: ['attempt_id', 'started_at', 'answer', 'problem'] } },
    scheduler: WRITE,
  },
  questions: { api: { select: true, update: true }, scheduler: WRITE },
  // Tasks create triggers and schedulers watch them. A user that clears a task or deletes a run removes them.
  triggerers: { api: READ, scheduler: WRITE },
  triggers: { api: { select: true, delete: true }, scheduler: WRITE },
  asset_watchers: both(WRITE),
  deadlines: { api: { select: true, insert: { except: ['missed_at', 'kept_at'] }, delete: true }, scheduler: WRITE },
  backfills: both(WRITE),
  token_exchanges: { api: NONE, scheduler: WRITE },
  // Assets.
  assets: both(WRITE),
  asset_aliases: both(WRITE),
  asset_alias_assets: both(WRITE),
  asset_references: both(WRITE),
  asset_events: both(WRITE),
  asset_event_aliases: both(WRITE),
  asset_queue: both(WRITE),
  dag_run_asset_events: both(WRITE),
  // Logs in object stores: the process that clears a task or reads its log does not write the log.
  task_logs: { api: { select: true, delete: true }, scheduler: WRITE },
  log_chunks: { api: READ, scheduler: WRITE },
  log_removals: both(WRITE),
  // Schedulers remove old runs, and so does a person on the host.
  logs_of_removed_runs: { api: NONE, scheduler: WRITE },
  prune_state: { api: NONE, scheduler: { select: true, update: { except: ['is_only'] } } },
  // The progress of `svc migrate`, which works as the owner of the tables.
  airflow_imports: both(NONE),
  log_store_state: { api: READ, scheduler: { select: true, update: true } },
  // Processes, and the schema.
  heartbeats: { api: READ, scheduler: WRITE },
  installation: { api: READ, scheduler: { select: true, update: { except: ['is_only', 'id', 'created_at'] } } },
  granted_identities: both(NONE),
  // A process that may ask a worker to leave may not report its end.
  workers: {
    api: { select: true, update: { only: ['drain_requested_at', 'drain_requested_by', 'drain_why'] } },
    scheduler: WRITE,
  },
  worker_tokens: both(WRITE),
  // A change of an instance, a run or a file notes a fact: migration 0046. Schedulers send the alerts.
  alert_rules: both(WRITE),
  alert_facts: { api: APPEND, scheduler: WRITE },
  alerts: both(WRITE),
  alert_sources: both(WRITE),
  kysely_migration: both(READ),
  kysely_migration_lock: { api: NONE, scheduler: READ },
};
