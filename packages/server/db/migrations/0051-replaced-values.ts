import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Values of tasks that a clear has deleted in a run with a failed try, which may have used them: `svc replay` runs that
 * try again with its values. They are removed with their run. Of a value in the store of task logs, only its short
 * description is kept.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table replaced_xcoms (
      tenant_id uuid not null,
      run bigint not null,
      task_id text not null,
      map_index integer not null,
      key text not null,
      value text not null,
      written_at timestamptz not null,
      replaced_at timestamptz not null,
      primary key (tenant_id, run, task_id, map_index, key, replaced_at),
      foreign key (tenant_id, run) references dag_runs on delete cascade
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`.execute(db);
}
