/** How long runs of the same DAG took, beside which the web UI shows the duration of a run. */
import { Type } from 'typebox';
import { findRunKey } from '../../db/dag-runs/dag-runs.ts';
import { findDurationStats } from '../../db/dag-runs/durations.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { RunParams, noSuchRun } from '../paths.ts';
import type { Services } from '../services.ts';

const DurationStats = Type.Object(
  {
    mean: Type.Number(),
    mode: Nullable(Type.Number({ description: 'In whole seconds; null if no two runs took equally long' })),
    p50: Type.Number(),
    p90: Type.Number(),
    p95: Type.Number(),
    p99: Type.Number(),
  },
  { title: 'DurationStats', description: 'Of the newest runs that have ended, in seconds' },
);

export function registerUiRunStats(app: App, { db }: Services): void {
  app.get(
    '/ui/dags/:dag_id/dagRuns/:dag_run_id/stats',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_dag_run_stats',
        tags: ['UI'],
        summary: 'Durations of runs of the same DAG',
        params: RunParams,
        response: { 200: Type.Object({ duration: Nullable(DurationStats) }, { title: 'DagRunStats' }) },
      },
    },
    async (request) => {
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      const scope = databaseOf(request, db);
      if (!(await findRunKey(scope, dagId, runId))) throw noSuchRun(request.params);
      return { duration: await findDurationStats(scope, { tenantId: principalOf(request).tenantId, dagId }) };
    },
  );
}
