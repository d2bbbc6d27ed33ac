/**
 * A deferred task waits without a process and without a slot:
 *
 *   running ─ asks for a trigger ─▶ deferred ─ its event, its time, or its timeout ─▶ scheduled ─▶ running, the same try
 *                                      └─ an event that ends the task ─▶ success | failed | skipped
 *
 * The trigger is stored with the end of the attempt, and removed with the end of the try: until then the resumed attempt reads
 * from it how to go on. Times (of time triggers, and timeouts) are the instance's `due_at`, found like a retry's.
 */
import { secondsAfter } from '@svc/spec/clock.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, TriggerRow } from '../../db/schema.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import type { AttemptOutcome, Deferral } from '../shared/attempts.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { deleteTriggersOf, recordEvent, replaceTriggers } from '../sql/triggers.ts';
import { load, noEffects, openWork, writeAll } from './apply-to-runs.ts';
import type { RunEffects } from './apply-to-runs.ts';
import { reportedOf } from './ending.ts';
import type { Ending } from './ending.ts';
import type { RunWork } from './run-work.ts';

export const timeoutOf = ({ timeoutSeconds }: Deferral, now: string): string | null =>
  timeoutSeconds === null ? null : secondsAfter(now, Math.max(0, timeoutSeconds));

/** What a deferral makes of its instance. */
export function deferredColumns(row: InstanceRow, deferral: Deferral, now: string): Partial<InstanceRow> {
  const moments = [timeoutOf(deferral, now), deferral.firesAt ?? null].filter((moment) => moment !== null);
  return {
    state: 'deferred',
    end_date: null,
    waits: null,
    due_at: moments.sort()[0] ?? null,
    first_poke_at: row.first_poke_at ?? row.start_date ?? now,
  };
}

/** `resumed`: endings of attempts that had gone on from a trigger, perhaps; their tries are over now, or wait anew. */
export async function saveTriggers(
  trx: SharedDb,
  input: { endings: readonly Ending[]; resumed: ReadonlySet<Ending>; byRun: ReadonlyMap<number, RunWork> },
): Promise<void> {
  const { endings, resumed, byRun } = input;
  const over = [...resumed].flatMap(({ ref }) => {
    const row = byRun.get(ref.run)?.row(ref);
    return row && row.state !== 'scheduled' && row.state !== 'deferred' ? [row] : [];
  });
  await deleteTriggersOf(trx, over);
  const made = reportedOf(endings).flatMap(({ ref, outcome }) => {
    const work = byRun.get(ref.run);
    const row = work?.row(ref);
    if (!work || row?.state !== 'deferred' || !outcome.deferral) return [];
    const { deferral } = outcome;
    return [{ row, versionNumber: work.run.version_number, deferral, timeoutAt: timeoutOf(deferral, work.now) }];
  });
  await replaceTriggers(trx, made);
}

/** Of a time trigger: whether its moment comes before its timeout does. */
export const isBeforeTimeout = ({
  fires_at: firesAt,
  timeout_at: timeoutAt,
}: Pick<TriggerRow, 'fires_at' | 'timeout_at'>) => firesAt !== null && (timeoutAt === null || firesAt <= timeoutAt);

/** An instance that waits for a trigger, and the attempt that made it. */
export type WaitingInstance = { tenantId: string; run: number; taskId: string; mapIndex: number; attemptId: string };

/**
 * The trigger has an event: the instance goes on with it. False when nobody waits for it any more, or the triggerer has lost
 * it: then nothing changes. Idempotent, because the first time takes the trigger from the triggerer.
 */
export async function resumeByEvent(
  trx: SharedDb,
  graphs: DagGraphs,
  input: {
    instance: WaitingInstance;
    trigger: { tenantId: string; triggerId: number; triggererId: string | null };
    event: string;
  },
): Promise<{ isApplied: boolean; effects: RunEffects }> {
  const { instance, trigger, event } = input;
  const works = await openWork(trx, graphs, await lockRuns(trx, [instance]));
  const [work] = works;
  const nothing = { isApplied: false, effects: noEffects() };
  if (!work || work.run.state !== 'running') return nothing;
  await load(trx, [{ work, picks: [{ taskId: instance.taskId, mapIndex: instance.mapIndex }] }]);
  const row = work.row(instance);
  if (row?.state !== 'deferred' || row.attempt_id !== instance.attemptId) return nothing;
  if (!(await recordEvent(trx, trigger, event))) return nothing;
  work.change(row, { state: 'scheduled', due_at: null, scheduled_at: work.now, claimable: false });
  const effects = await writeAll(trx, works);
  // Its triggerer knows: it has said so.
  return { isApplied: true, effects: { ...effects, hasTriggers: false } };
}

/** How an event of a trigger ends its task without a process (`end_from_trigger`); undefined: the task goes on with it. */
export function endingOf(event: string): AttemptOutcome | undefined {
  const { ends, xcoms } = JSON.parse(event) as { ends?: unknown; xcoms?: Record<string, unknown> };
  if (ends !== 'success' && ends !== 'failed' && ends !== 'skipped') return undefined;
  const values = Object.entries(xcoms ?? {}).map(([key, value]) => ({ key, value: JSON.stringify(value) }));
  return {
    state: ends,
    ...(ends === 'failed' && {
      retryable: false,
      failure: { cause: 'exception', text: 'the trigger has failed the task' },
    }),
    ...(values.length > 0 && { xcoms: values }),
  };
}
