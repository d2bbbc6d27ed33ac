/** Workers, and the tokens with which workers on other hosts join. */
import type { ColumnType, Generated } from 'kysely';
import type { NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type WorkerKind = 'local' | 'warm' | 'remote';
export type WorkerState = 'starting' | 'idle' | 'busy' | 'draining' | 'lost' | 'gone';

export type WorkersTable = {
  id: string;
  /** Null: it serves all tenants. */
  tenant_id: string | null;
  kind: WorkerKind;
  name: string;
  pool: string;
  queues: ColumnType<string[], string[] | undefined, string[]>;
  token_id: string | null;
  dag_id: string | null;
  version_number: number | null;
  hostname: Generated<string>;
  pid: number | null;
  agent_version: Generated<string>;
  state: WorkerState;
  slots: number;
  running: Generated<number>;
  attempts_served: Generated<number>;
  started_at: Timestamp;
  last_seen_at: Timestamp;
  owner: Generated<string>;
  drain_requested_at: NullableTimestamp;
  drain_requested_by: string | null;
  drain_why: string | null;
  ended_why: string | null;
};

export type WorkerTokensTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  queues: string[];
  token_hash: Buffer;
  token_start: string;
  comment: Generated<string>;
  created_by: string;
  created_at: Timestamp;
  expires_at: NullableTimestamp;
  last_used_at: NullableTimestamp;
};
