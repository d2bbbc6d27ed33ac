/** The tool diagnose_run: says in one call why a run failed, or what it waits for. */
import type { TaskInstance, TaskInstanceTry } from '@svc/client/wire-types.ts';
import { FAILURE_CAUSES, isFailureCause } from '@svc/spec/failure-causes.ts';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import type { z } from 'zod';
import { readAround } from '../diagnosis/around.ts';
import type { Around } from '../diagnosis/around.ts';
import { blockedBy } from '../diagnosis/blocked.ts';
import { findRun, unregistered } from '../diagnosis/find-run.ts';
import type { NoRun } from '../diagnosis/find-run.ts';
import { readDag, readRun } from '../diagnosis/read-run.ts';
import type { RunFacts } from '../diagnosis/read-run.ts';
import { nameOf, summaryOf } from '../diagnosis/summary.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { shareBudget } from '../text/caps.ts';
import { redactValue } from '../text/redact.ts';
import { UNTRUSTED_NOTICE, safeText, safeTextOrNull } from '../text/untrusted.ts';
import { aroundOf, importErrorsOf, modelsOf, noRunOf, triesOf } from './diagnose-run-parts.ts';
import type { DiagnoseRunOutput, FailureOutput, diagnoseRunInput } from './diagnose-run-shapes.ts';
import { diagnosisText } from './diagnose-run-text.ts';
import { result } from './tool.ts';
import type { ToolContext } from './tool.ts';

/** Number of blocked task ids that are listed per failure. The total is always shown. */
const MAX_BLOCKED_IDS = 20;
/** Limit of all logs together, for each requested line. With 40 lines it leaves enough of 4,000 tokens for the rest. */
const LOG_LENGTH_PER_LINE = 200;
const MAX_RENDERED_LENGTH = 400;

export async function diagnoseRun(context: ToolContext, input: z.infer<typeof diagnoseRunInput>) {
  const found = await factsOf(context, input);
  const output = 'facts' in found ? diagnosisOf(found, input.log_tail_lines) : noRunOf(found);
  return result(output, diagnosisText(output));
}

async function factsOf(
  context: ToolContext,
  { dag_id: dagId, run_id: runId, log_tail_lines: logTailLines }: z.infer<typeof diagnoseRunInput>,
): Promise<{ facts: RunFacts; around: Around } | NoRun> {
  const { controlPlane } = context;
  const ref: RunRef | NoRun = runId === undefined ? await findRun(controlPlane, dagId) : { dagId, runId };
  if (!('runId' in ref)) return ref;
  try {
    const facts = await readRun(context, ref, { logTailLines });
    return { facts, around: await readAround(controlPlane, ref, facts) };
  } catch (error) {
    if ((await readDag(controlPlane, dagId)) !== null) throw error;
    return unregistered(controlPlane, dagId, error);
  }
}

function diagnosisOf({ facts, around }: { facts: RunFacts; around: Around }, logTailLines: number): DiagnoseRunOutput {
  const { run, counts } = facts;
  const failures = failuresOf(facts, around, logTailLines);
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
    failures_not_shown: counts.failed + counts.up_for_retry - failures.length,
    models: modelsOf(facts),
    waiting: facts.waiting.map((instance) => ({
      task_id: safeText(instance.task_id),
      map_index: instance.map_index,
      state: instance.state,
      wait_reason: safeTextOrNull(instance.wait_reason),
      trigger: instance.trigger && {
        class_path: safeText(instance.trigger.classpath),
        since: instance.trigger.created_date,
        triggerer: safeTextOrNull(instance.triggerer_job?.hostname ?? null),
      },
      last_lines: around.runningLines.get(instance) ?? [],
    })),
    run_waits_for: runWait(facts),
    ...aroundOf(facts, around),
    import_errors: importErrorsOf(facts.importErrors),
    notice: UNTRUSTED_NOTICE,
  };
}

function failuresOf(facts: RunFacts, around: Around, logTailLines: number): FailureOutput[] {
  const blocked = blockedByVersion(facts);
  const logs = shareBudget(
    facts.failures.map(({ log }) => log.lines),
    logTailLines * LOG_LENGTH_PER_LINE,
  );
  const firstOf = new Set<string>();
  return facts.failures.map(({ instance, log }, index) => {
    const lines = logs[index] ?? [];
    const isFirst = !firstOf.has(instance.task_id);
    firstOf.add(instance.task_id);
    return {
      ...attemptOf(instance, around.failedTries.get(instance) ?? []),
      instances: isFirst ? instancesOf(facts, around, instance) : null,
      error: log.error,
      blocks: blocked(instance),
      // Further instances of a mapped task have the same upstream tasks.
      upstream: isFirst
        ? (around.upstream.get(instance.task_id) ?? []).map((one) => ({
            task_id: safeText(one.task_id),
            state: one.state,
            last_lines: one.lastLines,
          }))
        : [],
      log: {
        untrusted: true,
        earlier_errors: log.earlier,
        lines,
        lines_left_out: log.lines.length - lines.length,
        note: log.note,
      },
    };
  });
}

function instancesOf(facts: RunFacts, around: Around, { task_id: taskId }: TaskInstance): FailureOutput['instances'] {
  const total = around.instanceCounts.get(taskId);
  if (total === undefined || total === 0) return null;
  return { total, failed: facts.failures.filter(({ instance }) => instance.task_id === taskId).length };
}

type OfAttempt = Omit<FailureOutput, 'instances' | 'error' | 'blocks' | 'upstream' | 'log'>;

function attemptOf(instance: TaskInstance, tries: readonly TaskInstanceTry[]): OfAttempt {
  const cause = /^\w+/.exec(instance.failure_reason ?? '')?.[0] ?? '';
  return {
    task_id: safeText(instance.task_id),
    map_index: instance.map_index,
    operator: safeTextOrNull(instance.operator_name ?? instance.operator, 100),
    state: instance.state,
    try_number: instance.try_number,
    retries_left: Math.max(0, instance.max_tries + 1 - instance.try_number),
    will_retry: instance.state === 'up_for_retry',
    next_try_at: instance.state === 'up_for_retry' ? momentIn(instance.wait_reason) : null,
    failed_tries: triesOf(tries),
    cause: isFailureCause(cause) ? cause : null,
    cause_meaning: isFailureCause(cause) ? FAILURE_CAUSES[cause].text : null,
    failure_reason: safeTextOrNull(instance.failure_reason),
    failure_detail: safeTextOrNull(instance.failure_detail),
    rendered_fields: renderedFields(instance.rendered_fields),
    start_date: instance.start_date,
    end_date: instance.end_date,
    duration_seconds: instance.duration,
  };
}

/**
 * Extracts the moment from `… (until 2026-11-16T20:27:48.629537Z)`, because the control plane reports it only in the
 * wait reason.
 */
const momentIn = (reason: string | null): string | null =>
  /\(until (?<moment>\d{4}-[\d:.TZ+-]+)\)/.exec(reason ?? '')?.groups?.['moment'] ?? null;

/** Omits empty fields and masks values under sensitive names. */
function renderedFields(fields: unknown): string | null {
  if (typeof fields !== 'object' || fields === null) return null;
  const said = Object.entries(fields).filter(([, value]) => !isEmpty(value));
  if (said.length === 0) return null;
  return safeText(JSON.stringify(redactValue(Object.fromEntries(said))), MAX_RENDERED_LENGTH);
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

function blockedByVersion(facts: RunFacts): (instance: TaskInstance) => FailureOutput['blocks'] {
  const failed = new Set(facts.failedTaskIds);
  const byVersion = new Map(
    [...facts.graphs].map(([version, graph]) => [
      version,
      'whyNot' in graph ? graph : { blocked: blockedBy(graph.tasks, failed) },
    ]),
  );
  return ({ task_id: taskId, dag_version: version }) => {
    const found = byVersion.get(version?.version_number ?? -1);
    if (!found) return { total: null, task_ids: [], note: 'the version of the DAG it ran with is not known' };
    if ('whyNot' in found) return { total: null, task_ids: [], note: `the spec could not be read: ${found.whyNot}` };
    const ids = found.blocked.get(taskId) ?? [];
    return { total: ids.length, task_ids: ids.slice(0, MAX_BLOCKED_IDS).map((id) => safeText(id)), note: null };
  };
}

/** Returns why a run has not started. It has no task instances that could explain it. */
function runWait({ run, dag }: RunFacts): string | null {
  if (run.state !== 'queued' || dag === null) return null;
  if (dag.is_paused) return WAIT_REASONS.paused;
  if (Date.parse(run.run_after) > Date.now()) return `its run_after has not come yet (${run.run_after})`;
  return `${WAIT_REASONS.max_active_runs} (${dag.max_active_runs}), or the scheduler is about to start it`;
}

/** Returns the sentence of the closed list without details, because details may contain names that users chose. */
const plainReason = (text: string | null | undefined): string | null =>
  Object.values(WAIT_REASONS).find((reason) => text?.startsWith(reason)) ?? null;
