/** What the pages read of the API's answers, in the words of docs/openapi.json. Nothing here is served. */

export type Wait = { meaning: string; detail: string | null; until: string | null; ends_with: string };

export type FailedTry = {
  try_number: number;
  end_date: string | null;
  cause: { meaning: string; detail: string | null } | null;
};

export type Failure = {
  task_id: string;
  map_index: number;
  state: string | null;
  try_number: number;
  max_tries: number;
  infrastructure_retries: number;
  next_try_at: string | null;
  end_date: string | null;
  duration: number | null;
  hostname: string | null;
  cause: {
    meaning: string;
    detail: string | null;
    exit_code: number | null;
    signal: string | null;
    exception: { file: string | null; line: number | null; function: string | null; code: string | null } | null;
  } | null;
  failed_tries: FailedTry[];
  blocks: { total: number; task_ids: string[] } | null;
  history: {
    runs_compared: number;
    failed_before: number;
    first_failure: {
      run_id: string;
      run_after: string;
      version: { version_number: number; bundle_version: string | null; author: string | null } | null;
    };
    last_success: { run_id: string; run_after: string; version_number: number } | null;
    since_version: number | null;
    same_cause_in: string[];
  } | null;
  advice: { text: string }[];
  log: { earlier_errors: string[]; lines: string[]; note: string | null };
};

export type Waiting = {
  task_id: string;
  map_index: number;
  state: string | null;
  wait: Wait | null;
  trigger: { class_path: string; since: string } | null;
  last_lines: string[];
};

export type PoolWait = {
  name: string;
  slots: number | null;
  occupied: number | null;
  held_by: { dag_id: string; run_id: string; task_id: string; map_index: number; since: string | null }[];
};

export type RunDiagnosis = {
  dag_id: string;
  dag_run_id: string;
  state: string;
  counts: { total: number; failed: number; up_for_retry: number; upstream_failed: number; active: number };
  run_wait: Wait | null;
  failures: Failure[];
  failures_not_shown: number;
  waiting: Waiting[];
  skipped: { task_id: string; why: string }[];
  pools: PoolWait[];
  history: { failed_before: number; runs_compared: number; last_success: { run_id: string; run_after: string } | null };
};

export type InstanceDiagnosis = {
  dag_id: string;
  dag_run_id: string;
  task_id: string;
  map_index: number;
  state: string | null;
  failure: Failure | null;
  waiting: Waiting | null;
  pools: PoolWait[];
};

export type Instances = { task_instances: { task_id: string; map_index: number }[]; total_entries: number };

export type Rule = {
  id: string;
  name: string;
  events: string[];
  dags: string[];
  tags: string[];
  owners: string[];
  tasks: string[];
  channel: string;
  connection_id: string;
  target: string;
  quiet_from: string | null;
  quiet_until: string | null;
  quiet_timezone: string | null;
  muted_until: string | null;
  failing_since: string | null;
  last_error: string | null;
  last_sent_at: string | null;
};

export type Alert = {
  id: string;
  rule: string;
  event: string;
  cause: string;
  status: 'open' | 'over';
  dag_id: string;
  task_id: string;
  failures: number;
  opened_at: string;
  last_at: string;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  messages: number;
  sent_text: string | null;
  due_at: string | null;
  last_error: string | null;
};

export type Delays = { count: number; p50: number | null; p95: number | null };

export type Fleet = {
  queues: {
    queue: string;
    running: number;
    queued: number;
    scheduled: number;
    deferred: number;
    waiting_since: string | null;
  }[];
  running: {
    dag_id: string;
    dag_run_id: string;
    task_id: string;
    map_index: number;
    queue: string;
    hostname: string;
    start_date: string | null;
  }[];
  task_delay: Delays;
  run_delay: Delays;
  delay_minutes: number;
};

export type Pool = {
  name: string;
  slots: number;
  occupied_slots: number;
  running_slots: number;
  queued_slots: number;
  scheduled_slots: number;
  deferred_slots: number;
  open_slots: number;
};

export type Worker = {
  id: string;
  kind: string;
  name: string;
  pool: string;
  queues: string[];
  dag_id: string | null;
  hostname: string;
  state: string;
  slots: number;
  running: number;
  attempts_served: number;
  started_at: string;
  last_seen_at: string;
  ended_why: string | null;
};

export type CostWait = { reason: string; meaning: string; seconds: number };

export type Amounts = {
  tries: number;
  seconds: number;
  cpu_seconds: number;
  gib_seconds: number;
  memory_bytes: number;
  read_bytes: number;
  written_bytes: number;
  cost: number | null;
};

export type Cost = {
  currency: string | null;
  total: Amounts;
  groups: (Amounts & { key: string; waits: CostWait[] | null })[];
  total_entries: number;
};

export type CostAdvice = {
  tasks: {
    task_id: string;
    requested: { cpu: string | null; memory: string | null };
    suitable: { cpu: string; memory: string };
    advice: { text: string }[];
  }[];
};

export type Usage = {
  currency: string | null;
  tries: {
    try_number: number;
    state: string | null;
    seconds: number | null;
    cpu_seconds: number | null;
    memory_bytes: number | null;
    read_bytes: number | null;
    written_bytes: number | null;
    cost: number | null;
    waits: CostWait[];
  }[];
};
