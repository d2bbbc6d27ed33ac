/**
 * Reads the rows that a diagnosis is made of. The number of statements does not grow with the run: counts come from the
 * row of the run, and every list is short.
 */
import { LIVE_STATES, isRunFinished } from '@svc/spec/states.ts';
import type { TaskState } from '@svc/spec/states.ts';
import { versionsOfRun } from '../db/dags/dag-versions.ts';
import type { DagVersionRow } from '../db/dags/dag-versions.ts';
import { findDagLimits } from '../db/dags/dags.ts';
import { findRun } from '../db/dag-runs/dag-runs.ts';
import type { ListedRun } from '../db/dag-runs/dag-runs.ts';
import type { Database, TenantDb } from '../db/database.ts';
import { findRunsBefore, findStateCounts } from '../db/diagnosis/run-history.ts';
import type { EarlierRun } from '../db/diagnosis/run-history.ts';
import { listInstances } from '../db/task-instances/task-instances.ts';
import type { ListedInstance } from '../db/task-instances/task-instances.ts';
import type { StateCounts } from '../db/tables/runs.ts';
import type { DagGraphs } from '../engine/shared/dag-graphs.ts';
import type { LogKey } from '../logs/log-key.ts';
import type { TailReader } from './log-tail.ts';
import { pickVaried } from './pick.ts';
import type { SpecTask } from './spec-task.ts';
import { specTasks } from './spec-task.ts';
import type { Counts } from './types.ts';

/** Everything that a diagnosis reads from. `scope` carries the tenant and the rights of the reader. */
export type DiagnosisSources = {
  scope: TenantDb;
  tenantId: string;
  db: Database;
  graphs: DagGraphs;
  logs: TailReader;
};

/** Varied failures are selected from this many. */
const MAX_CANDIDATES = 100;
const MAX_ACTIVE = 20;
const MAX_WAITING = 5;
/** More than are shown, because tasks that were not skipped reveal what a branch chose. */
const MAX_SKIPPED = 200;
/** A run has several versions only after a part of it was cleared to a newer version. */
const MAX_VERSIONS = 3;
const MAX_RETRIED = 5;
/** The filter finds tasks that succeeded with one of these try numbers. */
const LATER_TRIES = Array.from({ length: 30 }, (_, index) => index + 2);
const RUNS_COMPARED = 25;

const FAILED: readonly TaskState[] = ['failed', 'up_for_retry'];
const ACTIVE: readonly TaskState[] = [...LIVE_STATES, 'up_for_reschedule'];

export type RunFacts = {
  run: ListedRun;
  counts: Counts;
  /** The failures to show. */
  failures: ListedInstance[];
  failedTaskIds: ReadonlySet<string>;
  failedByTask: ReadonlyMap<string, number>;
  /** Tasks by version. A version is missing if its graph cannot be read. */
  tasks: ReadonlyMap<number, ReadonlyMap<string, SpecTask>>;
  waiting: ListedInstance[];
  skipped: ListedInstance[];
  /** Instances that succeeded after the first try. */
  retried: ListedInstance[];
  /** Newest first. */
  runsBefore: EarlierRun[];
  versions: DagVersionRow[];
  dag: Awaited<ReturnType<typeof findDagLimits>>;
};

export async function readRunFacts(
  sources: DiagnosisSources,
  { dagId, runId, maxFailures }: { dagId: string; runId: string; maxFailures: number },
): Promise<RunFacts | undefined> {
  const { scope } = sources;
  const run = await findRun(scope, dagId, runId);
  if (!run) return undefined;
  const isOver = isRunFinished(run.state);
  const list = (states: readonly (TaskState | null)[], limit: number, more: object = {}) =>
    listInstances(scope, {
      filter: { run: run.id, states: [...states], ...more },
      order: [{ column: 'end_date', direction: 'asc' }],
      limit,
      offset: 0,
    }).then(({ instances }) => instances);
  const [stateCounts, failed, active, waiting, skipped, retried, runsBefore, versions, dag] = await Promise.all([
    findStateCounts(scope, run.id),
    list(FAILED, MAX_CANDIDATES),
    isOver ? [] : list(ACTIVE, MAX_ACTIVE),
    isOver ? [] : list([null], MAX_WAITING),
    list(['skipped'], MAX_SKIPPED),
    list(['success'], MAX_RETRIED, { tryNumbers: LATER_TRIES }),
    findRunsBefore(scope, run, RUNS_COMPARED),
    versionsOfRun(scope, run),
    findDagLimits(scope, dagId),
  ]);
  const failures = pickVaried(failed, maxFailures);
  return {
    run,
    counts: countsOf(stateCounts),
    failures,
    failedTaskIds: new Set(failed.map((instance) => instance.task_id)),
    failedByTask: new Map([...Map.groupBy(failed, (one) => one.task_id)].map(([id, them]) => [id, them.length])),
    tasks: await readTasks(sources, dagId, [...failures, ...skipped]),
    waiting: [...active, ...waiting],
    skipped,
    retried,
    runsBefore,
    versions,
    dag,
  };
}

function countsOf(counts: StateCounts): Counts {
  const { none = 0, live = 0, failed = 0, skipped = 0 } = counts;
  return {
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    failed,
    up_for_retry: counts.up_for_retry ?? 0,
    upstream_failed: counts.upstream_failed ?? 0,
    skipped,
    active: live + (counts.up_for_reschedule ?? 0),
    waiting: none,
  };
}

/**
 * Reads the tasks of the versions that the instances ran, because a version registered since must not change the
 * diagnosis.
 */
export async function readTasks(
  { db, graphs, tenantId }: Pick<DiagnosisSources, 'db' | 'graphs' | 'tenantId'>,
  dagId: string,
  instances: readonly { version_number: number }[],
): Promise<Map<number, ReadonlyMap<string, SpecTask>>> {
  const numbers = [...new Set(instances.map((instance) => instance.version_number))].slice(0, MAX_VERSIONS);
  const found = new Map<number, ReadonlyMap<string, SpecTask>>();
  for (const versionNumber of numbers) {
    const { spec } = await graphs.get(db.shared, { tenantId, dagId, versionNumber });
    found.set(versionNumber, specTasks(spec));
  }
  return found;
}

export const logKeyOf = (tenantId: string, row: ListedInstance, tryNumber = row.try_number): LogKey => ({
  tenantId,
  dagId: row.dag_id,
  runId: row.run_id,
  taskId: row.task_id,
  mapIndex: row.map_index,
  tryNumber,
});
