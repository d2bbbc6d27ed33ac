/** Retries, rescheduled sensors and questions whose time has come go back among the scheduled. */
import type { Database } from '../../db/database.ts';
import { findDueInstances, nextDueAt } from '../sql/due-instances.ts';
import type { DueInstance } from '../sql/due-instances.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { load, noEffects, openWork, writeAll } from './apply-to-runs.ts';
import type { RunEffects } from './apply-to-runs.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';

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
    for (const work of works) {
      for (const row of work.loadedRows()) {
        const isWaiting = row.state === 'up_for_retry' || row.state === 'up_for_reschedule' || row.state === 'deferred';
        if (isWaiting && work.run.state === 'running') {
          work.change(row, { state: 'scheduled', due_at: null, scheduled_at: work.now, claimable: false });
        } else work.change(row, { due_at: null }); // the run is over, or somebody has decided about it meanwhile
      }
    }
    return writeAll(trx, works);
  });
}
