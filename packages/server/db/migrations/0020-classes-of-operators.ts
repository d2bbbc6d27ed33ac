import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The class of an operator in addition to its display name, by which lists are filtered and sorted:
 * `_PythonDecoratedOperator`, displayed as `@task`. Null when both are equal, as for nearly all operators, so that
 * those rows stay as they are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column operator_class text`.execute(db);
  await sql`
    update task_instances t set operator_class = named.class
    from (
      select v.tenant_id, v.dag_id, v.version_number, task ->> 'task_id' as task_id, task -> 'operator' ->> 'task_type' as class
      from dag_versions v, jsonb_array_elements(v.spec::jsonb -> 'tasks') task
      where task -> 'operator' ->> 'task_type' <> task -> 'operator' ->> 'operator_name'
    ) named
    where t.tenant_id = named.tenant_id and t.dag_id = named.dag_id and t.version_number = named.version_number
      and t.task_id = named.task_id`.execute(db);
}
