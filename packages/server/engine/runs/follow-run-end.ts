/**
 * Uses the room that the end of a run leaves: for the next date of its DAG's timetable, for the run that waiting asset
 * events cause, or for the next run of its backfill. The tick would find all of it; this finds it at once, with one
 * query when there is nothing.
 */
import type { Database } from '../../db/database.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import { findWaitingForRoom } from '../sql/due-dags.ts';
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
    const found = await findWaitingForRoom(db.shared, key, now);
    if (found?.isDue) await timetables.createDueOf(key, now);
    if (found?.hasEvents) await assetRuns.consider([key]);
    if (found?.hasBackfill) await backfills.advance(key);
  };
}
