import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

export type GanttBar = {
  task_id: string;
  try_number: number;
  state: string | null;
  scheduled_dttm: string | null;
  queued_dttm: string | null;
  start_date: string | null;
  end_date: string | null;
  is_mapped: boolean;
};

/** Returns every try of a run's tasks. A mapped task is one bar from its first start to its last end. */
export async function findGanttBars(db: TenantDb, tenantId: string, run: number): Promise<GanttBar[]> {
  const { rows } = await sql<GanttBar>`
    select task_id, try_number, state, scheduled_at as scheduled_dttm, queued_at as queued_dttm, start_date, end_date,
      false as is_mapped
    from task_instances where tenant_id = ${tenantId} and run = ${run} and map_index < 0
    union all
    select task_id, try_number, state, scheduled_at, queued_at, start_date, end_date, false
    from task_instance_history h where tenant_id = ${tenantId} and run = ${run} and map_index < 0
      and not exists (select 1 from task_instances t where t.tenant_id = h.tenant_id and t.run = h.run
        and t.task_id = h.task_id and t.map_index = h.map_index and t.try_number = h.try_number)
    union all
    select task_id, max(try_number), case when bool_or(state = 'failed') then 'failed'
        when bool_or(state = 'running') then 'running' when bool_and(state = 'success') then 'success' else max(state) end,
      min(scheduled_at), min(queued_at), min(start_date), case when bool_and(end_date is not null) then max(end_date) end, true
    from task_instances where tenant_id = ${tenantId} and run = ${run} and map_index >= 0 group by task_id
    order by 6 nulls last, 1, 2`.execute(db);
  return rows;
}
