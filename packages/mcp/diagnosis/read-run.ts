/**
 * Reads what a diagnosis needs about a run. The number of requests does not grow with the run. It reads some short
 * lists that the control plane filters and counts, and the spec of the failed versions. It also reads one log tail for
 * each shown failure, and makes a fixed number of further requests (around.ts).
 */
import type { Call } from '@svc/client/operations.ts';
import type { Dag, DagDetails, DagRun, ImportError, TaskInstance } from '@svc/client/wire-types.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { isRunFinished } from '@svc/spec/states.ts';
import type { TaskState } from '@svc/spec/states.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { runIds } from '../control-plane/ids.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { createLimit } from '../control-plane/limit.ts';
import type { Limit } from '../control-plane/limit.ts';
import { orWhyNot, readTail } from './evidence.ts';
import type { LogTail } from './evidence.ts';
import type { ModelTask } from './models.ts';
import { pickVaried } from './pick.ts';
import type { SkipTask } from './skips.ts';
import type { Counts } from './summary.ts';

export const MAX_FAILURES = 20;
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
const RUNS_BEFORE = 5;
const MAX_IMPORT_ERRORS = 3;
const REQUESTS_AT_ONCE = 6;

const INSTANCES = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances';

const FAILED: readonly TaskState[] = ['failed', 'up_for_retry'];
const ACTIVE: readonly TaskState[] = ['running', 'queued', 'scheduled', 'restarting', 'deferred', 'up_for_reschedule'];

export type SpecTask = SkipTask & ModelTask & { readonly isMapped: boolean };
export type Graph = { tasks: readonly SpecTask[] } | { whyNot: string };

export type RunFacts = {
  run: DagRun;
  counts: Counts;
  failures: { instance: TaskInstance; log: LogTail }[];
  /** All failed tasks that were read, whether shown or not. */
  failedTaskIds: string[];
  /** Graphs by version. */
  graphs: Map<number, Graph>;
  waiting: TaskInstance[];
  skipped: TaskInstance[];
  /** Instances that succeeded after the first try. */
  retried: TaskInstance[];
  /** Newest first. */
  runsBefore: DagRun[];
  dag: DagDetails | null;
  importErrors: ImportError[];
};

export type Reader = { controlPlane: ControlPlane; heavy: Limit };

export async function readRun(
  { controlPlane, heavy }: Reader,
  ref: RunRef,
  { logTailLines }: { logTailLines: number },
): Promise<RunFacts> {
  const few = createLimit(REQUESTS_AT_ONCE);
  const path = runIds(ref);
  const list: List = async (query) => {
    const { task_instances: found, total_entries: total } = await few.run(() =>
      controlPlane.get(INSTANCES, { path, query }),
    );
    return { task_instances: found, total_entries: total ?? 0 }; // null only when paging by cursor
  };
  const run = await controlPlane.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path });
  const isOver = isRunFinished(run.state);
  const [{ failed, finally: failedFinally, ...counts }, active, waiting, skipped, retried, runsBefore, dag] =
    await Promise.all([
      readFailed(list),
      isOver ? NOTHING : list({ state: ACTIVE, limit: MAX_ACTIVE }),
      isOver ? NOTHING : list({ state: ['none'], limit: MAX_WAITING }),
      list({ state: ['skipped'], limit: MAX_SKIPPED }),
      list({ state: ['success'], try_number: LATER_TRIES, limit: MAX_RETRIED, order_by: ['end_date'] }),
      few.run(() => readRunsBefore(controlPlane, run)),
      few.run(() => readDag(controlPlane, ref.dagId)),
    ]);
  const shown = pickVaried(failed.task_instances, MAX_FAILURES);
  const [graphs, logs, importErrors] = await Promise.all([
    readGraphs({ controlPlane, heavy, few }, ref, [...shown, ...skipped.task_instances]),
    Promise.all(shown.map((instance) => few.run(() => readTail(controlPlane, ref, { instance, lines: logTailLines })))),
    dag?.has_import_errors ? few.run(() => readImportErrors(controlPlane, isOfFile(dag))) : [],
  ]);
  return {
    run,
    counts: {
      ...counts,
      failed: failedFinally,
      skipped: skipped.total_entries,
      active: active.total_entries,
      waiting: waiting.total_entries,
    },
    failures: shown.map((instance, index) => ({ instance, log: logs[index] as LogTail })),
    failedTaskIds: [...new Set(failed.task_instances.map((instance) => instance.task_id))],
    graphs,
    waiting: [...active.task_instances, ...waiting.task_instances],
    skipped: skipped.task_instances,
    retried: retried.task_instances,
    runsBefore,
    dag,
    importErrors,
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
  return {
    failed,
    total: all.total_entries,
    finally: failed.total_entries - retried,
    up_for_retry: retried,
    upstream_failed: lost.total_entries,
  };
}

/** Returns null if the DAG cannot be read. The diagnosis continues without it. */
export async function readDag(controlPlane: ControlPlane, dagId: string): Promise<DagDetails | null> {
  const dag = await orWhyNot(controlPlane.get('/api/v2/dags/{dag_id}/details', { path: { dag_id: dagId } }));
  return 'whyNot' in dag ? null : dag;
}

async function readRunsBefore(controlPlane: ControlPlane, run: DagRun): Promise<DagRun[]> {
  const query = { run_after_lt: run.run_after, order_by: ['-run_after' as const], limit: RUNS_BEFORE };
  const path = { dag_id: run.dag_id };
  const found = await orWhyNot(controlPlane.get('/api/v2/dags/{dag_id}/dagRuns', { path, query }));
  return 'whyNot' in found ? [] : found.dag_runs;
}

/** Returns the newest import errors, newest first. */
export async function readImportErrors(
  controlPlane: ControlPlane,
  isWanted: (error: ImportError) => boolean,
): Promise<ImportError[]> {
  const query = { order_by: ['-timestamp' as const], limit: 100 };
  const found = await orWhyNot(controlPlane.get('/api/v2/importErrors', { query }));
  return 'whyNot' in found ? [] : found.import_errors.filter(isWanted).slice(0, MAX_IMPORT_ERRORS);
}

/** Selects import errors of the file of a DAG. */
export const isOfFile =
  ({ relative_fileloc: file }: Pick<Dag, 'relative_fileloc'>) =>
  ({ filename }: ImportError): boolean =>
    filename === file;

type Readers = { controlPlane: ControlPlane; heavy: Limit; few: Limit };

/**
 * Reads the graph of the version that the failed attempts ran, because a version registered since must not change the
 * diagnosis.
 */
async function readGraphs(
  { controlPlane, heavy, few }: Readers,
  { dagId }: RunRef,
  instances: readonly TaskInstance[],
): Promise<RunFacts['graphs']> {
  const versions = [...new Set(instances.flatMap((one) => one.dag_version?.version_number ?? []))];
  const read = async (version: number) => {
    const call = { path: { dag_id: dagId }, query: { version_number: version } };
    const { tasks } = (await controlPlane.get('/api/v2/dags/{dag_id}/spec', call)) as Pick<CompiledSpec, 'tasks'>;
    return { tasks: tasks.map(graphPart) }; // the rest of a spec is large and not needed
  };
  const graphs = await Promise.all(
    versions
      .slice(0, MAX_VERSIONS)
      .map((version) =>
        few.run(() => heavy.run(() => orWhyNot(read(version)))).then((graph) => [version, graph] as const),
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
  skipsDownstream: task.operator.skips_downstream,
  isMapped: task.mapping !== null,
});
