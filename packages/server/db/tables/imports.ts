/** The progress of imports. */
import type { NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type AirflowImportsTable = {
  tenant_id: TenantId;
  /** The source of the import, without credentials. */
  source: string;
  kind: string;
  /** What was requested: which DAGs, since when. */
  scope: string;
  /** The position up to which it is done. Null when everything is done. */
  position: string | null;
  started_at: Timestamp;
  updated_at: Timestamp;
  finished_at: NullableTimestamp;
};
