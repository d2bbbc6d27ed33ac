/** Metrics of work: what has happened, and the totals that schedulers keep (migration 0041). */
import type { Generated } from 'kysely';
import type { GivenTimestamp } from './columns.ts';

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
  | 'finished_upstream_failed'
  | 'finished_removed';
export type WorkDuration =
  | 'task'
  | 'queued'
  | 'scheduled'
  | 'run_success'
  | 'run_failed'
  | 'run_delay'
  | 'first_task_delay';

/** Counts of a tenant, such as those of operators. */
export type WorkTotalsOfTenantsTable = { tenant_id: string; metric: string; label: string; count: number };

/** The process that exports the metrics of work, one for each way of export. */
export type WorkLeasesTable = { name: string; holder: string; until: GivenTimestamp };
