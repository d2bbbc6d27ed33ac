/**
 * What the end of a run makes room for: the next date of its DAG's timetable, the run that asset events have been waiting to
 * cause, the next run of its backfill. The tick would find all of it; this finds it at once, and asks one question when there
 * is nothing.
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { DagKey } from '../sql/due-dags.ts';
import type { AssetRuns } from './asset-events.ts';
import type { BackfillRunner } from './backfills.ts';
import { nowIso } from '@svc/spec/clock.ts';
import type { TimetableRuns } from './timetable-runs.ts';

export type FollowRunEnd = (ended: DagKey) => Promise<void>;

export function createRunEndFollower(options: {
  db: Database;
  timetables: Pick<TimetableRuns, 'createDueOf'>;
  assetRuns: Pick<AssetRuns, 'consider'>;
  backfills: BackfillRunner;
}): FollowRunEnd {
  const { db, timetables, assetRuns, backfills } = options;
  return async ({ tenantId, dagId }) => {
    const key = { tenantId, dagId };
    const now = nowIso();
    // Plan: the DAG's row, and the first entry each of three indexes.
    const { rows } = await sql<{ isDue: boolean; hasEvents: boolean; hasBackfill: boolean }>`
      select coalesce(d.next_dagrun_run_after <= ${now}, false) as "isDue",
        exists (select from asset_queue q where q.tenant_id = d.tenant_id and q.dag_id = d.dag_id and not q.is_considered)
          as "hasEvents",
        exists (select from backfills b where b.tenant_id = d.tenant_id and b.dag_id = d.dag_id and b.completed_at is null)
          as "hasBackfill"
      from dags d where d.tenant_id = ${tenantId} and d.dag_id = ${dagId} and not d.is_stale`.execute(db.shared);
    const [found] = rows;
    if (found?.isDue) await timetables.createDueOf(key, now);
    if (found?.hasEvents) await assetRuns.consider([key]);
    if (found?.hasBackfill) await backfills.advance(key);
  };
}
