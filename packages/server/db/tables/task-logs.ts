/** Task logs that are stored in the database, or on their way to an object store. */
import type { ColumnType, Generated } from 'kysely';
import type { NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type TaskLogsTable = {
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

export type LogChunksTable = { tenant_id: TenantId; log_id: number; at: number; bytes: Buffer };

export type LogRemovalsTable = {
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

export type LogStoreStateTable = {
  is_only: Generated<boolean>;
  away_since: NullableTimestamp;
  reason: string | null;
  listed_at: NullableTimestamp;
};
