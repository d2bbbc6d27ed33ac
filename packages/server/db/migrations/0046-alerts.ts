import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Alerts. The transaction that ends a run or a try adds a row to `alert_facts`, if its tenant has rules. Triggers write
 * the facts, because an attempt ends in many ways. Schedulers turn facts into alerts, one for each rule and cause, and
 * send them. A row of `alerts` is the outbox: it stays due until its message is sent.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...TABLES, ...FACTS]) await sql.raw(statement).execute(db);
}

const TABLES = [
  `create table alert_rules (
    tenant_id uuid not null references tenants on delete cascade,
    id uuid not null default gen_random_uuid(),
    name text not null,
    -- Empty: made by a user. Else the DAG whose svc.yaml or whose tasks made it.
    source text not null default '',
    events text[] not null,
    dags text[] not null default '{}',
    tags text[] not null default '{}',
    owners text[] not null default '{}',
    tasks text[] not null default '{}',
    after_tries int not null default 1,
    late_seconds float8,
    stuck_seconds float8,
    channel text not null,
    conn_id text not null default '',
    target text not null default '',
    quiet_from text,
    quiet_until text,
    quiet_timezone text,
    muted_until timestamptz,
    failing_since timestamptz,
    last_error text,
    last_sent_at timestamptz,
    created_by text not null default '',
    created_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, name)
  )`,
  `create table alert_facts (
    id bigint generated always as identity primary key,
    tenant_id uuid not null,
    kind text not null,
    dag_id text not null default '',
    run bigint,
    task_id text not null default '',
    map_index int not null default -1,
    try_number int not null default 0,
    reason text,
    detail text,
    at timestamptz not null default clock_timestamp()
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `create table alerts (
    tenant_id uuid not null references tenants on delete cascade,
    id uuid not null default gen_random_uuid(),
    rule_id uuid not null,
    fingerprint text not null,
    event text not null,
    cause text not null default '',
    detail text,
    status text not null default 'open',
    -- The first task that failed: its diagnosis is the content.
    dag_id text not null default '',
    run bigint,
    task_id text not null default '',
    map_index int not null default -1,
    try_number int not null default 0,
    failures int not null default 0,
    opened_at timestamptz not null,
    last_at timestamptz not null,
    over_at timestamptz,
    acknowledged_at timestamptz,
    acknowledged_by text,
    -- What the channel calls the message.
    reference text,
    messages int not null default 0,
    sent_failures int not null default 0,
    sent_text text,
    sent_at timestamptz,
    -- When something is to be sent. Null: nothing.
    due_at timestamptz,
    tries int not null default 0,
    last_error text,
    holder uuid,
    held_until timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id, rule_id) references alert_rules on delete cascade
  ) with (fillfactor = 80)`,
  "create unique index alerts_open on alerts (tenant_id, rule_id, fingerprint) where status = 'open'",
  'create index alerts_due on alerts (due_at) where due_at is not null',
  'create index alerts_newest on alerts (tenant_id, opened_at desc, id)',
  `create table alert_sources (
    tenant_id uuid not null,
    alert_id uuid not null,
    dag_id text not null,
    task_id text not null,
    failures int not null,
    is_over boolean not null default false,
    primary key (tenant_id, alert_id, dag_id, task_id),
    foreign key (tenant_id, alert_id) references alerts on delete cascade
  )`,
  'create index alert_sources_open on alert_sources (tenant_id, dag_id) where not is_over',
];

const FACTS = [
  `create function note_alert_of_attempt() returns trigger language plpgsql as $$
    begin
      if exists (select from alert_rules r where r.tenant_id = new.tenant_id) then
        insert into alert_facts (tenant_id, kind, dag_id, run, task_id, map_index, try_number, reason, detail)
          values (new.tenant_id, case new.state when 'failed' then 'failed' else 'retried' end, new.dag_id, new.run,
            new.task_id, new.map_index, new.try_number, new.failure_reason, new.failure_detail);
        perform pg_notify('svc_alerts', '');
      end if;
      return null;
    end
  $$`,
  // Attempts that succeed evaluate only the condition.
  `create trigger note_alert_of_attempt after update of state on task_instances for each row
    when (new.state in ('failed', 'up_for_retry') and old.state is distinct from new.state)
    execute function note_alert_of_attempt()`,
  `create function note_alert_of_run() returns trigger language plpgsql as $$
    begin
      if new.state = 'failed' then
        if not exists (select from alert_rules r where r.tenant_id = new.tenant_id) then return null; end if;
      elsif not exists (select from alert_sources s
          where s.tenant_id = new.tenant_id and s.dag_id = new.dag_id and not s.is_over) then return null;
      end if;
      insert into alert_facts (tenant_id, kind, dag_id, run)
        values (new.tenant_id, case new.state when 'failed' then 'run_failed' else 'run_succeeded' end,
          new.dag_id, new.id);
      perform pg_notify('svc_alerts', '');
      return null;
    end
  $$`,
  `create trigger note_alert_of_run after update of state on dag_runs for each row
    when (old.state in ('queued', 'running') and new.state in ('success', 'failed'))
    execute function note_alert_of_run()`,
  `create function note_alert_of_file() returns trigger language plpgsql as $$
    declare
      it import_errors := case tg_op when 'DELETE' then old else new end;
    begin
      if exists (select from alert_rules r where r.tenant_id = it.tenant_id) then
        insert into alert_facts (tenant_id, kind, dag_id, detail)
          values (it.tenant_id, case tg_op when 'DELETE' then 'file_fixed' else 'broken_file' end, it.filename,
            right(it.stack_trace, 2000));
        perform pg_notify('svc_alerts', '');
      end if;
      return null;
    end
  $$`,
  `create trigger note_alert_of_file after insert or delete on import_errors for each row
    execute function note_alert_of_file()`,
];
