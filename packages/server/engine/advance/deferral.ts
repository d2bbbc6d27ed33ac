/**
 * A deferred task waits without a process and without a slot:
 *
 *   running ─ asks for a trigger ─▶ deferred ─ its event, its time, or its timeout ─▶ scheduled ─▶ running, the same try
 *                                      └─ an event that ends the task ─▶ success | failed | skipped
 *
 * The trigger is stored with the end of the attempt, and removed with the end of the try: until then the resumed attempt reads
 * from it how to go on. Times (of time triggers, and timeouts) are the instance's `due_at`, found like a retry's.
 */
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import type { AttemptOutcome } from '../shared/attempts.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { deleteTriggersOf, recordEvent, replaceTriggers } from '../sql/triggers.ts';
import { load, noEffects, openWork, writeAll } from './apply-to-runs.ts';
import type { RunEffects } from './apply-to-runs.ts';
import { timeoutOf } from './deferred-columns.ts';
import { reportedOf } from './ending.ts';
import type { Ending } from './ending.ts';
import type { RunWork } from './run-work.ts';

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

/**
 * Instances that start from their triggers and were scheduled all the same: by a process that may not write triggers, or while
 * their DAG was paused.
 */
export async function deferScheduled(
  db: Database,
  graphs: DagGraphs,
  starts: readonly Pick<InstanceRow, 'tenant_id' | 'run' | 'task_id' | 'map_index'>[],
): Promise<RunEffects> {
  return db.shared.transaction().execute(async (trx) => {
    const refs = new Map(starts.map((row) => [row.run, { tenantId: row.tenant_id, run: row.run }]));
    const works = await openWork(trx, graphs, await lockRuns(trx, [...refs.values()]));
    const picksOf = ({ run }: RunWork) => starts.filter((row) => row.run === run.id);
    await load(
      trx,
      works.map((work) => ({
        work,
        picks: picksOf(work).map((row) => ({ taskId: row.task_id, mapIndex: row.map_index })),
      })),
    );
    for (const work of works)
      for (const row of work.loadedRows()) if (row.state === 'scheduled') work.change(row, { claimable: false });
    return writeAll(trx, works);
  });
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
