import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** How many retries of its group, or of its run, an instance has been through since it was cleared. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column group_retries integer not null default 0`.execute(db);
  // Finds the instances that wait for a retry of their group. There are nearly always none.
  await sql`create index task_instances_for_group_retry on task_instances (tenant_id, run) where waits = 'group_retry'`.execute(
    db,
  );
}
