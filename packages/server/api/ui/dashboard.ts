/** The figures of the home page. */
import { Type } from 'typebox';
import { countDagsByNewestRun, countStates } from '../../db/dag-runs/dashboard.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { DateTime } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

/** Counting stops here: the UI shows "1000+". */
const COUNT_LIMIT = 1_000;
const isAnyCapped = (counts: readonly (readonly [string, number])[]): boolean =>
  counts.some(([, count]) => count > COUNT_LIMIT);
const capped = (count: number): number => Math.min(count, COUNT_LIMIT);

export function registerUiDashboard(app: App, { db }: Services): void {
  app.get(
    '/ui/dashboard/dag_stats',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'dag_stats',
        tags: ['UI'],
        summary: 'How many DAGs are active, and whose newest run has failed, runs or waits',
        response: {
          200: Type.Object({
            active_dag_count: Type.Integer(),
            failed_dag_count: Type.Integer(),
            running_dag_count: Type.Integer(),
            queued_dag_count: Type.Integer(),
          }),
        },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const counted = await countDagsByNewestRun(databaseOf(request, db), tenantId);
      return {
        active_dag_count: counted.active,
        failed_dag_count: counted.failed,
        running_dag_count: counted.running,
        queued_dag_count: counted.queued,
      };
    },
  );

  app.get(
    '/ui/dashboard/historical_metrics_data',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'historical_metrics',
        tags: ['UI'],
        summary: 'Runs and task instances by state within a time',
        querystring: Type.Object({ start_date: DateTime, end_date: Type.Optional(DateTime) }),
        response: {
          200: Type.Object({
            dag_run_states: Type.Record(Type.String(), Type.Integer()),
            task_instance_states: Type.Record(Type.String(), Type.Integer()),
            dag_run_counts_are_lower_bounds: Type.Boolean(),
            task_instance_counts_are_lower_bounds: Type.Boolean(),
            state_count_limit: Type.Integer({ description: 'Of Airflow 3.2' }),
          }),
        },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const { start_date: from, end_date: until } = request.query;
      const { runs, instances } = await countStates(databaseOf(request, db), { tenantId, from, until });
      return {
        dag_run_states: Object.fromEntries(runs.map(([state, count]) => [state, capped(count)])),
        task_instance_states: Object.fromEntries(
          instances.map(([state, count]) => [state === 'none' ? 'no_status' : state, capped(count)]),
        ),
        dag_run_counts_are_lower_bounds: isAnyCapped(runs),
        task_instance_counts_are_lower_bounds: isAnyCapped(instances),
        state_count_limit: COUNT_LIMIT,
      };
    },
  );
}
