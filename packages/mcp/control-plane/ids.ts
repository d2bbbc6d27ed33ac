/** Checked ids, which cannot leave their place in a path. */
import { isDagId, isRunId, isTaskId } from '@svc/spec/ids.ts';

/** Ids may contain dots, but `.` and `..` mean folders in a URL, and `~` means "all" in the API. */
const NOT_AN_ID = new Set(['.', '..', '~']);

export const isSafeDagId = (id: string): boolean => isDagId(id) && !NOT_AN_ID.has(id);
export const isSafeTaskId = (id: string): boolean => isTaskId(id) && !NOT_AN_ID.has(id);
export const isSafeRunId = (id: string): boolean => isRunId(id) && !NOT_AN_ID.has(id);

export type RunRef = { dagId: string; runId: string };
export type TryRef = RunRef & {
  taskId: string;
  tryNumber: number;
  /** The index of an instance of a mapped task. */
  mapIndex?: number;
};

/** The ids under the names of the API's paths. */
export const runIds = ({ dagId, runId }: RunRef) => ({ dag_id: dagId, dag_run_id: runId });
export const tryIds = ({ taskId, tryNumber, dagId, runId }: TryRef) => ({
  ...runIds({ dagId, runId }),
  task_id: taskId,
  try_number: tryNumber,
});
/** The index under the name of the API's queries. An unmapped instance needs none. */
export const mapIndexQuery = (mapIndex = -1) => (mapIndex === -1 ? {} : { map_index: mapIndex });
