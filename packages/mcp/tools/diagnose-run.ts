/** diagnose_run: why a run failed, or what it waits for, in one call. */
import type { TaskInstance } from '@svc/client/wire-types.ts';
import { FAILURE_CAUSES, isFailureCause } from '@svc/spec/failure-causes.ts';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import type { z } from 'zod';
import { blockedBy } from '../diagnosis/blocked.ts';
import { mergeModels, modelsInLog, modelsOfTask } from '../diagnosis/models.ts';
import type { Model } from '../diagnosis/models.ts';
import { readRun } from '../diagnosis/read-run.ts';
import type { RunFacts } from '../diagnosis/read-run.ts';
import { nameOf, summaryOf } from '../diagnosis/summary.ts';
import { shareBudget } from '../text/caps.ts';
import { UNTRUSTED_NOTICE, safeText, safeTextOrNull } from '../text/untrusted.ts';
import type { DiagnoseRunOutput, FailureOutput, diagnoseRunInput } from './diagnose-run-shapes.ts';
import { diagnosisText } from './diagnose-run-text.ts';
import { result } from './tool.ts';
import type { ToolContext } from './tool.ts';

/** Ids of blocked tasks that are listed for one failure; the total is always told. */
const MAX_BLOCKED_IDS = 20;

export async function diagnoseRun(context: ToolContext, input: z.infer<typeof diagnoseRunInput>) {
  const ref = { dagId: input.dag_id, runId: input.run_id };
  const facts = await readRun(context, ref, { logTailLines: input.log_tail_lines });
  const output = diagnosisOf(facts);
  return result(output, diagnosisText(output));
}

function diagnosisOf(facts: RunFacts): DiagnoseRunOutput {
  const { run, counts } = facts;
  const failures = failuresOf(facts);
  const waitsFor = runWait(facts) ?? plainReason(facts.waiting.find((one) => one.wait_reason !== null)?.wait_reason);
  const failedNames = facts.failures.map(({ instance }) => safeText(nameOf(instance)));
  return {
    summary: summaryOf({ dagId: run.dag_id, runId: run.dag_run_id, state: run.state, counts, failedNames, waitsFor }),
    dag_id: run.dag_id,
    run_id: run.dag_run_id,
    state: run.state,
    run_type: run.run_type,
    logical_date: run.logical_date,
    run_after: run.run_after,
    start_date: run.start_date,
    end_date: run.end_date,
    duration_seconds: run.duration,
    version_numbers: run.dag_versions.map((version) => version.version_number),
    counts,
    failures,
    failures_not_shown: counts.failed - failures.length,
    models: modelsOf(facts),
    waiting: facts.waiting.map((instance) => ({
      task_id: safeText(instance.task_id),
      map_index: instance.map_index,
      state: instance.state,
      wait_reason: safeTextOrNull(instance.wait_reason),
    })),
    run_waits_for: runWait(facts),
    notice: UNTRUSTED_NOTICE,
  };
}

function failuresOf(facts: RunFacts): FailureOutput[] {
  const blocked = blockedByVersion(facts);
  const logs = shareBudget(facts.failures.map(({ log }) => log.lines));
  return facts.failures.map(({ instance, log }, index) => {
    const lines = logs[index] ?? [];
    return {
      ...attemptOf(instance),
      blocks: blocked(instance),
      log: {
        untrusted: true,
        lines,
        lines_left_out: log.lines.length - lines.length,
        note: log.note,
      },
    };
  });
}

function attemptOf(instance: TaskInstance): Omit<FailureOutput, 'blocks' | 'log'> {
  const cause = /^\w+/.exec(instance.failure_reason ?? '')?.[0] ?? '';
  return {
    task_id: safeText(instance.task_id),
    map_index: instance.map_index,
    operator: safeTextOrNull(instance.operator_name ?? instance.operator, 100),
    state: instance.state,
    try_number: instance.try_number,
    retries_left: Math.max(0, instance.max_tries + 1 - instance.try_number),
    will_retry: instance.state === 'up_for_retry',
    cause: isFailureCause(cause) ? cause : null,
    cause_meaning: isFailureCause(cause) ? FAILURE_CAUSES[cause].text : null,
    failure_reason: safeTextOrNull(instance.failure_reason),
    start_date: instance.start_date,
    end_date: instance.end_date,
    duration_seconds: instance.duration,
  };
}

function blockedByVersion(facts: RunFacts): (instance: TaskInstance) => FailureOutput['blocks'] {
  const failed = new Set(facts.failedTaskIds);
  const byVersion = new Map(
    [...facts.graphs].map(([version, graph]) => [
      version,
      'note' in graph ? graph : { blocked: blockedBy(graph.tasks, failed) },
    ]),
  );
  return ({ task_id: taskId, dag_version: version }) => {
    const found = byVersion.get(version?.version_number ?? -1);
    if (!found) return { total: null, task_ids: [], note: 'the version of the DAG it ran with is not known' };
    if ('note' in found) return { total: null, task_ids: [], note: `the spec could not be read: ${found.note}` };
    const ids = found.blocked.get(taskId) ?? [];
    return { total: ids.length, task_ids: ids.slice(0, MAX_BLOCKED_IDS).map((id) => safeText(id)), note: null };
  };
}

function modelsOf(facts: RunFacts): Model[] {
  const shown = new Set(facts.failures.map(({ instance }) => instance.task_id));
  const tasks = [...facts.graphs.values()].flatMap((graph) => ('tasks' in graph ? graph.tasks : []));
  return mergeModels([
    ...facts.failures.flatMap(({ instance, log }) => modelsInLog(instance.task_id, log.lines)),
    ...tasks.filter((task) => shown.has(task.task_id)).flatMap(modelsOfTask),
  ]);
}

/** Of a run that has not started: it has no task instances that could tell. */
function runWait({ run, dag }: RunFacts): string | null {
  if (run.state !== 'queued' || dag === null) return null;
  if (dag.is_paused) return WAIT_REASONS.paused;
  if (Date.parse(run.run_after) > Date.now()) return `its run_after has not come yet (${run.run_after})`;
  return `${WAIT_REASONS.max_active_runs} (${dag.max_active_runs}), or the scheduler is about to start it`;
}

/** The sentence of the closed list, without the details behind it, which may have names that users gave. */
const plainReason = (text: string | null | undefined): string | null =>
  Object.values(WAIT_REASONS).find((reason) => text?.startsWith(reason)) ?? null;
