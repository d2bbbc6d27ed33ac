import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The last version number of a DAG that was deleted. One that comes back under its name goes on counting: a number names
 * one artifact for ever, and what schedulers and agents keep by it is never another's.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table versions_of_deleted_dags (
    tenant_id uuid not null references tenants (id) on delete cascade,
    dag_id text not null,
    last_version_number int not null,
    primary key (tenant_id, dag_id)
  )`.execute(db);
}
