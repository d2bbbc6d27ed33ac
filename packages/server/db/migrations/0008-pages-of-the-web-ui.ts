import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Data and indexes that only pages of the web UI need. They are written when a version is registered and when a person
 * does something, and both are rare.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create index dag_versions_naming_dags on dag_versions (tenant_id, dag_id, version_number)
      where spec like '%"trigger_dag_id"%' or spec like '%"external_dag_id"%'`,
    `create index audit_log_of_dag on audit_log (tenant_id, dag_id, at desc, id desc) where dag_id is not null`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
