/** Converts rows of task instances to answers. */
import { mapInTurns } from '../../http/map-in-turns.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { shownFailure } from '@svc/spec/failure-causes.ts';
import type { Static } from 'typebox';
import type { TenantDb } from '../../db/database.ts';
import { findPoolUse, findRenderedFields, findVersionsOf } from '../../db/task-instances/details.ts';
import { findTriggersOf } from '../../db/task-instances/triggers.ts';
import type { ShownTrigger } from '../../db/task-instances/triggers.ts';
import { jobBody } from '../monitor/job-body.ts';
import type { VersionOfInstance } from '../../db/task-instances/details.ts';
import type { ListedInstance } from '../../db/task-instances/task-instances.ts';
import type { TryRow } from '../../db/task-instances/try-history.ts';
import { versionBody } from '../dags/bodies.ts';
import type { TaskSummaries, TaskSummary } from '../dags/task-summaries.ts';
import type { TaskInstance, TaskInstanceTry } from './schemas.ts';
import { waitReasonOf } from '../../diagnosis/wait-reason.ts';

export type TaskInstanceBody = Static<typeof TaskInstance>;
export type TryBody = Static<typeof TaskInstanceTry>;

export async function instanceBodies(
  db: TenantDb,
  summaries: TaskSummaries,
  rows: readonly ListedInstance[],
): Promise<TaskInstanceBody[]> {
  const pools = [...new Set(rows.filter((row) => row.state === 'scheduled').map((row) => row.pool))];
  const keys = rows.map((row) => ({ run: row.run, taskId: row.task_id, mapIndex: row.map_index }));
  const deferred = rows.filter((row) => row.state === 'deferred');
  const waiting = deferred.map((row) => ({ run: row.run, taskId: row.task_id, mapIndex: row.map_index }));
  const [surroundings, rendered, uses, triggers] = await Promise.all([
    surroundingsOf(db, summaries, rows),
    findRenderedFields(db, keys),
    findPoolUse(db, pools),
    findTriggersOf(db, waiting),
  ]);
  const triggerOf = new Map(triggers.map((one) => [keyText(one.run, one.taskId, one.mapIndex), one]));
  const fields = new Map(rendered.map((row) => [keyText(row.run, row.taskId, row.mapIndex), row.fields]));
  const poolByName = new Map(uses.map((use) => [use.name, use]));
  return mapInTurns(rows, (row) => {
    const around = surroundings(row);
    const trigger = row.state === 'deferred' ? triggerOf.get(keyText(row.run, row.task_id, row.map_index)) : undefined;
    const context = {
      isPaused: around.version?.is_paused ?? false,
      pool: poolByName.get(row.pool),
      trigger: trigger?.classPath,
    };
    return {
      id: row.id,
      ...tryBody(row, around),
      logical_date: row.logical_date,
      run_after: row.run_after,
      note: row.note,
      // The UI shows only this field, so a mapped instance without its own name shows its index.
      rendered_map_index: row.rendered_map_index ?? (row.map_index < 0 ? null : String(row.map_index)),
      rendered_fields: parsed(fields.get(keyText(row.run, row.task_id, row.map_index))),
      trigger: trigger ? triggerBody(trigger) : null,
      triggerer_job: trigger?.job ? jobBody(trigger.job) : null,
      infrastructure_retries: row.infrastructure_retries,
      group_retries: row.group_retries,
      wait_reason: waitReasonOf(row, context)?.text ?? null,
    };
  });
}

/**
 * Hides the arguments of the trigger, because they may contain secrets and are not needed to see what the task waits
 * for.
 */
const triggerBody = (trigger: ShownTrigger) => ({
  id: trigger.id,
  classpath: trigger.classPath,
  kwargs: '***',
  created_date: trigger.createdAt,
  queue: null,
  triggerer_id: trigger.job?.id ?? null,
});

export async function tryBodies(db: TenantDb, summaries: TaskSummaries, rows: readonly TryRow[]): Promise<TryBody[]> {
  const surroundings = await surroundingsOf(db, summaries, rows);
  return rows.map((row) => tryBody(row, surroundings(row)));
}

type Versioned = { dag_id: string; version_number: number; task_id: string };
type Surroundings = { version: VersionOfInstance | undefined; task: TaskSummary | undefined };

/** Returns the version of each row, and what that version says about its task. */
export async function surroundingsOf(
  db: TenantDb,
  summaries: TaskSummaries,
  rows: readonly Versioned[],
): Promise<(row: Versioned) => Surroundings> {
  const versions = await findVersionsOf(db, rows);
  const tasks = await summaries.get(
    db,
    versions.map((version) => version.id),
  );
  const byKey = new Map(versions.map((version) => [`${version.version_number} ${version.dag_id}`, version]));
  return (row) => {
    const version = byKey.get(`${row.version_number} ${row.dag_id}`);
    return { version, task: version && tasks.get(version.id)?.get(row.task_id) };
  };
}

function tryBody(row: Omit<TryRow, 'usage'>, { version, task }: Surroundings): TryBody {
  return {
    task_id: row.task_id,
    dag_id: row.dag_id,
    dag_run_id: row.run_id,
    map_index: row.map_index,
    start_date: row.start_date,
    end_date: row.end_date,
    duration: row.duration,
    state: row.state,
    try_number: row.try_number,
    max_tries: row.max_tries,
    task_display_name: task?.displayName ?? row.task_id,
    dag_display_name: version?.display_name ?? row.dag_id,
    hostname: row.hostname,
    unixname: null,
    pool: row.pool,
    pool_slots: row.pool_slots,
    queue: row.queue,
    priority_weight: row.priority_weight,
    operator: task?.taskType ?? row.operator,
    operator_name: task?.operatorName ?? row.operator,
    queued_when: row.queued_at,
    scheduled_when: row.scheduled_at,
    pid: row.pid,
    executor: task?.executor ?? null,
    executor_config: '{}',
    dag_version: version ? versionBody(version) : null,
    ...shownFailure(row),
  };
}

const keyText = (run: number, taskId: string, mapIndex: number): string => `${run} ${mapIndex} ${taskId}`;

const parsed = (text: string | undefined): Record<string, unknown> =>
  text === undefined ? {} : (parseExact(text) as Record<string, unknown>);
