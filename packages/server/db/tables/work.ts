/** Metrics of work: what has happened, and the totals that schedulers keep (migration 0041). */
import type { Generated } from 'kysely';
import type { GivenTimestamp, TenantId, Timestamp } from './columns.ts';

export type WorkFactsTable = {
  id: Generated<number>;
  tenant_id: string;
  dag_id: Generated<string>;
  kind: 'attempt' | 'run_started' | 'run_ended' | 'asset_event' | 'asset_run';
  state: string | null;
  has_run: Generated<boolean>;
  task_id: Generated<string>;
  operator: string | null;
  cause: string | null;
  run: number | null;
  seconds: number | null;
  queued_seconds: number | null;
  scheduled_seconds: number | null;
  at: Timestamp;
  queue: string | null;
  /** Of a try that has ended: JSON (engine/shared/usage.ts). */
  usage: string | null;
};

/** The other columns are those of work/work-columns.ts. */
export type WorkTotalsTable = {
  tenant_id: string;
  dag_id: string;
  /** Empty: of the DAG, and of all its tasks that are not counted one by one. */
  task_id: string;
} & Record<WorkCounter | `${WorkDuration}_count` | `${WorkDuration}_seconds`, number>;

export type WorkCounter =
  | 'started'
  | 'finished_success'
  | 'finished_failed'
  | 'finished_skipped'
  | 'finished_up_for_retry'
  | 'finished_up_for_reschedule'
  | 'finished_deferred'
  | 'finished_awaiting_input'
  | 'finished_upstream_failed'
  | 'finished_removed';
export type WorkDuration =
  | 'task'
  | 'queued'
  | 'scheduled'
  | 'run_success'
  | 'run_failed'
  | 'run_delay'
  | 'first_task_delay'
  | 'cpu'
  | 'process'
  | 'memory';

/** Counts of a tenant, such as those of operators. */
export type WorkTotalsOfTenantsTable = { tenant_id: string; metric: string; label: string; count: number };

/** What the tries of a task that ended on a day (UTC) have used (migration 0049). */
export type UsageDaysTable = {
  tenant_id: TenantId;
  day: string;
  dag_id: string;
  task_id: string;
  queue: string;
  tries: number;
  seconds: number;
  cpu_seconds: number;
  gib_seconds: number;
  memory_bytes: number;
  read_bytes: number;
  written_bytes: number;
};

/** How long the tries of a DAG that ended on a day (UTC) have waited, by reason. */
export type WaitDaysTable = { tenant_id: TenantId; day: string; dag_id: string; reason: string; seconds: number };

/** The process that exports the metrics of work, one for each way of export. */
export type WorkLeasesTable = { name: string; holder: string; until: GivenTimestamp };
