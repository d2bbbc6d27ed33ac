import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** A rollback of one DAG is a deployment, too: that of its bundle, with another version of this DAG. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table deployments drop constraint deployments_kind_check`,
    `alter table deployments add constraint deployments_kind_check check (kind in ('sync', 'rollback', 'dag_rollback'))`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
