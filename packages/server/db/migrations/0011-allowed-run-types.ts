import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Which types of runs a DAG allows, for lists of DAGs. Without the column a list would read all specs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table dags add column allowed_run_types text[]`,
    `update dags d set allowed_run_types = array(
      select jsonb_array_elements_text(v.spec::jsonb -> 'dag' -> 'allowed_run_types'))
    from dag_versions v
    where v.tenant_id = d.tenant_id and v.dag_id = d.dag_id and v.version_number = d.current_version
      and jsonb_typeof(v.spec::jsonb -> 'dag' -> 'allowed_run_types') = 'array'`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
