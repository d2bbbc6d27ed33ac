import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Indexes for the remaining columns by which lists of task instances are sorted and filtered
 * (db/task-instances/stretches.ts). They contain only unusual values, so that most tasks have no cost. They contain
 * only finished instances, because an instance is written four times before its end, and an entry here once. Instances
 * of unfinished runs are few, and are sorted. The run is part of the key, because lists continue in its order.
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
