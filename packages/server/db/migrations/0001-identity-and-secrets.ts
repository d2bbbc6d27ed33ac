import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Every key starts with the tenant, and every reference contains it, so that a row of one tenant cannot refer to a row
 * of another. Only data from before a tenant is known has none: tenants themselves, the login budget per address, and
 * the heartbeats of processes, which serve all tenants.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table tenants (
      id uuid primary key default gen_random_uuid(),
      name text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
      created_at timestamptz not null default now()
    )`,
    `create table roles (
      tenant_id uuid not null references tenants on delete cascade,
      name text not null,
      permissions text[] not null,
      primary key (tenant_id, name)
    )`,
    `create table users (
      tenant_id uuid not null references tenants on delete cascade,
      id uuid not null default gen_random_uuid(),
      email text not null check (email = lower(email)),
      password_hash text,
      is_active boolean not null default true,
      created_at timestamptz not null default now(),
      primary key (tenant_id, id),
      unique (tenant_id, email)
    )`,
    `create index users_newest on users (tenant_id, created_at desc, id)`,
    `create table user_roles (
      tenant_id uuid not null,
      user_id uuid not null,
      role_name text not null,
      primary key (tenant_id, user_id, role_name),
      foreign key (tenant_id, user_id) references users on delete cascade,
      foreign key (tenant_id, role_name) references roles on delete cascade
    )`,
    `create table sessions (
      tenant_id uuid not null,
      id uuid not null default gen_random_uuid(),
      user_id uuid not null,
      first_login_at timestamptz not null default now(),
      expires_at timestamptz not null,
      ended_at timestamptz,
      primary key (tenant_id, id),
      foreign key (tenant_id, user_id) references users on delete cascade
    )`,
    `create index sessions_live_of_user on sessions (tenant_id, user_id) where ended_at is null`,
    `create index sessions_expired on sessions (expires_at)`,
    `create table login_failures (
      client_ip text primary key,
      window_started_at timestamptz not null,
      failures integer not null
    )`,
    `create table connections (
      tenant_id uuid not null references tenants on delete cascade,
      id bigint generated always as identity,
      connection_id text not null,
      conn_type text not null,
      description text,
      host text,
      login text,
      schema text,
      port integer,
      password_sealed text,
      extra_sealed text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (tenant_id, connection_id)
    )`,
    `create table variables (
      tenant_id uuid not null references tenants on delete cascade,
      id bigint generated always as identity,
      key text not null,
      value_plain text,
      value_sealed text,
      description text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (tenant_id, key),
      check (num_nonnulls(value_plain, value_sealed) = 1)
    )`,
    `create table audit_log (
      tenant_id uuid not null references tenants on delete cascade,
      id bigint generated always as identity,
      at timestamptz not null default now(),
      event text not null,
      actor text,
      client_ip text,
      request_id text,
      object_kind text not null,
      object_id text not null,
      dag_id text,
      run_id text,
      task_id text,
      map_index integer,
      try_number integer,
      detail jsonb not null default '{}',
      primary key (tenant_id, id)
    )`,
    `create index audit_log_newest on audit_log (tenant_id, at desc, id desc)`,
    `create table heartbeats (
      process_id uuid not null,
      component text not null,
      hostname text not null,
      version text not null,
      started_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      stopped_at timestamptz,
      primary key (process_id, component)
    )`,
    `create index heartbeats_newest on heartbeats (component, last_seen_at desc)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
