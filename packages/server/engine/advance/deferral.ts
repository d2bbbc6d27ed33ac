/**
 * A deferred task waits without a process and without a slot:
 *
 *   running ─ asks for a trigger ─▶ deferred ─ its event, time, or timeout ─▶ scheduled ─▶ running, the same try
 *                                      └─ an event that ends the task ─▶ success | failed | skipped
 *
 * The trigger is stored with the end of the attempt. It stays until the end of the try, because the resumed attempt
 * reads from it where to continue. Times (of time triggers, and timeouts) are the `due_at` of the instance, like those
 * of retries.
 */
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { deleteTriggersOf, recordEvents, replaceTriggers } from '../sql/triggers.ts';
import type { TriggerEvent } from '../sql/triggers.ts';
import { load, openWork, writeAll } from './apply-to-runs.ts';
import { noEffects } from './run-effects.ts';
import type { RunEffects } from './run-effects.ts';
import { timeoutOf } from './deferred-columns.ts';
import { reportedOf } from './ending.ts';
import type { Ending } from './ending.ts';
import type { RunWork } from './run-work.ts';

/** `resumed`: ends of attempts that may have resumed from a trigger. Their tries are over now, or wait again. */
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

/** An instance that waits for a trigger, with the id of the attempt that created the trigger. */
export type WaitingInstance = { tenantId: string; run: number; taskId: string; mapIndex: number; attemptId: string };

/** The event of a trigger, and the instance that waits for it. */
export type Resumption = { instance: WaitingInstance; event: TriggerEvent };

/**
 * Resumes the instances of a batch of trigger events in one transaction. Answers false where the instance no longer
 * waits or the triggerer has lost the trigger; such an event changes nothing. Idempotent, because the first call takes
 * the trigger from the triggerer.
 */
export async function resumeByEvents(
  trx: SharedDb,
  graphs: DagGraphs,
  resumptions: readonly Resumption[],
): Promise<{ isApplied: boolean[]; effects: RunEffects }> {
  const runs = new Map(resumptions.map(({ instance: { tenantId, run } }) => [run, { tenantId, run }]));
  const works = await openWork(trx, graphs, await lockRuns(trx, [...runs.values()]));
  const byRun = new Map(works.map((work) => [work.run.id, work]));
  await load(
    trx,
    works.map((work) => ({
      work,
      picks: resumptions.flatMap(({ instance: { run, taskId, mapIndex } }) =>
        run === work.run.id ? [{ taskId, mapIndex }] : [],
      ),
    })),
  );
  // When a batch has two events of one trigger, the first one counts.
  const open = new Map<number, Resumption>();
  for (const resumption of resumptions) {
    const { instance, event } = resumption;
    const work = byRun.get(instance.run);
    const row = work?.row(instance);
    if (work?.run.state !== 'running' || row?.state !== 'deferred' || row.attempt_id !== instance.attemptId) continue;
    if (!open.has(event.triggerId)) open.set(event.triggerId, resumption);
  }
  const recorded = await recordEvents(
    trx,
    [...open.values()].map(({ event }) => event),
  );
  const applied = new Set([...open.values()].filter(({ event }) => recorded.has(event.triggerId)));
  for (const { instance } of applied) {
    const work = byRun.get(instance.run);
    const row = work?.row(instance);
    if (work && row) work.change(row, { state: 'scheduled', due_at: null, scheduled_at: work.now, claimable: false });
  }
  const effects = applied.size > 0 ? await writeAll(trx, works) : noEffects();
  // The triggerer reported these events, so it need not be notified.
  return { isApplied: resumptions.map((one) => applied.has(one)), effects: { ...effects, hasTriggers: false } };
}

/**
 * Defers instances that start from their triggers but became scheduled. Either a process that may not write triggers
 * scheduled them, or their DAG was paused.
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
