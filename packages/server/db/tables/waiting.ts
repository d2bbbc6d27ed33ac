/** What tasks and runs wait for outside their own DAG: callbacks, people, triggers, deadlines. */
import type { ColumnType, Generated } from 'kysely';
import type { GivenJson, GivenTimestamp, Json, NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type CallbackRequestsTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  /** Null: a question about a timetable. */
  run: number | null;
  dag_id: string;
  task_id: string | null;
  map_index: number | null;
  try_number: number | null;
  which: string;
  reason: string;
  /** For questions: the version of the timetable, the question, and its result. */
  version_number: number | null;
  question: ColumnType<unknown, string | null | undefined, string | null>;
  answer: ColumnType<unknown, string | null | undefined, string | null>;
  problem: string | null;
  state: Generated<string>;
  attempt_id: string | null;
  created_at: Timestamp;
  started_at: NullableTimestamp;
};

export type HitlParam = { value: unknown; description: string | null; schema: Record<string, unknown> };
export type Person = { id: string; name: string };

export type HitlRequestsTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: number;
  try_number: number;
  dag_id: string;
  subject: string;
  body: string | null;
  options: string[];
  defaults: string[] | null;
  multiple: boolean;
  params: GivenJson<Record<string, HitlParam>>;
  assigned_users: GivenJson<Person[]>;
  created_at: Timestamp;
  expires_at: NullableTimestamp;
  responded_at: NullableTimestamp;
  responded_by_id: string | null;
  responded_by_name: string | null;
  chosen_options: string[] | null;
  params_input: Json<Record<string, unknown>>;
};

export type TriggerersTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  place: string;
  dag_id: string;
  version_number: number;
  created_at: Timestamp;
  started_at: NullableTimestamp;
  heartbeat_at: Timestamp;
  hostname: Generated<string>;
};

export type TriggersTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  /** `killed`: of a task that a person has cleared or marked, until the triggerer has stopped it. */
  kind: 'task' | 'asset' | 'callback' | 'killed';
  dag_id: string;
  version_number: number;
  run: number | null;
  task_id: string | null;
  map_index: number | null;
  try_number: number | null;
  attempt_id: string | null;
  hash: string | null;
  class_path: string;
  kwargs: string;
  next_method: Generated<string>;
  next_kwargs: Generated<string>;
  created_at: Timestamp;
  timeout_at: NullableTimestamp;
  fires_at: NullableTimestamp;
  event: string | null;
  fired_at: NullableTimestamp;
  triggerer_id: string | null;
  failures: Generated<number>;
  awaits: string | null;
  awaits_dag_id: string | null;
  awaits_runs: string[] | null;
};

export type AssetWatchersTable = {
  tenant_id: TenantId;
  dag_id: string;
  asset_name: string;
  asset_uri: string;
  name: string;
  version_number: number;
  hash: string;
  class_path: string;
  kwargs: string;
};

export type DeadlinesTable = {
  tenant_id: TenantId;
  id: Generated<string>;
  run: number;
  dag_id: string;
  position: number;
  deadline_time: GivenTimestamp;
  created_at: Timestamp;
  missed_at: NullableTimestamp;
  kept_at: NullableTimestamp;
  alert_name: string | null;
};
