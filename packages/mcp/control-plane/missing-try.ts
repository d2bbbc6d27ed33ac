/** Explains that a try does not exist, and names the existing ones, so that the next call can be right. */
import type { TaskInstance } from '@svc/client/wire-types.ts';
import { safeText } from '@svc/spec/text/safe-text.ts';
import type { ControlPlane } from './client.ts';
import { ControlPlaneError } from './failures.ts';
import { runIds } from './ids.ts';
import type { TryRef } from './ids.ts';

const INSTANCES = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances';

/** Wraps a call for one try. Any error except a missing try is thrown unchanged. */
export async function orWhatThereIs<T>(controlPlane: ControlPlane, ref: TryRef, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ControlPlaneError) || error.kind !== 'not_found') throw error;
    const hint = await whatThereIs(controlPlane, ref);
    throw hint === null ? error : new ControlPlaneError('not_found', `not found: ${hint}`);
  }
}

/** Returns null if the task has no instance, or if the run does not exist. The control plane has already said so. */
async function whatThereIs(controlPlane: ControlPlane, ref: TryRef): Promise<string | null> {
  const { taskId, mapIndex = -1, tryNumber } = ref;
  const one = async (query: { order_by?: ('map_index' | '-map_index')[]; map_index?: number[] }) => {
    const path = runIds(ref);
    const answer = await controlPlane.get(INSTANCES, { path, query: { task_id: taskId, limit: 1, ...query } });
    return { instance: answer.task_instances[0], total: answer.total_entries ?? 0 };
  };
  try {
    const [first, last, asked] = await Promise.all([
      one({ order_by: ['map_index'] }),
      one({ order_by: ['-map_index'] }),
      one({ map_index: [mapIndex] }),
    ]);
    if (!first.instance || !last.instance) return null;
    const { instance } = asked;
    return hintOf({ mapIndex, tryNumber, first: first.instance, last: last.instance, total: first.total, instance });
  } catch (error) {
    if (error instanceof ControlPlaneError) return null;
    throw error;
  }
}

function hintOf(input: {
  mapIndex: number;
  tryNumber: number;
  first: TaskInstance;
  last: TaskInstance;
  total: number;
  /** The requested instance. */
  instance: TaskInstance | undefined;
}): string {
  const { mapIndex, tryNumber, first, last, total, instance } = input;
  const id = `\`${safeText(first.task_id)}\``;
  if (instance) {
    const name = mapIndex === -1 ? id : `${id} with map_index ${mapIndex}`;
    return instance.try_number < 1
      ? `${name} has not been tried, so it has no log (state ${instance.state ?? 'none yet'})`
      : `there is no try ${tryNumber} of ${name}: its tries are 1 to ${instance.try_number}`;
  }
  if (first.map_index < 0) return `${id} is not mapped: leave map_index out`;
  const range = `its ${total} ${total === 1 ? 'instance has' : 'instances have'} a map_index from ${first.map_index} to ${last.map_index}`;
  return mapIndex === -1
    ? `${id} is a mapped task: say which instance with map_index; ${range}`
    : `${id} has no instance with map_index ${mapIndex}: ${range}`;
}
