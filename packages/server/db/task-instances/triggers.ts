/** What deferred task instances wait for, and the triggerers of their triggers, for lists. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import type { JobRow } from '../processes/jobs.ts';
import type { InstanceOfRun } from './task-instances.ts';

export type ShownTrigger = {
  run: number;
  taskId: string;
  mapIndex: number;
  id: number;
  classPath: string;
  createdAt: Moment;
  /** Null: it has no triggerer yet, or the engine decides it. */
  job: JobRow | null;
};

/** Query plan: index triggers_of_instance, and the keys of the joined rows. */
export async function findTriggersOf(db: TenantDb, keys: readonly InstanceOfRun[]): Promise<ShownTrigger[]> {
  if (keys.length === 0) return [];
  const rows = await db
    .selectFrom('triggers as t')
    .leftJoin('triggerers as r', 'r.id', 't.triggerer_id')
    .select(['t.run', 't.task_id', 't.map_index', 't.id', 't.class_path', 't.created_at'])
    .select(({ ref }) =>
      sql<JobRow | null>`(select json_build_object('id', h.id, 'jobType', 'TriggererJob', 'state', 'running', 'hostname', h.hostname,
        'unixname', h.unixname, 'executorClass', null, 'startedAt', h.started_at, 'lastSeenAt', h.last_seen_at, 'endedAt', null)
        from heartbeats h where h.process_id = ${ref('r.id')} and h.component = 'triggerer')`.as('job'),
    )
    .where('t.kind', '=', 'task')
    .where(
      sql<boolean>`(t.run, t.task_id, t.map_index) in (select * from unnest(${keys.map(({ run }) => run)}::bigint[],
        ${keys.map(({ taskId }) => taskId)}::text[], ${keys.map(({ mapIndex }) => mapIndex)}::int[]))`,
    )
    .execute();
  return rows.map((row) => ({
    run: row.run ?? 0,
    taskId: row.task_id ?? '',
    mapIndex: row.map_index ?? -1,
    id: row.id,
    classPath: row.class_path,
    createdAt: row.created_at,
    job: row.job,
  }));
}
