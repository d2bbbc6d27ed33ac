/** Converts rows of runs to answers. */
import { parseExact } from '@svc/spec/exact-json.ts';
import { findRun } from '../../db/dag-runs/dag-runs.ts';
import type { ListedRun } from '../../db/dag-runs/dag-runs.ts';
import { versionsOfRun } from '../../db/dags/dag-versions.ts';
import type { TenantDb } from '../../db/database.ts';
import { DatabaseBusyError, isOutage } from '../../db/outage.ts';
import { ApiError } from '../../http/errors.ts';
import { versionBody } from '../dags/bodies.ts';
import type { DagRunBody } from './schemas.ts';
import { noSuchRun } from '../paths.ts';
import type { RunInPath } from '../paths.ts';

export async function existingRun(db: TenantDb, path: RunInPath): Promise<ListedRun> {
  const run = await findRun(db, path.dag_id, path.dag_run_id);
  if (!run) throw noSuchRun(path);
  return run;
}

/** Reads the run after its commit. A refusal without this advice would make the caller trigger another run. */
export async function storedRun(scope: TenantDb, path: RunInPath): Promise<ListedRun> {
  try {
    return await existingRun(scope, path);
  } catch (error) {
    if (!isOutage(error) && !(error instanceof DatabaseBusyError)) throw error;
    const { dag_id: dagId, dag_run_id: runId } = path;
    throw new ApiError(
      'database_unavailable',
      `the run is stored as ${runId}, but could not be read: do not trigger it again, GET /api/v2/dags/${dagId}/dagRuns/${runId} shortly`,
    );
  }
}

/**
 * Returns a run with every version of its instances. There are several after a part of it was cleared to the newest
 * version.
 */
export async function wholeRunBody(db: TenantDb, run: ListedRun): Promise<DagRunBody> {
  const versions = await versionsOfRun(db, run);
  return runBody(run, versions.map(versionBody));
}

/** `versions` is given if the instances have several versions. The default is the version of the run. */
export function runBody(run: ListedRun, versions = versionsOf(run)): DagRunBody {
  return {
    dag_run_id: run.run_id,
    dag_id: run.dag_id,
    dag_display_name: run.display_name,
    logical_date: run.logical_date,
    data_interval_start: run.data_interval_start,
    data_interval_end: run.data_interval_end,
    run_after: run.run_after,
    queued_at: run.queued_at,
    start_date: run.start_date,
    end_date: run.end_date,
    duration: run.duration,
    // Decisions are made at each finish and are not stored. Only the last one is known, because it ends the run.
    last_scheduling_decision: run.end_date,
    run_type: run.run_type,
    state: run.state,
    triggered_by: run.triggered_by,
    triggering_user_name: run.triggering_user_name,
    conf: parseExact(run.conf) as Record<string, unknown>,
    note: run.note,
    dag_versions: versions,
    bundle_version: run.bundle_version,
    partition_key: run.partition_key,
    partition_date: run.partition_date,
  };
}

/** Returns the version of the run. */
export function versionsOf(run: ListedRun): DagRunBody['dag_versions'] {
  const { version_id: id, bundle_name: bundleName, version_created_at: createdAt } = run;
  if (id === null || bundleName === null || createdAt === null) return [];
  return [versionBody({ ...run, id, bundle_name: bundleName, created_at: createdAt })];
}
