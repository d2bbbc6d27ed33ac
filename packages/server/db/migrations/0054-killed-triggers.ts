import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Triggers of tasks that a person has cleared or marked, as rows of kind `killed`. Their triggerer calls `on_kill` once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table triggers drop constraint triggers_kind_check`,
    `alter table triggers add constraint triggers_kind_check check (kind in ('task', 'asset', 'callback', 'killed'))`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
