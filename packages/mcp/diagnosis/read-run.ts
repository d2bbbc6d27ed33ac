/**
 * What a diagnosis needs to know of a run. The number of requests does not grow with the run: a few short lists that the
 * control plane filters and counts, then the spec of the versions that failed, and one log tail for each failure shown.
 */
import type { Call } from '@svc/client/operations.ts';
import type { Dag, DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { isRunFinished } from '@svc/spec/states.ts';
import type { TaskState } from '@svc/spec/states.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { ControlPlaneError } from '../control-plane/failures.ts';
import { runIds, tryIds } from '../control-plane/ids.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { readLastLines } from '../control-plane/last-lines.ts';
import { createLimit } from '../control-plane/limit.ts';
import type { Limit } from '../control-plane/limit.ts';
import { safeLines } from '../text/untrusted.ts';
import type { GraphTask } from './blocked.ts';
import type { ModelTask } from './models.ts';
import { pickVaried } from './pick.ts';
import type { Counts } from './summary.ts';

export const MAX_FAILURES = 20;
/** Of so many failures the varied ones are picked. */
const MAX_CANDIDATES = 100;
const MAX_ACTIVE = 20;
const MAX_WAITING = 5;
/** More than one only after a part of the run was cleared to a newer version. */
const MAX_VERSIONS = 3;
const REQUESTS_AT_ONCE = 6;

const INSTANCES = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances';
const LOG = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/logs/{try_number}';

const FAILED: readonly TaskState[] = ['failed', 'up_for_retry'];
const ACTIVE: readonly TaskState[] = ['running', 'queued', 'scheduled', 'restarting', 'deferred', 'up_for_reschedule'];

/** The tail of a log, or why there is none. */
export type LogTail = { lines: string[]; note: string | null };
export type SpecTask = GraphTask & ModelTask;

export type RunFacts = {
  run: DagRun;
  counts: Counts;
  failures: { instance: TaskInstance; log: LogTail }[];
  /** Every failed task that was looked at, shown or not. */
  failedTaskIds: string[];
  /** By version. Null: it could not be read, and why. */
  graphs: Map<number, { tasks: readonly SpecTask[] } | { note: string }>;
  waiting: TaskInstance[];
  /** Only of a run that has not started. */
  dag: Dag | null;
};

export async function readRun(
  { controlPlane, heavy }: { controlPlane: ControlPlane; heavy: Limit },
  ref: RunRef,
  { logTailLines }: { logTailLines: number },
): Promise<RunFacts> {
  const few = createLimit(REQUESTS_AT_ONCE);
  const path = runIds(ref);
  const list: List = async (query) => {
    const { task_instances: found, total_entries: total } = await few.run(() =>
      controlPlane.get(INSTANCES, { path, query }),
    );
    return { task_instances: found, total_entries: total ?? 0 }; // null only to those who page by cursor
  };
  const run = await controlPlane.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path });
  const [{ failed, ...counts }, active, waiting] = await Promise.all([
    readFailed(list),
    isRunFinished(run.state) ? NOTHING : list({ state: ACTIVE, limit: MAX_ACTIVE }),
    isRunFinished(run.state) ? NOTHING : list({ state: ['none'], limit: MAX_WAITING }),
  ]);
  const shown = pickVaried(failed.task_instances, MAX_FAILURES);
  const [graphs, logs, dag] = await Promise.all([
    readGraphs({ controlPlane, heavy, few }, ref, shown),
    Promise.all(shown.map((instance) => few.run(() => readTail(controlPlane, ref, { instance, logTailLines })))),
    run.state === 'queued'
      ? few.run(() => controlPlane.get('/api/v2/dags/{dag_id}', { path: { dag_id: ref.dagId } }))
      : null,
  ]);
  return {
    run,
    counts: { ...counts, failed: failed.total_entries, active: active.total_entries, waiting: waiting.total_entries },
    failures: shown.map((instance, index) => ({ instance, log: logs[index] ?? { lines: [], note: null } })),
    failedTaskIds: [...new Set(failed.task_instances.map((instance) => instance.task_id))],
    graphs,
    waiting: [...active.task_instances, ...waiting.task_instances],
    dag,
  };
}

type Listed = { task_instances: TaskInstance[]; total_entries: number };
type List = (query: NonNullable<Call<'get', typeof INSTANCES>['query']>) => Promise<Listed>;
const NOTHING: Listed = { task_instances: [], total_entries: 0 };

async function readFailed(list: List) {
  const [failed, lost, all] = await Promise.all([
    list({ state: FAILED, limit: MAX_CANDIDATES, order_by: ['end_date'] }),
    list({ state: ['upstream_failed'], limit: 1 }),
    list({ limit: 1 }),
  ]);
  const isWhole = failed.task_instances.length >= failed.total_entries;
  const retried = isWhole
    ? failed.task_instances.filter((instance) => instance.state === 'up_for_retry').length
    : (await list({ state: ['up_for_retry'], limit: 1 })).total_entries;
  return { failed, total: all.total_entries, up_for_retry: retried, upstream_failed: lost.total_entries };
}

type Readers = { controlPlane: ControlPlane; heavy: Limit; few: Limit };

/** The graph as it was when the failed attempts ran: a version that was registered since must not change the diagnosis. */
async function readGraphs(
  { controlPlane, heavy, few }: Readers,
  { dagId }: RunRef,
  failures: readonly TaskInstance[],
): Promise<RunFacts['graphs']> {
  const versions = [...new Set(failures.flatMap((failure) => failure.dag_version?.version_number ?? []))];
  const read = async (version: number) => {
    const call = { path: { dag_id: dagId }, query: { version_number: version } };
    const { tasks } = (await controlPlane.get('/api/v2/dags/{dag_id}/spec', call)) as Pick<CompiledSpec, 'tasks'>;
    return { tasks: tasks.map(graphPart) }; // the rest of a spec is most of it, and not needed
  };
  const graphs = await Promise.all(
    versions
      .slice(0, MAX_VERSIONS)
      .map((version) =>
        few.run(() => heavy.run(() => orNote(read(version)))).then((graph) => [version, graph] as const),
      ),
  );
  return new Map(graphs);
}

const graphPart = (task: CompiledSpec['tasks'][number]): SpecTask => ({
  task_id: task.task_id,
  upstream_task_ids: task.upstream_task_ids,
  downstream_task_ids: task.downstream_task_ids,
  is_setup: task.is_setup,
  policy: { trigger_rule: task.policy.trigger_rule },
  operator: { module: task.operator.module, name: task.operator.name },
  arguments: task.arguments,
});

async function readTail(
  controlPlane: ControlPlane,
  ref: RunRef,
  { instance, logTailLines }: { instance: TaskInstance; logTailLines: number },
): Promise<LogTail> {
  const { task_id: taskId, map_index: mapIndex, try_number: tryNumber } = instance;
  if (tryNumber < 1) return { lines: [], note: 'it never started, so it has no log' };
  const call = {
    path: tryIds({ ...ref, taskId, tryNumber }),
    query: { tail_lines: logTailLines, ...(mapIndex !== -1 && { map_index: mapIndex }) },
  };
  const lines = await orNote(controlPlane.text(LOG, call, ({ texts }) => readLastLines(texts, logTailLines)));
  if ('note' in lines) return { lines: [], note: `the log could not be read: ${lines.note}` };
  return { lines: safeLines(lines), note: lines.length === 0 ? 'the log is empty' : null };
}

/** A part that cannot be had leaves a gap; what is known without it is still worth telling. */
async function orNote<T extends object>(part: Promise<T>): Promise<T | { note: string }> {
  try {
    return await part;
  } catch (error) {
    if (error instanceof ControlPlaneError) return { note: error.message };
    throw error;
  }
}
