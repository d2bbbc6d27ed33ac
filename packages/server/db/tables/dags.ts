/** DAGs, their versions, and the errors and warnings of their files. */
import type { ColumnType, Generated } from 'kysely';
import type { InstalledProvider } from '@svc/spec/installed-providers.ts';
import type { PluginsSection } from '@svc/spec/schema.ts';
import type { ValueRead } from '@svc/spec/values-read.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type DagsTable = {
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
  /** The plugins of its bundle, as the newest version found them. Null: none. */
  plugins: ColumnType<PluginsSection | null, string | null | undefined, string | null>;
  /** What its file read when it was compiled last. Null: nothing. */
  values_read: ColumnType<ValueRead[] | null, string | null | undefined, string | null>;
  /** When the timetable must be asked for more runs. Null: never. */
  timetable_ask_at: NullableTimestamp;
  start_date: NullableTimestamp;
  end_date: NullableTimestamp;
  current_version: number;
  last_parsed_at: Timestamp;
  last_parse_seconds: number | null;
  /** The providers in the environment of its tasks, as the compiler or a worker reported them. Null: unknown. */
  installed_providers: ColumnType<InstalledProvider[] | null, string | null | undefined, string | null>;
  /** The tree of its new runs, `<hash>/<folder>`. Null: it belongs to no bundle. */
  tree: string | null;
  created_at: Timestamp;
};

export type DagVersionsTable = {
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
  /** What the file read when the version was made. Null: nothing. */
  values_read: ColumnType<ValueRead[] | null, string | null | undefined, never>;
  created_at: Timestamp;
};

export type TokenExchangesTable = { tenant_id: TenantId; pod_uid: string; attempt_id: string; at: Timestamp };

export type DagFavoritesTable = { tenant_id: TenantId; user_id: string; dag_id: string };

export type ImportErrorsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  bundle_name: string;
  filename: string;
  stack_trace: string;
  at: Timestamp;
};

export type DagWarningsTable = {
  tenant_id: TenantId;
  dag_id: string;
  warning_type: string;
  message: string;
  at: Timestamp;
};

export type VersionsOfDeletedDagsTable = { tenant_id: TenantId; dag_id: string; last_version_number: number };
