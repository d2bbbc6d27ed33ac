import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * What lists of task instances are sorted and filtered by beside what has an index already (db/task-instances/stretches.ts).
 * Only of what is not as usual, so that most tasks pay for none of them: over all instances, four of them took Postgres a tenth
 * to a fifth more for each task. And over finished ones: an instance is written four times on its way to its end, and these
 * once; those of unfinished runs are few, and sorted. With the run, in which lists go on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, columns, condition] of INDEXES) {
    const where = ['state in (' + FINISHED + ')', ...condition].join(' and ');
    await sql
      .raw(`create index task_instances_${name} on task_instances (tenant_id, ${columns}) where ${where}`)
      .execute(db);
  }
  await sql`create index dag_runs_by_logical_date_of_all on dag_runs (tenant_id, logical_date, id)`.execute(db);
}

const FINISHED = `'success', 'failed', 'upstream_failed', 'skipped', 'removed'`;

const INDEXES: readonly [name: string, columns: string, condition: string[]][] = [
  ['of_pool', 'pool, run', [`pool <> 'default_pool'`]],
  ['of_queue', 'queue, run', [`queue <> 'default'`]],
  ['tried_again', 'try_number, run', ['try_number > 1']],
  ['mapped', 'map_index, run', ['map_index >= 0']],
  ['rendered', 'rendered_map_index, map_index, run', ['rendered_map_index is not null']],
  ['undated', 'run', ['duration is null']],
];
