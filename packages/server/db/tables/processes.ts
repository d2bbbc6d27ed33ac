/** Processes of the control plane, and their identities in the database. */
import type { ColumnType, Generated } from 'kysely';
import type { Moment, NullableTimestamp, Timestamp } from './columns.ts';

export type HeartbeatsTable = {
  id: ColumnType<number, never, never>;
  process_id: string;
  component: string;
  hostname: string;
  version: string;
  /** The user of the operating system that it runs as; null where that is not known. */
  unixname: ColumnType<string | null, string | null | undefined, string | null>;
  started_at: Timestamp;
  last_seen_at: Timestamp;
  stopped_at: ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;
  /** With what a scheduler runs tasks. */
  executor: ColumnType<ExecutorFacts | null, string | null | undefined, string | null>;
};

/** What a scheduler tells of its executor, as `/monitor/executor` shows it. */
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

/** What an identity of the database is for: grants/privileges.ts. */
export type DatabaseRole = 'api' | 'scheduler';
