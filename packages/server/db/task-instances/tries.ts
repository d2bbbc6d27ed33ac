import { isFinished } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';

export type TryKey = { dagId: string; runId: string; taskId: string; mapIndex: number; tryNumber: number };

export type TryRow = {
  /** The current state of the task instance. Also null when only its history is left. */
  state: TaskStateOrNone;
  /** True when nothing more will be written about this try. */
  isOver: boolean;
};

/**
 * Finds a try of a task instance, the current one or an earlier one. Try 0 stands for an instance that never ran.
 *
 * It takes three lookups by unique keys: the run by its ids, the instance and the try by their primary keys.
 */
export async function findTry(db: TenantDb, key: TryKey): Promise<TryRow | undefined> {
  const { taskId, mapIndex, tryNumber } = key;
  const row = await db
    .selectFrom('dag_runs as r')
    .leftJoin('task_instances as i', (join) =>
      join.onRef('i.run', '=', 'r.id').on('i.task_id', '=', taskId).on('i.map_index', '=', mapIndex),
    )
    .leftJoin('task_instance_history as h', (join) =>
      join
        .onRef('h.run', '=', 'r.id')
        .on('h.task_id', '=', taskId)
        .on('h.map_index', '=', mapIndex)
        .on('h.try_number', '=', tryNumber),
    )
    .where('r.dag_id', '=', key.dagId)
    .where('r.run_id', '=', key.runId)
    .select(['i.state', 'i.try_number as current', 'h.try_number as past'])
    .executeTakeFirst();
  if (!row) return undefined;
  const { state, current, past } = row;
  if (past !== null) return { state, isOver: true };
  if (current === null || tryNumber > current) return undefined;
  // A cleared instance has no state and keeps its number. The code above found its last try in the history.
  return { state, isOver: tryNumber < current || isFinished(state) || state === 'up_for_retry' };
}
