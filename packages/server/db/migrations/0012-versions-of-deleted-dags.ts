import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The last version number of a deleted DAG. A DAG that returns under its name continues from this number. A number
 * therefore always identifies one artifact, and cached data of schedulers and agents stays valid.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table versions_of_deleted_dags (
    tenant_id uuid not null references tenants (id) on delete cascade,
    dag_id text not null,
    last_version_number int not null,
    primary key (tenant_id, dag_id)
  )`.execute(db);
}
