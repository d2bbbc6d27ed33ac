import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** A bundle may receive signed webhooks. Each delivery counts once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Its password is the secret with which webhooks are signed. Null: the bundle takes none.
    `alter table bundles add column webhook_conn_id text`,
    `create table webhook_deliveries (
      tenant_id uuid not null,
      bundle_name text not null,
      -- A hash of what the sender has signed.
      delivery text not null,
      at timestamptz not null default now(),
      primary key (tenant_id, bundle_name, delivery),
      foreign key (tenant_id, bundle_name) references bundles (tenant_id, name) on delete cascade
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
