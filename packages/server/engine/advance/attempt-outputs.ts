/** Saves what finished attempts leave in addition to their state: XComs, rendered fields, asset events, callbacks. */
import { failureText } from '@svc/spec/failure-causes.ts';
import type { SharedDb } from '../../db/database.ts';
import { itemCount } from '../../xcom/value.ts';
import type { AssetEventOutcome } from '../shared/attempts.ts';
import { deleteValues, saveRenderedFields, saveValues } from '../sql/attempt-outputs.ts';
import { requestCallback } from '../sql/callbacks.ts';
import type { RunEffects } from './run-effects.ts';
import { saveTriggers } from './deferral.ts';
import { reportedOf, retriedOf } from './ending.ts';
import type { Ending, ReportedEnding } from './ending.ts';
import { waitForAnswers } from './hitl.ts';
import type { HitlState } from './hitl.ts';
import type { RunWork } from './run-work.ts';

/** Runs in the transaction of the finish. It may create runs of DAGs that wait for the assets. */
export type RecordAssetEvents = (
  trx: SharedDb,
  source: {
    tenantId: string;
    run: number;
    dagId: string;
    runId: string;
    taskId: string;
    mapIndex: number;
    /** The partition of the run. Its asset events belong to this partition. */
    partitionKey?: string | null;
  },
  events: readonly AssetEventOutcome[],
) => Promise<{ effects: RunEffects[] }>;

/** Sends its statements before its first await. No caller needs the answers, and later statements see the values. */
export function sendValues(
  trx: SharedDb,
  endings: readonly Ending[],
  byRun: ReadonlyMap<number, RunWork>,
): Promise<unknown> {
  const values = reportedOf(endings).flatMap(({ ref, outcome }) =>
    (outcome.xcoms ?? []).map(({ key, value, length, version, stored }) => ({
      of: ref,
      dagId: byRun.get(ref.run)?.run.dag_id ?? '',
      key,
      value,
      length: stored ? stored.length : length === undefined ? itemCount(value) : length,
      version,
      stored: stored?.id,
    })),
  );
  return saveValues(trx, values);
}

/** Later statements do not read the rendered fields, so these are sent after the changes. */
export function sendRenderedFields(trx: SharedDb, endings: readonly Ending[]): Promise<unknown> {
  const fields = reportedOf(endings).flatMap(({ ref, outcome: { renderedFields = {} } }) =>
    Object.keys(renderedFields).length > 0 ? [{ of: ref, fields: renderedFields }] : [],
  );
  return saveRenderedFields(trx, fields);
}

/**
 * Saves outputs that only some attempts have and that planning or the next try reads. Sends nothing for other attempts.
 */
export async function saveRareOutputs(
  trx: SharedDb,
  input: {
    endings: readonly Ending[];
    resumed: ReadonlySet<Ending>;
    byRun: ReadonlyMap<number, RunWork>;
    recordAssetEvents: RecordAssetEvents;
    hitlState?: HitlState | undefined;
  },
): Promise<{ dueAt: string | null; hasCallbacks: boolean }> {
  const { endings, byRun } = input;
  const reported = reportedOf(endings);
  await deleteValues(trx, retriedOf(endings, byRun)); // a new try begins without the values of the try before
  await waitForAnswers(trx, rescheduledOf(reported, byRun), input.hitlState);
  await saveTriggers(trx, input);
  let dueAt: string | null = null;
  for (const { ref, outcome } of reported) {
    const work = byRun.get(ref.run);
    if (!work || outcome.state !== 'success' || !outcome.assetEvents?.length) continue;
    const { dag_id: dagId, run_id: runId, partition_key: partitionKey } = work.run;
    const source = { ...ref, dagId, runId, partitionKey };
    const { effects } = await input.recordAssetEvents(trx, source, outcome.assetEvents);
    dueAt ??= effects.find((effect) => effect.dueAt !== null)?.dueAt ?? null;
  }
  return { dueAt, hasCallbacks: await requestCallbacksOfLost(trx, endings, byRun) };
}

const rescheduledOf = (reported: readonly ReportedEnding[], byRun: ReadonlyMap<number, RunWork>) =>
  reported.flatMap(({ ref, outcome }) => {
    const work = byRun.get(ref.run);
    const row = work?.row(ref);
    return outcome.state === 'reschedule' && work && row?.state === 'up_for_reschedule' ? [{ work, row }] : [];
  });

/** A task that reports its own end has called its callbacks. For a task that could not, this function requests them. */
async function requestCallbacksOfLost(
  trx: SharedDb,
  endings: readonly Ending[],
  byRun: ReadonlyMap<number, RunWork>,
): Promise<boolean> {
  let hasAny = false;
  for (const ending of endings) {
    const work = byRun.get(ending.ref.run);
    const row = work?.row(ending.ref);
    if (!work || !row || !endedWithoutItsCallbacks(ending)) continue;
    const callbacks = work.graph.blueprint.tasks.get(row.task_id)?.spec.callbacks;
    const which = row.state === 'up_for_retry' ? 'on_retry' : 'on_failure';
    if ((row.state !== 'up_for_retry' && row.state !== 'failed') || !callbacks?.[which]?.length) continue;
    await requestCallback(trx, {
      tenant_id: row.tenant_id,
      run: row.run,
      dag_id: row.dag_id,
      task_id: row.task_id,
      map_index: row.map_index,
      try_number: row.try_number,
      which,
      reason: failureText(row) ?? 'the task was lost',
    });
    hasAny = true;
  }
  return hasAny;
}

/** Failures that the agent reports because the process of the task could not. */
const REPORTED_BY_AGENT = new Set([
  'process_killed',
  'process_exited',
  'out_of_memory',
  'execution_timeout',
  'dag_file_failed',
]);

/**
 * A task that notices its own timeout calls its callbacks itself. The cause alone does not show whether the task or the
 * agent noticed it.
 */
const endedWithoutItsCallbacks = (ending: Ending): boolean =>
  'lost' in ending ||
  (ending.outcome.state === 'failed' &&
    !ending.outcome.calledCallbacks &&
    REPORTED_BY_AGENT.has(ending.outcome.failure?.cause ?? ''));
