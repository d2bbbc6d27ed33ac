/**
 * What each role of the control plane may do with each table. The migrations belong to a third identity, the owner of the
 * tables, which no running process needs: `svc db migrate` uses it, and so may a scheduler that migrates by itself.
 *
 * `api` serves people: it writes what they cause, runs and their task instances included. It cannot give out attempts, renew
 * leases, see exchanged pod tokens, change what was audited or what roles permit, rename or delete tenants, or speak for a
 * scheduler. `scheduler` reads and writes what it works on, and like `api` changes neither the schema nor the audit log.
 *
 * A table that is missing here does not compile, and one that the database has beside these fails the tests.
 */
import type { AllTables, DatabaseRole } from '../schema.ts';

/** `except`: every column but these; `only`: these. */
export type Privilege = true | { except: readonly string[] } | { only: readonly string[] };
export type Privileges = { select?: true; insert?: Privilege; update?: Privilege; delete?: true };

const READ: Privileges = { select: true };
const APPEND: Privileges = { select: true, insert: true };
const WRITE: Privileges = { select: true, insert: true, update: true, delete: true };
const NONE: Privileges = {};

type Grants = Readonly<Record<keyof AllTables | MigrationTable, Readonly<Record<DatabaseRole, Privileges>>>>;
/** Kysely's own: which migrations have run. */
type MigrationTable = 'kysely_migration' | 'kysely_migration_lock';

const both = (privileges: Privileges): Record<DatabaseRole, Privileges> => ({
  api: privileges,
  scheduler: privileges,
});

export const GRANTS: Grants = {
  // Who may come in.
  tenants: {
    api: { select: true, insert: { only: ['name'] }, update: { only: ['disabled_at'] } },
    scheduler: { select: true, insert: true, update: true },
  },
  // With a tenant its roles are made. To lock a row takes the right to update a column of it: one whose change the keys of the
  // table refuse.
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
  // What they keep here.
  connections: both(WRITE),
  variables: both(WRITE),
  // Counted by the database itself.
  vault_changes: both(READ),
  pools: both(WRITE),
  dag_favorites: both(WRITE),
  // DAGs.
  dags: both(WRITE),
  versions_of_deleted_dags: both(WRITE),
  dag_versions: both(WRITE),
  import_errors: both(WRITE),
  dag_warnings: both(WRITE),
  // Runs. Who may write `given_by` may give out attempts: migration 0023.
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
  xcoms: both(WRITE),
  rendered_fields: { api: { select: true, delete: true }, scheduler: WRITE },
  callback_requests: {
    api: { select: true, insert: { except: ['attempt_id', 'started_at', 'answer', 'problem'] } },
    scheduler: WRITE,
  },
  questions: { api: { select: true, update: true }, scheduler: WRITE },
  // What is waited for is decided by tasks and watched by schedulers; who clears a task or deletes a run takes it away.
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
  // Logs in object stores: who clears a task or reads its log is not who writes it.
  task_logs: { api: { select: true, delete: true }, scheduler: WRITE },
  log_chunks: { api: READ, scheduler: WRITE },
  log_removals: both(WRITE),
  // Old runs are removed by schedulers, and on the host.
  logs_of_removed_runs: { api: NONE, scheduler: WRITE },
  prune_state: { api: NONE, scheduler: { select: true, update: { except: ['is_only'] } } },
  // What `svc migrate` has done, which works as the owner of the tables.
  airflow_imports: both(NONE),
  log_store_state: { api: READ, scheduler: { select: true, update: true } },
  // Processes, and the schema.
  heartbeats: { api: READ, scheduler: WRITE },
  installation: { api: READ, scheduler: { select: true, update: { except: ['is_only', 'id', 'created_at'] } } },
  granted_identities: both(NONE),
  // Who may ask for a worker to leave does not say what became of it.
  workers: {
    api: { select: true, update: { only: ['drain_requested_at', 'drain_requested_by', 'drain_why'] } },
    scheduler: WRITE,
  },
  worker_tokens: both(WRITE),
  kysely_migration: both(READ),
  kysely_migration_lock: { api: NONE, scheduler: READ },
};
