/**
 * The newest run and the newest failed run of each DAG in a list, with two queries per page for any length of the
 * history.
 */
import { Type } from 'typebox';
import { findNewestRuns } from '../../db/dag-runs/dag-runs.ts';
import type { RunSummary } from '../../db/dag-runs/dag-runs.ts';
import type { TenantDb } from '../../db/database.ts';

export const NewestRunsQuery = {
  with_newest_runs: Type.Boolean({
    default: false,
    description: 'Each DAG also has `newest_run` and `newest_failed_run`, for callers who may read runs',
  }),
};

export async function newestRunsOf(scope: TenantDb, { tenantId, dagIds }: { tenantId: string; dagIds: string[] }) {
  const page = { tenantId, dagIds, limit: 1 };
  const [any, failed] = [await findNewestRuns(scope, page), await findNewestRuns(scope, { ...page, state: 'failed' })];
  return (dagId: string) => ({
    newest_run: runBody(any.get(dagId)?.[0]),
    newest_failed_run: runBody(failed.get(dagId)?.[0]),
  });
}

const runBody = (run: RunSummary | undefined) =>
  run === undefined
    ? null
    : {
        dag_run_id: run.run_id,
        state: run.state,
        logical_date: run.logical_date,
        run_after: run.run_after,
        start_date: run.start_date,
        end_date: run.end_date,
      };
