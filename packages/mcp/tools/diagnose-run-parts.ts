/** Parts of a diagnosis in addition to the failures: their surroundings, and the answer for a DAG without runs. */
import type { ImportError, TaskInstanceTry } from '@svc/client/wire-types.ts';
import type { Around } from '../diagnosis/around.ts';
import type { NoRun } from '../diagnosis/find-run.ts';
import { historyOf } from '../diagnosis/history.ts';
import { mergeModels, modelsInLog, modelsOfTask } from '../diagnosis/models.ts';
import type { Model } from '../diagnosis/models.ts';
import type { RunFacts } from '../diagnosis/read-run.ts';
import { localTime, scheduleOf } from '../diagnosis/schedule.ts';
import { skipsOf } from '../diagnosis/skips.ts';
import { nameOf } from '../diagnosis/summary.ts';
import { UNTRUSTED_NOTICE, safeLines, safeText, safeTextOrNull } from '../text/untrusted.ts';
import type { DiagnoseRunOutput, FailureOutput } from './diagnose-run-shapes.ts';

const MAX_TRACE_LINES = 20;
const MAX_SKIPPED_SHOWN = 20;

type AroundOutput = Pick<
  DiagnoseRunOutput,
  'retried' | 'skipped' | 'pools' | 'schedule' | 'history' | 'logical_date_local'
>;

export function aroundOf(facts: RunFacts, around: Around): AroundOutput {
  const { run, dag, retried, skipped } = facts;
  const tasks = [...facts.graphs.values()].flatMap((graph) => ('tasks' in graph ? graph.tasks : []));
  return {
    logical_date_local: localTime(run.logical_date, safeTextOrNull(dag?.timezone, 100)),
    retried: retried.map((instance) => ({
      task_id: safeText(instance.task_id),
      map_index: instance.map_index,
      try_number: instance.try_number,
      failed_tries: triesOf(around.failedTries.get(instance) ?? []),
    })),
    skipped: skipsOf(tasks, skipped)
      .slice(0, MAX_SKIPPED_SHOWN)
      .map((skip) => ({ ...skip, task_id: safeText(skip.task_id), why: safeText(skip.why) })),
    pools: around.pools.map((pool) => ({
      name: safeText(pool.name, 250),
      slots: pool.slots,
      occupied: pool.occupied,
      held_by: pool.holders.map((holder) => ({
        dag_id: safeText(holder.dag_id),
        run_id: safeText(holder.dag_run_id),
        task: safeText(nameOf(holder)),
        since: holder.start_date,
      })),
      waiting: pool.waiters.map((waiter) => safeText(nameOf(waiter))),
      is_held_by_this_run:
        pool.holders.length > 0 &&
        pool.holders.every((one) => one.dag_id === run.dag_id && one.dag_run_id === run.dag_run_id),
    })),
    schedule: dag === null ? null : scheduleOf(dag),
    history: historyOf(run, facts.runsBefore, dag),
  };
}

export const triesOf = (tries: readonly TaskInstanceTry[]): FailureOutput['failed_tries'] =>
  tries.map((one) => ({
    try_number: one.try_number,
    failure_reason: safeTextOrNull(one.failure_reason),
    failure_detail: safeTextOrNull(one.failure_detail),
    end_date: one.end_date,
  }));

export const importErrorsOf = (errors: readonly ImportError[]): DiagnoseRunOutput['import_errors'] =>
  errors.map(({ filename, timestamp, stack_trace: trace }) => ({
    file: safeText(filename, 500),
    at: timestamp,
    lines: safeLines(trace.split('\n').slice(-MAX_TRACE_LINES)),
  }));

export function modelsOf(facts: RunFacts): Model[] {
  const shown = new Set(facts.failures.map(({ instance }) => instance.task_id));
  const tasks = [...facts.graphs.values()].flatMap((graph) => ('tasks' in graph ? graph.tasks : []));
  return mergeModels([
    ...facts.failures.flatMap(({ instance, log }) => modelsInLog(instance.task_id, [...log.earlier, ...log.lines])),
    ...tasks.filter((task) => shown.has(task.task_id)).flatMap(modelsOfTask),
  ]);
}

const NO_COUNTS = { total: 0, failed: 0, up_for_retry: 0, upstream_failed: 0, skipped: 0, active: 0, waiting: 0 };

/** Returns a diagnosis without a run. */
export function noRunOf({ dagId, dag, importErrors }: NoRun): DiagnoseRunOutput {
  const schedule = dag === null ? null : scheduleOf(dag);
  const broken = importErrors.length > 0 ? ` ${filesWords(importErrors.length)}` : '';
  const summary =
    schedule === null
      ? `There is no DAG ${dagId}, so it has no runs.${broken}`
      : `DAG ${dagId} has never run: ${schedule.note ?? `its next run comes at ${schedule.next_run_after ?? 'a time that is not known'}`}.${broken}`;
  return {
    summary,
    dag_id: dagId,
    run_id: null,
    state: null,
    run_type: null,
    logical_date: null,
    logical_date_local: null,
    run_after: null,
    start_date: null,
    end_date: null,
    duration_seconds: null,
    version_numbers: [],
    counts: NO_COUNTS,
    failures: [],
    failures_not_shown: 0,
    retried: [],
    skipped: [],
    models: [],
    waiting: [],
    pools: [],
    run_waits_for: null,
    schedule,
    history: null,
    import_errors: importErrorsOf(importErrors),
    notice: UNTRUSTED_NOTICE,
  };
}

const filesWords = (count: number): string =>
  count === 1 ? 'A file that could define it does not compile.' : `${count} files that could define it do not compile.`;
