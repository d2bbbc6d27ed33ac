import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The account of a user at an identity provider: bound at the first sign-in, one per provider. Used sign-ins are known
 * across processes, and before the tenant is. The token that the provider needs at logout lives as long as the session.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table user_identities (
      tenant_id uuid not null,
      issuer text not null,
      subject text not null,
      user_id uuid not null,
      bound_at timestamptz not null default now(),
      last_login_at timestamptz not null default now(),
      primary key (tenant_id, issuer, subject),
      unique (tenant_id, user_id, issuer),
      foreign key (tenant_id, user_id) references users on delete cascade
    )`,
    `create table sso_sessions (
      tenant_id uuid not null,
      session_id uuid not null,
      id_token_sealed text not null,
      primary key (tenant_id, session_id),
      foreign key (tenant_id, session_id) references sessions on delete cascade
    )`,
    `create table used_sign_ins (
      id_hash text primary key,
      used_at timestamptz not null default now()
    )`,
    `create index used_sign_ins_at on used_sign_ins (used_at)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
