/**
 * The tool diagnose_run: says in one call why a run failed, or what it waits for. The control plane makes the diagnosis;
 * this file chooses the run and shapes the answer.
 */
import type { DagDetails, ImportError, RunDiagnosis } from '@svc/client/wire-types.ts';
import { safeTextOrNull } from '@svc/spec/text/safe-text.ts';
import { sanitizeValue } from '@svc/spec/text/sanitize.ts';
import type { z } from 'zod';
import type { ControlPlane } from '../control-plane/client.ts';
import { runIds } from '../control-plane/ids.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { isOfFile, readDag, readImportErrors } from '../diagnosis/dag-facts.ts';
import { findRun, unregistered } from '../diagnosis/find-run.ts';
import type { NoRun } from '../diagnosis/find-run.ts';
import { localTime, scheduleOf } from '../diagnosis/schedule.ts';
import { nameOf, summaryOf } from '../diagnosis/summary.ts';
import { UNTRUSTED_NOTICE } from '../text/untrusted.ts';
import { importErrorsOf, noRunOf } from './diagnose-run-parts.ts';
import type { DiagnoseRunOutput, FailureOutput, diagnoseRunInput } from './diagnose-run-shapes.ts';
import { diagnosisText } from './diagnose-run-text.ts';
import { result } from './tool.ts';
import type { ToolContext } from './tool.ts';

type Failure = RunDiagnosis['failures'][number];
type Facts = { diagnosis: RunDiagnosis; dag: DagDetails | null; importErrors: ImportError[] };

export async function diagnoseRun({ controlPlane }: ToolContext, input: z.infer<typeof diagnoseRunInput>) {
  const found = await factsOf(controlPlane, input);
  const output = 'diagnosis' in found ? outputOf(found) : noRunOf(found);
  return result(output, diagnosisText(output));
}

async function factsOf(
  controlPlane: ControlPlane,
  { dag_id: dagId, run_id: runId, log_tail_lines: logTailLines }: z.infer<typeof diagnoseRunInput>,
): Promise<Facts | NoRun> {
  const ref: RunRef | NoRun = runId === undefined ? await findRun(controlPlane, dagId) : { dagId, runId };
  if (!('runId' in ref)) return ref;
  const dag = readDag(controlPlane, dagId);
  try {
    const diagnosis = await controlPlane.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/diagnosis', {
      path: runIds(ref),
      query: { log_tail_lines: logTailLines },
    });
    const details = await dag;
    const importErrors = details?.has_import_errors ? await readImportErrors(controlPlane, isOfFile(details)) : [];
    // The control plane has masked and limited all texts. Invisible text is removed here once more.
    return { diagnosis: sanitizeValue(diagnosis) as RunDiagnosis, dag: details, importErrors };
  } catch (error) {
    if ((await dag) !== null) throw error;
    return unregistered(controlPlane, dagId, error);
  }
}

function outputOf({ diagnosis, dag, importErrors }: Facts): DiagnoseRunOutput {
  const { counts, history, waiting, run_wait: runWait, dag_versions: versions } = diagnosis;
  const waitsFor = runWait ? waitText(runWait) : (waiting.find((one) => one.wait !== null)?.wait?.meaning ?? null);
  return {
    summary: summaryOf({
      dagId: diagnosis.dag_id,
      runId: diagnosis.dag_run_id,
      state: diagnosis.state,
      counts,
      failedNames: diagnosis.failures.map(nameOf),
      waitsFor,
    }),
    dag_id: diagnosis.dag_id,
    run_id: diagnosis.dag_run_id,
    state: diagnosis.state,
    run_type: diagnosis.run_type,
    logical_date: diagnosis.logical_date,
    logical_date_local: localTime(diagnosis.logical_date, safeTextOrNull(dag?.timezone, 100)),
    run_after: diagnosis.run_after,
    start_date: diagnosis.start_date,
    end_date: diagnosis.end_date,
    duration_seconds: diagnosis.duration,
    version_numbers: versions.map((version) => version.version_number),
    counts,
    failures: diagnosis.failures.map(failureOf),
    failures_not_shown: diagnosis.failures_not_shown,
    retried: diagnosis.retried.map(({ failed_tries: tries, ...one }) => ({ ...one, failed_tries: triesOf(tries) })),
    skipped: diagnosis.skipped,
    models: diagnosis.models,
    waiting: waiting.map(({ wait, ...one }) => ({ ...one, wait_reason: wait && waitText(wait) })),
    pools: diagnosis.pools.map(({ held_by: holders, waiting: waiters, ...pool }) => ({
      ...pool,
      held_by: holders.map(({ dag_id, run_id, since, ...one }) => ({ dag_id, run_id, task: nameOf(one), since })),
      waiting: waiters.map(nameOf),
      is_held_by_this_run:
        holders.length > 0 &&
        holders.every((one) => one.dag_id === diagnosis.dag_id && one.run_id === diagnosis.dag_run_id),
    })),
    run_waits_for: runWait && waitText(runWait),
    schedule: dag === null ? null : scheduleOf(dag),
    history: {
      previous_run: history.previous_run && {
        run_id: history.previous_run.run_id,
        state: history.previous_run.state,
        version_numbers: [history.previous_run.version_number],
        run_after: history.previous_run.run_after,
      },
      failed_before: history.failed_before,
      last_success: history.last_success,
      version_changed: history.version_changed,
      version_created_at: versions.at(-1)?.created_at ?? null,
      newest_version: history.newest_version,
    },
    import_errors: importErrorsOf(importErrors),
    notice: UNTRUSTED_NOTICE,
  };
}

const waitText = ({ meaning, detail }: { meaning: string; detail: string | null }): string =>
  detail === null ? meaning : `${meaning} (${detail})`;

function failureOf(failure: Failure): FailureOutput {
  const { cause, blocks, log } = failure;
  return {
    task_id: failure.task_id,
    map_index: failure.map_index,
    instances: failure.instances,
    operator: failure.operator,
    state: failure.state,
    try_number: failure.try_number,
    retries_left: Math.max(0, failure.max_tries + 1 - failure.try_number),
    will_retry: failure.state === 'up_for_retry',
    next_try_at: failure.next_try_at,
    failed_tries: triesOf(failure.failed_tries),
    cause: cause?.code ?? null,
    cause_meaning: cause?.meaning ?? null,
    failure_reason: cause && `${cause.code}: ${cause.meaning}`,
    failure_detail: cause?.detail ?? null,
    error: errorOf(cause?.exception ?? null),
    rendered_fields: failure.rendered_fields,
    start_date: failure.start_date,
    end_date: failure.end_date,
    duration_seconds: failure.duration,
    blocks: blocks
      ? { ...blocks, note: null }
      : { total: null, task_ids: [], note: 'the graph of the version it ran with is not known' },
    upstream: failure.upstream,
    log: { untrusted: true, ...log },
  };
}

const triesOf = (tries: Failure['failed_tries']): FailureOutput['failed_tries'] =>
  tries.map(({ try_number, end_date, cause }) => ({
    try_number,
    failure_reason: cause && `${cause.code}: ${cause.meaning}`,
    failure_detail: cause?.detail ?? null,
    end_date,
  }));

type Exception = NonNullable<NonNullable<Failure['cause']>['exception']>;

const errorOf = (exception: Exception | null): FailureOutput['error'] =>
  exception && { ...raisedOf(exception), root_cause: exception.root_cause && raisedOf(exception.root_cause) };

const raisedOf = ({ type, message, file, line, function: name, code }: Omit<Exception, 'root_cause'>) => ({
  type,
  message,
  at: file === null ? null : `${file}:${line}${name === null ? '' : ` in ${name}`}`,
  code,
});
