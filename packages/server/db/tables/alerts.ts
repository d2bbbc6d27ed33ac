/** Alerts: rules, facts of work that rules may match, and messages to send (migrations 0046, 0050). */
import type { Generated } from 'kysely';
import type { GivenTimestamp, NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type AlertRulesTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  name: string;
  /** Empty: made by a user. Otherwise it belongs to this DAG, and a new version of the DAG replaces it. */
  source: Generated<string>;
  events: string[];
  dags: Generated<string[]>;
  tags: Generated<string[]>;
  owners: Generated<string[]>;
  tasks: Generated<string[]>;
  after_tries: Generated<number>;
  late_seconds: number | null;
  late_factor: number | null;
  stuck_seconds: number | null;
  stale_seconds: number | null;
  channel: string;
  conn_id: Generated<string>;
  target: Generated<string>;
  quiet_from: string | null;
  quiet_until: string | null;
  quiet_timezone: string | null;
  muted_until: NullableTimestamp;
  failing_since: NullableTimestamp;
  last_error: string | null;
  last_sent_at: NullableTimestamp;
  created_by: Generated<string>;
  created_at: Timestamp;
};

export type AlertFactsTable = {
  id: Generated<number>;
  tenant_id: string;
  kind: string;
  /** Of a broken file: the name of the file. */
  dag_id: Generated<string>;
  run: number | null;
  task_id: Generated<string>;
  map_index: Generated<number>;
  try_number: Generated<number>;
  reason: string | null;
  detail: string | null;
  at: Timestamp;
};

/** One alert for each rule and cause. While `due_at` is set, it is the outbox row of a message. */
export type AlertsTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  rule_id: string;
  fingerprint: string;
  event: string;
  cause: Generated<string>;
  detail: string | null;
  status: Generated<string>;
  dag_id: Generated<string>;
  run: number | null;
  task_id: Generated<string>;
  map_index: Generated<number>;
  try_number: Generated<number>;
  failures: Generated<number>;
  opened_at: GivenTimestamp;
  last_at: GivenTimestamp;
  over_at: NullableTimestamp;
  acknowledged_at: NullableTimestamp;
  acknowledged_by: string | null;
  reference: string | null;
  messages: Generated<number>;
  sent_failures: Generated<number>;
  sent_text: string | null;
  sent_at: NullableTimestamp;
  due_at: NullableTimestamp;
  tries: Generated<number>;
  last_error: string | null;
  holder: string | null;
  held_until: NullableTimestamp;
};

export type AlertSourcesTable = {
  tenant_id: TenantId;
  alert_id: string;
  dag_id: string;
  task_id: string;
  failures: number;
  is_over: Generated<boolean>;
};
