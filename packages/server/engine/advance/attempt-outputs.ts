/** What finished attempts leave beside their state: values for other tasks, rendered fields, asset events, callbacks. */
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { RunEffects } from './apply-to-runs.ts';
import type { AssetEventOutcome, AttemptOutcome, AttemptRef } from '../attempts.ts';
import { itemCount } from '../../xcom/value.ts';
import type { Ending } from './finish-attempts.ts';
import { waitForAnswers } from './hitl.ts';
import type { RunWork } from './run-work.ts';

/** Part of the finish transaction; may create runs of DAGs that wait for the assets. */
export type RecordAssetEvents = (
  trx: SharedDb,
  source: { tenantId: string; run: number; dagId: string; runId: string; taskId: string; mapIndex: number },
  events: readonly AssetEventOutcome[],
) => Promise<{ effects: RunEffects[] }>;

/** Values and rendered fields. Sent at once: nothing has to wait for the answers, and what is sent later sees them. */
export function sendOutputs(
  trx: SharedDb,
  endings: readonly Ending[],
  byRun: ReadonlyMap<number, RunWork>,
): Promise<unknown> {
  const reported = reportedOf(endings);
  return Promise.all([saveValues(trx, reported, byRun), saveRenderedFields(trx, reported)]);
}

/** What only some endings have. */
export async function saveBelongings(
  trx: SharedDb,
  input: { endings: readonly Ending[]; byRun: ReadonlyMap<number, RunWork>; recordAssetEvents: RecordAssetEvents },
): Promise<{ dueAt: string | null; hasCallbacks: boolean }> {
  const { endings, byRun } = input;
  const reported = reportedOf(endings);
  await dropValuesOfRetried(trx, endings, byRun);
  await waitForAnswers(trx, rescheduledOf(reported, byRun));
  let dueAt: string | null = null;
  for (const { ref, outcome } of reported) {
    const work = byRun.get(ref.run);
    if (!work || outcome.state !== 'success' || !outcome.assetEvents?.length) continue;
    const source = { ...ref, dagId: work.run.dag_id, runId: work.run.run_id };
    const { effects } = await input.recordAssetEvents(trx, source, outcome.assetEvents);
    dueAt ??= effects.find((effect) => effect.dueAt !== null)?.dueAt ?? null;
  }
  return { dueAt, hasCallbacks: await requestCallbacksOfLost(trx, endings, byRun) };
}

type Reported = { ref: AttemptRef; outcome: AttemptOutcome };

const reportedOf = (endings: readonly Ending[]): Reported[] =>
  endings.flatMap((ending) => ('outcome' in ending ? [{ ref: ending.ref, outcome: ending.outcome }] : []));

const rescheduledOf = (reported: readonly Reported[], byRun: ReadonlyMap<number, RunWork>) =>
  reported.flatMap(({ ref, outcome }) => {
    const work = byRun.get(ref.run);
    const row = work?.row(ref);
    return outcome.state === 'reschedule' && work && row?.state === 'up_for_reschedule' ? [{ work, row }] : [];
  });

async function saveValues(
  trx: SharedDb,
  reported: readonly Reported[],
  byRun: ReadonlyMap<number, RunWork>,
): Promise<void> {
  const rows = reported.flatMap(({ ref, outcome }) => (outcome.xcoms ?? []).map((xcom) => ({ ref, ...xcom })));
  if (rows.length === 0) return;
  await fixedSql`
    insert into xcoms (tenant_id, run, task_id, map_index, key, dag_id, value, length, at)
    select *, clock_timestamp() from unnest(${rows.map(({ ref }) => ref.tenantId)}::uuid[], ${rows.map(({ ref }) => ref.run)}::bigint[],
      ${rows.map(({ ref }) => ref.taskId)}::text[], ${rows.map(({ ref }) => ref.mapIndex)}::int[],
      ${rows.map(({ key }) => key)}::text[], ${rows.map(({ ref }) => byRun.get(ref.run)?.run.dag_id ?? '')}::text[],
      ${rows.map(({ value }) => value)}::text[], ${rows.map(({ value }) => itemCount(value))}::int[])
    on conflict (tenant_id, run, task_id, map_index, key)
      do update set value = excluded.value, length = excluded.length, at = excluded.at`.execute(trx);
}

async function saveRenderedFields(trx: SharedDb, reported: readonly Reported[]): Promise<void> {
  const rows = reported.filter(({ outcome }) => Object.keys(outcome.renderedFields ?? {}).length > 0);
  if (rows.length === 0) return;
  await fixedSql`
    insert into rendered_fields (tenant_id, run, task_id, map_index, fields)
    select * from unnest(${rows.map(({ ref }) => ref.tenantId)}::uuid[], ${rows.map(({ ref }) => ref.run)}::bigint[],
      ${rows.map(({ ref }) => ref.taskId)}::text[], ${rows.map(({ ref }) => ref.mapIndex)}::int[],
      ${rows.map(({ outcome }) => JSON.stringify(outcome.renderedFields))}::text[])
    on conflict (tenant_id, run, task_id, map_index) do update set fields = excluded.fields`.execute(trx);
}

/** A new try begins without the values of the one before. */
async function dropValuesOfRetried(
  trx: SharedDb,
  endings: readonly Ending[],
  byRun: ReadonlyMap<number, RunWork>,
): Promise<void> {
  const refs = endings.map(({ ref }) => ref).filter((ref) => byRun.get(ref.run)?.row(ref)?.state === 'up_for_retry');
  if (refs.length === 0) return;
  await fixedSql`
    delete from xcoms x using unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[],
      ${refs.map((ref) => ref.taskId)}::text[], ${refs.map((ref) => ref.mapIndex)}::int[]) as k(tenant_id, run, task_id, map_index)
    where x.tenant_id = k.tenant_id and x.run = k.run and x.task_id = k.task_id and x.map_index = k.map_index`.execute(
    trx,
  );
}

/** A task that lived to its end has called its callbacks itself. For one that did not, somebody else has to. */
async function requestCallbacksOfLost(
  trx: SharedDb,
  endings: readonly Ending[],
  byRun: ReadonlyMap<number, RunWork>,
): Promise<boolean> {
  let hasAny = false;
  for (const ending of endings) {
    const work = byRun.get(ending.ref.run);
    const row = work?.row(ending.ref);
    if (!work || !row || !endedWithoutItsOwnWord(ending)) continue;
    const callbacks = work.graph.blueprint.tasks.get(row.task_id)?.spec.callbacks;
    const which = row.state === 'up_for_retry' ? 'on_retry' : 'on_failure';
    if ((row.state !== 'up_for_retry' && row.state !== 'failed') || !callbacks?.[which]?.length) continue;
    await trx
      .insertInto('callback_requests')
      .values({
        tenant_id: row.tenant_id,
        run: row.run,
        dag_id: row.dag_id,
        task_id: row.task_id,
        map_index: row.map_index,
        try_number: row.try_number,
        which,
        reason: row.failure_reason ?? 'the task was lost',
      })
      .execute();
    hasAny = true;
  }
  return hasAny;
}

const AGENTS_OWN_WORD = new Set([
  'process_killed',
  'process_exited',
  'out_of_memory',
  'execution_timeout',
  'dag_file_failed',
]);

const endedWithoutItsOwnWord = (ending: Ending): boolean =>
  'lost' in ending || (ending.outcome.state === 'failed' && AGENTS_OWN_WORD.has(ending.outcome.failure?.cause ?? ''));
