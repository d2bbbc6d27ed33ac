/** What was brought over from elsewhere. */
import type { NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type AirflowImportsTable = {
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
