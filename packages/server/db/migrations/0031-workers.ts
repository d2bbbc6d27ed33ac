import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Workers, for people and for the processes that have their streams, and the tokens with which workers on other hosts
 * join. The truth about attempts stays in task_instances: no code decides by what a worker's row says.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table worker_tokens (
      tenant_id uuid not null references tenants on delete cascade,
      id uuid not null default gen_random_uuid(),
      -- Whose tasks its workers take: those of these queues.
      queues text[] not null check (cardinality(queues) > 0),
      token_hash bytea not null unique,
      token_start text not null,
      comment text not null default '',
      created_by text not null,
      created_at timestamptz not null default now(),
      -- Nobody joins with it afterwards; who has joined stays.
      expires_at timestamptz,
      last_used_at timestamptz,
      primary key (tenant_id, id)
    )`,
    `create table workers (
      id uuid primary key,
      -- Null: it serves all tenants (that of the subprocess executor).
      tenant_id uuid references tenants on delete cascade,
      kind text not null check (kind in ('local', 'warm', 'remote')),
      name text not null,
      pool text not null,
      -- Of a remote one: the queues it serves, and the token it joined with. A token that is revoked is not there any more.
      queues text[] not null default '{}',
      token_id uuid,
      -- Of a warm one.
      dag_id text,
      version_number integer,
      hostname text not null default '',
      pid integer,
      agent_version text not null default '',
      state text not null check (state in ('starting', 'idle', 'busy', 'draining', 'lost', 'gone')),
      slots integer not null,
      running integer not null default 0,
      attempts_served bigint not null default 0,
      started_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      -- The process of the control plane that holds its stream.
      owner text not null default '',
      drain_requested_at timestamptz,
      drain_requested_by text,
      drain_why text,
      -- Why it left or was given up.
      ended_why text
    )`,
    `create index workers_of_tenants on workers (tenant_id, kind, pool)`,
    `create index workers_by_token on workers (tenant_id, token_id) where token_id is not null`,
    `create index workers_last_seen on workers (last_seen_at)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
