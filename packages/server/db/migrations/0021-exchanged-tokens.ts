import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** The pods that have received the credential of their attempt. Each gets it once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table token_exchanges (
      tenant_id uuid not null references tenants on delete cascade,
      pod_uid text not null,
      attempt_id uuid not null,
      at timestamptz not null default now(),
      primary key (tenant_id, pod_uid)
    )`.execute(db);
  await sql`create index token_exchanges_at on token_exchanges (at)`.execute(db);
}
