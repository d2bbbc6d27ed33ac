import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Questions of tasks to people, and their answers. One question per try: a task that is cleared or retried asks again,
 * and the questions of its earlier tries stay with those.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table questions (
      tenant_id uuid not null,
      run bigint not null,
      task_id text not null,
      map_index integer not null,
      try_number integer not null,
      dag_id text not null,
      subject text not null,
      body text,
      options text[] not null,
      defaults text[],
      multiple boolean not null,
      -- By name: value, description and schema, as for the params of a DAG.
      params jsonb not null,
      -- Anybody when empty.
      assigned_users jsonb not null,
      created_at timestamptz not null default now(),
      -- From then on the defaults are the answer.
      expires_at timestamptz,
      responded_at timestamptz,
      -- Null with an answer: nobody, the defaults.
      responded_by_id text,
      responded_by_name text,
      chosen_options text[],
      params_input jsonb not null default '{}',
      primary key (tenant_id, run, task_id, map_index, try_number),
      foreign key (tenant_id, run) references dag_runs on delete cascade
    )`,
    `create index questions_open on questions (tenant_id, dag_id, created_at desc) where responded_at is null`,
    `create index questions_newest on questions (tenant_id, created_at desc)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
