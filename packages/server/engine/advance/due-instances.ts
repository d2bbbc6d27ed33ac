/** Schedules instances whose time has come: retries, rescheduled sensors, triggers and questions to people. */
import { isParked } from '@svc/spec/states.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { findDueInstances, nextDueAt } from '../sql/waiting-instances.ts';
import type { DueInstance } from '../sql/waiting-instances.ts';
import { load, openWork, planAll, writeAll } from './apply-to-runs.ts';
import { noEffects } from './run-effects.ts';
import type { RunEffects } from './run-effects.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { deleteTriggersOf, findTriggersOf } from '../sql/triggers.ts';
import { acceptOutcomes } from './accept-outcomes.ts';
import { endingOf } from './event-ending.ts';
import { isBeforeTimeout } from './deferred-columns.ts';
import type { Ending } from './ending.ts';
import type { RunWork } from './run-work.ts';

const AT_ONCE = 500;

export async function scheduleDue(
  db: Database,
  graphs: DagGraphs,
): Promise<{ effects: RunEffects; mayBeMore: boolean; nextDueAt: string | null }> {
  const due = await findDueInstances(db, AT_ONCE);
  const effects = due.length === 0 ? noEffects() : await scheduleThese(db, graphs, due);
  return { effects, mayBeMore: due.length === AT_ONCE, nextDueAt: await nextDueAt(db) };
}

async function scheduleThese(db: Database, graphs: DagGraphs, due: readonly DueInstance[]): Promise<RunEffects> {
  return db.shared.transaction().execute(async (trx) => {
    const refs = [...new Map(due.map((row) => [row.run, { tenantId: row.tenantId, run: row.run }])).values()];
    const works = await openWork(trx, graphs, await lockRuns(trx, refs));
    await load(
      trx,
      works.map((work) => ({
        work,
        picks: due.filter((row) => row.run === work.run.id).map(({ taskId, mapIndex }) => ({ taskId, mapIndex })),
      })),
    );
    const ended = await endByTime(trx, works);
    for (const work of works) {
      for (const row of work.loadedRows()) {
        if (ended.has(row)) continue;
        const isWaiting = row.state === 'up_for_retry' || row.state === 'up_for_reschedule' || isParked(row.state);
        if (isWaiting && work.run.state === 'running') {
          // A resumed try keeps its start; a poke gets a new one.
          const start = isParked(row.state) ? {} : { start_date: null };
          work.change(row, { ...start, state: 'scheduled', due_at: null, scheduled_at: work.now, claimable: false });
        } else work.change(row, { due_at: null }); // the run has ended, or the state was changed in the meantime
      }
    }
    return writeAll(trx, works);
  });
}

/** Ends the tasks whose time trigger ends them (`end_from_trigger`). No process is started for that. */
async function endByTime(trx: SharedDb, works: readonly RunWork[]): Promise<ReadonlySet<InstanceRow>> {
  const deferred = works
    .filter(({ run }) => run.state === 'running')
    .flatMap((work) => [...work.loadedRows()].filter(({ state }) => state === 'deferred'));
  const endings = (await findTriggersOf(trx, deferred)).flatMap((trigger): Ending[] => {
    const outcome = trigger.fires_at !== null && trigger.event !== null ? endingOf(trigger.event) : undefined;
    const { tenant_id: tenantId, run, task_id: taskId, map_index: mapIndex, attempt_id: attemptId } = trigger;
    if (!outcome || !isBeforeTimeout(trigger) || run === null || taskId === null || mapIndex === null) return [];
    return [{ ref: { tenantId, run, taskId, mapIndex, attemptId: attemptId ?? '' }, outcome, byTrigger: true }];
  });
  if (endings.length === 0) return new Set();
  const byRun = new Map(works.map((work) => [work.run.id, work]));
  const { kept, events } = acceptOutcomes(byRun, endings);
  await planAll(
    trx,
    works.map((work) => ({ work, events: events.get(work) ?? [] })),
  );
  const rows = kept.flatMap(({ ref }) => byRun.get(ref.run)?.row(ref) ?? []);
  await deleteTriggersOf(trx, rows);
  return new Set(rows);
}
