/** Ids that were checked: none can leave its place in a path. */
import { isDagId, isRunId, isTaskId } from '@svc/spec/ids.ts';

/** Every id may be written with dots, but these two mean folders in a URL; `~` means "all" to the API. */
const NOT_AN_ID = new Set(['.', '..', '~']);

export const isSafeDagId = (id: string): boolean => isDagId(id) && !NOT_AN_ID.has(id);
export const isSafeTaskId = (id: string): boolean => isTaskId(id) && !NOT_AN_ID.has(id);
export const isSafeRunId = (id: string): boolean => isRunId(id) && !NOT_AN_ID.has(id);

export type RunRef = { dagId: string; runId: string };
export type TryRef = RunRef & {
  taskId: string;
  tryNumber: number;
  /** Of an instance of a mapped task. */
  mapIndex?: number;
};

/** As the API's paths name them. */
export const runIds = ({ dagId, runId }: RunRef) => ({ dag_id: dagId, dag_run_id: runId });
export const tryIds = ({ taskId, tryNumber, dagId, runId }: TryRef) => ({
  ...runIds({ dagId, runId }),
  task_id: taskId,
  try_number: tryNumber,
});
/** As the API's queries name the instance: what is not mapped needs no name. */
export const mapIndexQuery = (mapIndex = -1) => (mapIndex === -1 ? {} : { map_index: mapIndex });
