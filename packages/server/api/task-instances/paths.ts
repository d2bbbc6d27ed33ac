/** How paths name task instances, and lookups of what they name. */
import { Type } from 'typebox';
import type { TenantDb } from '../../db/database.ts';
import { findRunKey } from '../../db/task-instances/details.ts';
import { findInstance, findInstancesOfTask } from '../../db/task-instances/task-instances.ts';
import type { ListedInstance } from '../../db/task-instances/task-instances.ts';
import { RunParams, noSuchRun } from '../paths.ts';
import type { RunInPath } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import { MapIndex } from './schemas.ts';

export const TAGS = ['Task instances'];
export const RUN_PATH = '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskInstances';
export const TaskParams = Type.Object({ ...RunParams.properties, task_id: Type.String() });
export const MappedParams = Type.Object({ ...TaskParams.properties, map_index: MapIndex });
export const MapIndexQuery = { map_index: Type.Integer({ ...MapIndex, default: -1 }) };

export type TaskInPath = RunInPath & { task_id: string };

export async function existingRunKey(db: TenantDb, params: RunInPath) {
  const run = await findRunKey(db, params.dag_id, params.dag_run_id);
  if (!run) throw noSuchRun(params);
  return run;
}

export async function existingInstance(db: TenantDb, params: TaskInPath, mapIndex: number): Promise<ListedInstance> {
  const { id: run } = await existingRunKey(db, params);
  const row = await findInstance(db, { run, taskId: params.task_id, mapIndex });
  if (row) return row;
  const others = mapIndex === -1 ? await findInstancesOfTask(db, run, params.task_id) : [];
  if (others.length > 0) {
    throw new ApiError('not_found', 'Task instance is mapped, add the map_index value to the URL');
  }
  throw noSuchInstance(params, mapIndex);
}

export const noSuchInstance = (params: TaskInPath, mapIndex?: number): ApiError => {
  const which = mapIndex === undefined || mapIndex === -1 ? '' : `, map_index: \`${mapIndex}\``;
  return new ApiError(
    'not_found',
    `The Task Instance with dag_id: \`${params.dag_id}\`, run_id: \`${params.dag_run_id}\`, ` +
      `task_id: \`${params.task_id}\`${which} was not found`,
  );
};

export const noSuchTry = (params: TaskInPath, mapIndex: number, tryNumber: number): ApiError => {
  const instance = noSuchInstance(params, mapIndex).message.replace(' was not found', '');
  return new ApiError('not_found', `${instance}, try_number: \`${tryNumber}\` was not found`);
};
