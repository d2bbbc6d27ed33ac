/** Bars of the Gantt chart: every try of a run's tasks; a mapped task is one bar from its first start to its last end. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { findRun } from '../../db/dag-runs/dag-runs.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { noSuchRun } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

type Bar = {
  task_id: string;
  try_number: number;
  state: string | null;
  scheduled_dttm: string | null;
  queued_dttm: string | null;
  start_date: string | null;
  end_date: string | null;
  is_mapped: boolean;
};

export function registerUiGantt(app: App, { db, scheduler }: Services): void {
  app.get(
    '/ui/gantt/:dag_id/:run_id',
    {
      config: { access: 'read:task_instance' },
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
      const { rows } = await sql<Bar>`
        select task_id, try_number, state, scheduled_at as scheduled_dttm, queued_at as queued_dttm, start_date, end_date,
          false as is_mapped
        from task_instances where tenant_id = ${tenantId} and run = ${run.id} and map_index < 0
        union all
        select task_id, try_number, state, scheduled_at, queued_at, start_date, end_date, false
        from task_instance_history h where tenant_id = ${tenantId} and run = ${run.id} and map_index < 0
          and not exists (select 1 from task_instances t where t.tenant_id = h.tenant_id and t.run = h.run
            and t.task_id = h.task_id and t.map_index = h.map_index and t.try_number = h.try_number)
        union all
        select task_id, max(try_number), case when bool_or(state = 'failed') then 'failed'
            when bool_or(state = 'running') then 'running' when bool_and(state = 'success') then 'success' else max(state) end,
          min(scheduled_at), min(queued_at), min(start_date), case when bool_and(end_date is not null) then max(end_date) end, true
        from task_instances where tenant_id = ${tenantId} and run = ${run.id} and map_index >= 0 group by task_id
        order by 6 nulls last, 1, 2`.execute(scope);
      if (rows.length === 0) throw new ApiError('not_found', `No task instances for dag ${dagId} run ${runId}`);
      const { spec } = await scheduler.graphs.get(db.shared, { tenantId, dagId, versionNumber: run.version_number });
      const names = new Map(spec.tasks.map((task) => [task.task_id, task.display_name]));
      return {
        dag_id: dagId,
        run_id: runId,
        task_instances: rows.map((bar) => ({
          ...bar,
          task_display_name: names.get(bar.task_id) ?? bar.task_id,
          is_group: false,
        })),
      };
    },
  );
}
