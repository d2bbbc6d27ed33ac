/** The removal of old runs: the process that does it, and what is left to remove. */
import type { Generated } from 'kysely';
import type { NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type PruneStateTable = {
  is_only: Generated<boolean>;
  lease_by: string | null;
  lease_holder: string | null;
  lease_until: NullableTimestamp;
  finished_at: NullableTimestamp;
};

export type LogsOfRemovedRunsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  dag_id: string;
  run_id: string;
  removed_at: Timestamp;
};
