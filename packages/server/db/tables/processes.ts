/** Processes of the control plane, and their identities in the database. */
import type { ColumnType, Generated } from 'kysely';
import type { Moment, NullableTimestamp, Timestamp } from './columns.ts';

export type HeartbeatsTable = {
  id: ColumnType<number, never, never>;
  process_id: string;
  component: string;
  hostname: string;
  version: string;
  /** The operating system user of the process. Null when unknown. */
  unixname: ColumnType<string | null, string | null | undefined, string | null>;
  started_at: Timestamp;
  last_seen_at: Timestamp;
  stopped_at: ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;
  /** The executor with which a scheduler runs tasks. */
  executor: ColumnType<ExecutorFacts | null, string | null | undefined, string | null>;
};

/** A scheduler's facts about its executor, as `/monitor/executor` shows them. */
export type ExecutorFacts = {
  pod_dispatch_enabled: boolean;
  task_namespace: string;
  agent_control_plane_addr: string;
  execution_modes: string[];
};

export type InstallationTable = {
  is_only: Generated<boolean>;
  id: Generated<string>;
  created_at: Timestamp;
  logs_marked_at: NullableTimestamp;
};

export type GrantedIdentitiesTable = { pg_user: string; role: DatabaseRole; granted_at: Timestamp };

/** The role of a database user: grants/privileges.ts. */
export type DatabaseRole = 'api' | 'scheduler';
