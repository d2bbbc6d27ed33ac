/**
 * Bars of the Gantt chart: one for every try of a task. A mapped task has one bar from its first start to its last end.
 */
import { Type } from 'typebox';
import { findRun } from '../../db/dag-runs/dag-runs.ts';
import { findGanttBars } from '../../db/task-instances/gantt.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { noSuchRun } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

export function registerUiGantt(app: App, { db, scheduler }: Services): void {
  app.get(
    '/ui/gantt/:dag_id/:run_id',
    {
      config: { grows: 'instances', access: 'read:task_instance' },
      schema: {
        operationId: 'get_gantt_data',
        tags: ['UI'],
        summary: 'When each try of a run waited, started and ended',
        params: Type.Object({ dag_id: Type.String(), run_id: Type.String() }),
        response: {
          200: Type.Object({
            dag_id: Type.String(),
            run_id: Type.String(),
            task_instances: Type.Array(Type.Unknown()),
          }),
        },
      },
    },
    async (request) => {
      const { dag_id: dagId, run_id: runId } = request.params;
      const { tenantId } = principalOf(request);
      const scope = databaseOf(request, db);
      const run = await findRun(scope, dagId, runId);
      if (!run) throw noSuchRun({ dag_id: dagId, dag_run_id: runId });
      const bars = await findGanttBars(scope, tenantId, run.id);
      if (bars.length === 0) throw new ApiError('not_found', `No task instances for dag ${dagId} run ${runId}`);
      const { spec } = await scheduler.graphs.get(db.shared, { tenantId, dagId, versionNumber: run.version_number });
      const names = new Map(spec.tasks.map((task) => [task.task_id, task.display_name]));
      return {
        dag_id: dagId,
        run_id: runId,
        task_instances: bars.map((bar) => ({
          ...bar,
          task_display_name: names.get(bar.task_id) ?? bar.task_id,
          is_group: false,
        })),
      };
    },
  );
}
