/** Paths of the API, made from ids that were checked: none can leave its place in the path. */
import { isDagId, isRunId, isTaskId } from '@svc/spec/ids.ts';

/** Every id may be written with dots, but these two mean folders in a URL; `~` means "all" to the API. */
const NOT_AN_ID = new Set(['.', '..', '~']);

export const isSafeDagId = (id: string): boolean => isDagId(id) && !NOT_AN_ID.has(id);
export const isSafeTaskId = (id: string): boolean => isTaskId(id) && !NOT_AN_ID.has(id);
export const isSafeRunId = (id: string): boolean => isRunId(id) && !NOT_AN_ID.has(id);

export type RunRef = { dagId: string; runId: string };
export type TryRef = RunRef & { taskId: string; tryNumber: number };

const dagPath = (dagId: string): string => `/api/v2/dags/${encodeURIComponent(dagId)}`;

export const paths = {
  dags: '/api/v2/dags',
  dag: dagPath,
  spec: (dagId: string): string => `${dagPath(dagId)}/spec`,
  source: (dagId: string): string => `/api/v2/dagSources/${encodeURIComponent(dagId)}`,
  run: ({ dagId, runId }: RunRef): string => `${dagPath(dagId)}/dagRuns/${encodeURIComponent(runId)}`,
  instances: (ref: RunRef): string => `${paths.run(ref)}/taskInstances`,
  log: ({ taskId, tryNumber, ...run }: TryRef): string =>
    `${paths.instances(run)}/${encodeURIComponent(taskId)}/logs/${tryNumber}`,
  health: '/api/v2/monitor/health',
  executor: '/api/v2/monitor/executor',
  version: '/api/v2/version',
} as const;
