/** The runs and task instances before a run, in the order of logical dates. */
import type { RunState, TaskState } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

type Before = { dagId: string; before: Moment };

/** Returns the run with the latest logical date before the given one. */
export function findPreviousRun(db: TenantDb, { dagId, before, state }: Before & { state: RunState | undefined }) {
  let query = db
    .selectFrom('dag_runs')
    .select(['run_id', 'run_type', 'state', 'logical_date', 'data_interval_start', 'data_interval_end', 'run_after'])
    .select(['start_date', 'end_date', 'queued_at', 'conf', 'triggering_user_name', 'partition_key', 'note'])
    .where('dag_id', '=', dagId)
    .where('logical_date', '<', before);
  if (state !== undefined) query = query.where('state', '=', state);
  return query.orderBy('logical_date', 'desc').limit(1).executeTakeFirst();
}

type InstanceQuery = Omit<Before, 'before'> & {
  /** Undefined: the run with the latest date of all. */
  before: Moment | undefined;
  taskId: string;
  mapIndex: number;
  state: TaskState | undefined;
};

/** Returns the instance of a task in the run with the latest logical date that has one, before the given date. */
export function findPreviousInstance(db: TenantDb, { dagId, before, taskId, mapIndex, state }: InstanceQuery) {
  let query = db
    .selectFrom('dag_runs as r')
    .innerJoin('task_instances as t', (join) =>
      join.onRef('t.tenant_id', '=', 'r.tenant_id').onRef('t.run', '=', 'r.id'),
    )
    .select(['t.task_id', 't.dag_id', 'r.run_id', 'r.logical_date', 't.start_date', 't.end_date', 't.state'])
    .select(['t.try_number', 't.map_index', 't.duration'])
    .where('r.dag_id', '=', dagId)
    .where('r.logical_date', 'is not', null)
    .where('t.task_id', '=', taskId)
    .where('t.map_index', '=', mapIndex);
  if (before !== undefined) query = query.where('r.logical_date', '<', before);
  if (state !== undefined) query = query.where('t.state', '=', state);
  return query.orderBy('r.logical_date', 'desc').limit(1).executeTakeFirst();
}
