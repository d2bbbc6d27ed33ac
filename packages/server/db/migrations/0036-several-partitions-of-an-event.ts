import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** A partition mapper of an author may return several keys for one event. The event then waits for the run of each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table asset_queue drop constraint asset_queue_pkey`.execute(db);
  await sql`
    create unique index asset_queue_once on asset_queue (tenant_id, dag_id, event_id, coalesce(partition_key, ''))`.execute(
    db,
  );
}
