/** The diagnosis of one task instance, or of one of its earlier tries. */
import { isRunFinished } from '@svc/spec/states.ts';
import { safeText } from '@svc/spec/text/safe-text.ts';
import { findDagLimits } from '../db/dags/dags.ts';
import { findRun } from '../db/dag-runs/dag-runs.ts';
import { findRunsBefore } from '../db/diagnosis/run-history.ts';
import { findInstance } from '../db/task-instances/task-instances.ts';
import type { ListedInstance } from '../db/task-instances/task-instances.ts';
import { findTry } from '../db/task-instances/try-history.ts';
import { readFailures } from './failures.ts';
import { readTasks } from './read-facts.ts';
import type { DiagnosisSources } from './read-facts.ts';
import type { InstanceDiagnosis } from './types.ts';
import { readWaits } from './waits.ts';

const RUNS_COMPARED = 25;

export type InstanceRef = {
  dagId: string;
  runId: string;
  taskId: string;
  mapIndex: number;
  /** The current try by default. */
  tryNumber?: number | undefined;
};

/** Returns undefined if there is no such run, instance or try. */
export async function diagnoseInstance(
  sources: DiagnosisSources,
  { dagId, runId, taskId, mapIndex, tryNumber }: InstanceRef,
  { logTailLines }: { logTailLines: number },
): Promise<InstanceDiagnosis | undefined> {
  const { scope } = sources;
  const run = await findRun(scope, dagId, runId);
  const current = run && (await findInstance(scope, { run: run.id, taskId, mapIndex }));
  if (!run || !current) return undefined;
  const row = await tryOf(sources, current, tryNumber);
  if (!row) return undefined;
  const hasFailed = row.state === 'failed' || row.state === 'up_for_retry';
  const isWaiting = row === current && !isRunFinished(run.state);
  const dag = await findDagLimits(scope, dagId);
  const [runsBefore, tasks, { waiting, pools }] = await Promise.all([
    hasFailed ? findRunsBefore(scope, run, RUNS_COMPARED) : [],
    hasFailed ? readTasks(sources, dagId, [row]) : new Map(),
    isWaiting ? readWaits(sources, [row], dag?.is_paused ?? false) : { waiting: [], pools: [] },
  ]);
  const facts = {
    run,
    failures: [row],
    failedTaskIds: new Set([taskId]),
    failedByTask: new Map<string, number>(),
    tasks,
    runsBefore,
  };
  const { failures } = hasFailed ? await readFailures(sources, facts, logTailLines) : { failures: [] };
  const [wait] = waiting;
  return {
    dag_id: dagId,
    dag_run_id: runId,
    task_id: safeText(taskId),
    map_index: mapIndex,
    try_number: row.try_number,
    state: row.state,
    failure: failures[0] ?? null,
    waiting: wait && (wait.wait !== null || wait.state === 'running') ? wait : null,
    pools,
  };
}

/** An earlier try has its own state, times and failure. What is equal for all tries comes from the instance. */
async function tryOf(
  { scope }: DiagnosisSources,
  current: ListedInstance,
  tryNumber: number | undefined,
): Promise<ListedInstance | undefined> {
  if (tryNumber === undefined || tryNumber === current.try_number) return current;
  const place = { run: current.run, taskId: current.task_id, mapIndex: current.map_index };
  const earlier = await findTry(scope, place, tryNumber);
  return earlier && { ...current, ...earlier };
}
