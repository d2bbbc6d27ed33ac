import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Variables and connections that a DAG file read while it was compiled, by name and fingerprint: of a version as it was
 * made, and of a DAG as it was compiled last, which need not have made a version.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table dag_versions add column values_read json`.execute(db);
  await sql`alter table dags add column values_read json`.execute(db);
  await sql`create index dags_values_read on dags (tenant_id) where values_read is not null`.execute(db);
}
