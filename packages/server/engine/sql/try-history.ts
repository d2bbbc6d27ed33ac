/** Tries that are over, copied to `task_instance_history` from the row of the instance. */
import { failureColumns } from '@svc/spec/failure-causes.ts';
import type { SharedDb } from '../../db/database.ts';
import { fixedSql, fixedText } from '../../db/fixed-sql.ts';
import type { TenantTables } from '../../db/schema.ts';
import type { InstancePick } from './run-writes.ts';
import { ACTIVE, FINISHED } from '../../db/state-sets.ts';

type HistoryColumn = Exclude<keyof TenantTables['task_instance_history'], 'duration'>;

/** What is copied from an instance `t`, as an expression over its row. `true`: the column as it is. */
const KEPT: Readonly<Record<HistoryColumn, string | true>> = {
  tenant_id: true,
  run: true,
  task_id: true,
  map_index: true,
  try_number: true,
  id: true,
  dag_id: true,
  // A try that was ended from outside counts as failed.
  state: `case when t.state in ${FINISHED.text} then t.state else 'failed' end`,
  max_tries: true,
  attempt_id: true,
  operator: true,
  pool: true,
  pool_slots: true,
  priority_weight: true,
  queue: true,
  scheduled_at: true,
  queued_at: true,
  start_date: true,
  end_date: true,
  hostname: true,
  pid: true,
  failure_reason: true,
  failure_detail: true,
  rendered_map_index: true,
  version_number: true,
  usage: true,
};

const NAMES = fixedText(Object.keys(KEPT).join(', '));
const valuesOf = (kept: Readonly<Record<string, string | true>>) =>
  fixedText(
    Object.entries(kept)
      .map(([name, value]) => (value === true ? `t.${name}` : value))
      .join(', '),
  );
const AS_STORED = valuesOf(KEPT);
const ENDING_NOW = valuesOf({
  ...KEPT,
  end_date: 'coalesce(t.end_date, greatest(clock_timestamp(), t.start_date))',
  failure_reason: `case when t.state in ${ACTIVE.text} or t.state = 'up_for_reschedule'
    then '${failureColumns('cleared').failure_reason}' else t.failure_reason end`,
});

/** The instances `t` of these keys. */
const instancesOf = (picks: readonly InstancePick[]) => fixedSql`
    task_instances t
    join unnest(${picks.map((pick) => pick.tenantId)}::uuid[], ${picks.map((pick) => pick.run)}::bigint[],
      ${picks.map((pick) => pick.taskId)}::text[], ${picks.map((pick) => pick.mapIndex ?? -1)}::int[])
      as k(tenant_id, run, task_id, map_index)
      on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index`;

/** Copies the tries that are over. */
export async function keepTries(trx: SharedDb, picks: readonly InstancePick[]): Promise<void> {
  if (picks.length === 0) return;
  await fixedSql`
    insert into task_instance_history (${NAMES})
    select ${AS_STORED} from ${instancesOf(picks)}
    where t.try_number > 0
    on conflict (tenant_id, run, task_id, map_index, try_number) do update set
      state = excluded.state, end_date = excluded.end_date, failure_reason = excluded.failure_reason,
      failure_detail = excluded.failure_detail, usage = excluded.usage`.execute(trx);
}

/**
 * Copies the tries of cleared instances that have run. A try that has not ended ends now. A try that was copied before,
 * while it waited for its retry, stays as it is.
 */
export async function keepClearedTries(trx: SharedDb, picks: readonly InstancePick[]): Promise<void> {
  if (picks.length === 0) return;
  await fixedSql`
    insert into task_instance_history (${NAMES})
    select ${ENDING_NOW} from ${instancesOf(picks)}
    where t.try_number > 0 and t.start_date is not null
    on conflict (tenant_id, run, task_id, map_index, try_number) do nothing`.execute(trx);
}
