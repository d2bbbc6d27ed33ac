/** Retries, rescheduled sensors and questions whose time has come go back among the scheduled. */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { load, noEffects, openWork, writeAll } from './apply-to-runs.ts';
import type { RunEffects } from './apply-to-runs.ts';
import type { DagGraphs } from '../dag-graphs.ts';

const AT_ONCE = 500;

type Due = { tenantId: string; run: number; taskId: string; mapIndex: number };

export async function scheduleDue(
  db: Database,
  graphs: DagGraphs,
): Promise<{ effects: RunEffects; mayBeMore: boolean; nextDueAt: string | null }> {
  // Plan: index task_instances_due, which holds nothing but what waits for a time.
  const { rows } = await sql<Due>`
    select tenant_id as "tenantId", run, task_id as "taskId", map_index as "mapIndex" from task_instances
    where due_at <= clock_timestamp() order by due_at limit ${AT_ONCE}`.execute(db.shared);
  const effects = rows.length === 0 ? noEffects() : await scheduleThese(db, graphs, rows);
  const next = await sql<{
    at: string | null;
  }>`select min(due_at) as at from task_instances where due_at is not null`.execute(db.shared);
  return { effects, mayBeMore: rows.length === AT_ONCE, nextDueAt: next.rows[0]?.at ?? null };
}

async function scheduleThese(db: Database, graphs: DagGraphs, due: readonly Due[]): Promise<RunEffects> {
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
