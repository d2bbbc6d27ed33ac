/** Reads what a diagnosis compares a run with: its counts by state, runs before it, and the same tasks in them. */
import { sql } from 'kysely';
import type { RunState, TaskStateOrNone } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import type { StateCounts } from '../tables/runs.ts';

export async function findStateCounts(db: TenantDb, run: number): Promise<StateCounts> {
  const row = await db.selectFrom('dag_runs').select('state_counts').where('id', '=', run).executeTakeFirst();
  return row?.state_counts ?? {};
}

export type EarlierRun = { id: number; run_id: string; state: RunState; version_number: number; run_after: Moment };

/** Returns the newest first. Query plan: index dag_runs_newest of the DAG, `limit` rows. */
export const findRunsBefore = (
  db: TenantDb,
  run: { dag_id: string; id: number; run_after: Moment },
  limit: number,
): Promise<EarlierRun[]> =>
  db
    .selectFrom('dag_runs')
    .select(['id', 'run_id', 'state', 'version_number', 'run_after'])
    .where('dag_id', '=', run.dag_id)
    .where('run_after', '<=', run.run_after)
    .where((eb) => eb.or([eb('run_after', '<', run.run_after), eb('id', '<', run.id)]))
    .orderBy('run_after', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

export type EarlierInstance = {
  run: number;
  task_id: string;
  map_index: number;
  state: TaskStateOrNone;
  version_number: number;
  failure_reason: string | null;
  failure_detail: string | null;
};

/** Query plan: one lookup in the primary key of task_instances for each run and instance. */
export async function findSameInstances(
  db: TenantDb,
  runs: readonly number[],
  instances: readonly { task_id: string; map_index: number }[],
): Promise<EarlierInstance[]> {
  if (runs.length === 0 || instances.length === 0) return [];
  const keys = runs.flatMap((run) => instances.map(({ task_id, map_index }) => ({ run, task_id, map_index })));
  return db
    .selectFrom('task_instances as t')
    .select(['t.run', 't.task_id', 't.map_index', 't.state', 't.version_number'])
    .select(['t.failure_reason', 't.failure_detail'])
    .where(
      sql<boolean>`(t.run, t.task_id, t.map_index) in (select * from unnest(${keys.map(({ run }) => run)}::bigint[],
        ${keys.map((key) => key.task_id)}::text[], ${keys.map((key) => key.map_index)}::int[]))`,
    )
    .execute();
}
