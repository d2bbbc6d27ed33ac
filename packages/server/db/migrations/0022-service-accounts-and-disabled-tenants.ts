import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * A disabled tenant keeps its rows and does nothing. The hash of its token identifies a service account. The token is
 * long and random, so a fast hash is as good as a slow one, and an index over all tenants finds the account.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table tenants add column disabled_at timestamptz`.execute(db);
  await sql`
    create table service_accounts (
      tenant_id uuid not null references tenants on delete cascade,
      id uuid not null default gen_random_uuid(),
      name text not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
      role_name text not null,
      token_hash bytea not null,
      token_start text not null,
      created_by text not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      last_used_at timestamptz,
      primary key (tenant_id, id),
      unique (tenant_id, name),
      foreign key (tenant_id, role_name) references roles
    )`.execute(db);
  await sql`create unique index service_accounts_by_token on service_accounts (token_hash)`.execute(db);
}
