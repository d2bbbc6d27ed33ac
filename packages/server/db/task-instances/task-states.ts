/**
 * The state store of a task instance: values that its tries and the API write, until they expire or the run is removed.
 * A value that has expired counts as absent, also before it is removed.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { SharedDb, TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

export type InstanceKey = { tenantId: string; run: number; taskId: string; mapIndex: number };
type AttemptRef = InstanceKey & { attemptId: string };

/** When a value expires: after a time, at a moment, or never. */
export type Expiry = { inMs: number } | { at: Moment } | 'never';

/** `value` is JSON text. */
export type NewTaskState = { key: string; value: string; expiry: Expiry; maxKeys: number };
export type TaskState = { key: string; value: string; updatedAt: Moment; expiresAt: Moment | null };

/** `gone`: the attempt is over, or the instance does not exist. `full`: it would have more keys than it may. */
export type WriteAnswer = 'written' | 'full' | 'gone';

/** Results of `svc.step` in the state store of their task (python/svc_runtime/steps.py). */
export const STEP_PREFIX = 'svc.step:';

/** The rows whose states a statement is about: the instance while the attempt runs, or the instance at any time. */
const live = ({ tenantId, run, taskId, mapIndex, attemptId }: AttemptRef) => sql`
  select tenant_id, run, task_id, map_index from task_instances
  where tenant_id = ${tenantId}::uuid and run = ${run} and task_id = ${taskId} and map_index = ${mapIndex}
    and attempt_id = ${attemptId}::uuid and state = 'running' for share`;

const existing = ({ tenantId, run, taskId, mapIndex }: InstanceKey) => sql`
  select tenant_id, run, task_id, map_index from task_instances
  where tenant_id = ${tenantId}::uuid and run = ${run} and task_id = ${taskId} and map_index = ${mapIndex} for share`;

const rowsOf = (ref: InstanceKey | AttemptRef): RawBuilder<unknown> => ('attemptId' in ref ? live(ref) : existing(ref));

const IS_VALID = sql<boolean>`(s.expires_at is null or s.expires_at > now())`;
const OF_ROW = sql<boolean>`s.run = r.run and s.task_id = r.task_id and s.map_index = r.map_index`;

const momentOf = (expiry: Expiry): RawBuilder<unknown> => {
  if (expiry === 'never') return sql`null::timestamptz`;
  return 'at' in expiry
    ? sql`${expiry.at}::timestamptz`
    : sql`now() + ${expiry.inMs}::float8 * interval '1 millisecond'`;
};

export async function putTaskState(
  db: TenantDb,
  ref: InstanceKey | AttemptRef,
  { key, value, expiry, maxKeys }: NewTaskState,
): Promise<WriteAnswer> {
  const { rows } = await sql<{ found: boolean; written: boolean }>`
    with r as (${rowsOf(ref)}), others as (
      select count(*) as keys from task_states s, r where s.tenant_id = r.tenant_id and ${OF_ROW} and s.key <> ${key} and ${IS_VALID}
    ), written as (
      insert into task_states (tenant_id, run, task_id, map_index, key, value, expires_at)
      select r.tenant_id, r.run, r.task_id, r.map_index, ${key}, ${value}, ${momentOf(expiry)} from r, others
      where others.keys < ${maxKeys}
      on conflict (tenant_id, run, task_id, map_index, key)
        do update set value = excluded.value, expires_at = excluded.expires_at, updated_at = now()
      returning key
    )
    select exists (select from r) as found, exists (select from written) as written`.execute(db);
  const [answer] = rows;
  if (!answer?.found) return 'gone';
  return answer.written ? 'written' : 'full';
}

/** Keeps the moment at which the value expires. Returns false when there is no such value. */
export async function changeTaskState(
  db: TenantDb,
  { tenantId, run, taskId, mapIndex }: InstanceKey,
  { key, value }: { key: string; value: string },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update task_states s set value = ${value}, updated_at = now()
    where s.tenant_id = ${tenantId}::uuid and s.run = ${run} and s.task_id = ${taskId} and s.map_index = ${mapIndex}
      and s.key = ${key} and ${IS_VALID}`.execute(db);
  return numAffectedRows > 0n;
}

/** Without a key, it deletes all values. Returns false when the attempt is over or the instance does not exist. */
export async function deleteTaskStates(
  db: TenantDb,
  ref: InstanceKey | AttemptRef,
  key: string | null,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with r as (${rowsOf(ref)}), gone as (
      delete from task_states s using r where s.tenant_id = r.tenant_id and ${OF_ROW} and (${key}::text is null or s.key = ${key}::text)
    )
    select exists (select from r) as found`.execute(db);
  return rows[0]?.found === true;
}

/** Deletes the values of an instance that has succeeded and was not cleared since. */
export async function deleteStatesOfSuccess(
  db: TenantDb,
  { tenantId, run, taskId, mapIndex }: InstanceKey,
): Promise<void> {
  await sql`
    with r as (
      select tenant_id, run, task_id, map_index from task_instances
      where tenant_id = ${tenantId}::uuid and run = ${run} and task_id = ${taskId} and map_index = ${mapIndex}
        and state = 'success' for share
    )
    delete from task_states s using r where s.tenant_id = r.tenant_id and ${OF_ROW}`.execute(db);
}

/** Deletes the values of all instances of a task. */
export async function deleteStatesOfTask(
  db: TenantDb,
  { run, taskId }: Pick<InstanceKey, 'run' | 'taskId'>,
): Promise<void> {
  await db.deleteFrom('task_states').where('run', '=', run).where('task_id', '=', taskId).execute();
}

const selectStates = (db: TenantDb, { run, taskId, mapIndex }: Omit<InstanceKey, 'tenantId'>) =>
  db
    .selectFrom('task_states as s')
    .where('s.run', '=', run)
    .where('s.task_id', '=', taskId)
    .where('s.map_index', '=', mapIndex)
    .where(IS_VALID);

export const findTaskState = (
  db: TenantDb,
  ref: Omit<InstanceKey, 'tenantId'>,
  key: string,
): Promise<TaskState | undefined> =>
  selectStates(db, ref)
    .select(['s.key', 's.value', 's.updated_at as updatedAt', 's.expires_at as expiresAt'])
    .where('s.key', '=', key)
    .executeTakeFirst();

export async function listTaskStates(
  db: TenantDb,
  ref: Omit<InstanceKey, 'tenantId'>,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ states: TaskState[]; total: number }> {
  const [states, { total }] = await Promise.all([
    selectStates(db, ref)
      .select(['s.key', 's.value', 's.updated_at as updatedAt', 's.expires_at as expiresAt'])
      .orderBy('s.key')
      .limit(limit)
      .offset(offset)
      .execute(),
    selectStates(db, ref)
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { states, total };
}

/** Query plan: index task_states_expiring from its old end. Returns how many were removed. */
export async function removeExpiredStates(db: SharedDb, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from task_states s using (
      select tenant_id, run, task_id, map_index, key from task_states
      where expires_at <= now() order by expires_at limit ${limit} for update skip locked
    ) r where s.tenant_id = r.tenant_id and ${OF_ROW} and s.key = r.key`.execute(db);
  return Number(numAffectedRows);
}

/**
 * `state_store.clear_on_success`: removes values of instances that succeeded without a report of their process, or whose
 * process of the control plane died after it. Query plan: task_states, which has few rows then, and a key for each.
 */
export async function removeStatesOfSuccesses(db: SharedDb, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from task_states s using (
      select x.tenant_id, x.run, x.task_id, x.map_index, x.key from task_states x
      join task_instances i on i.tenant_id = x.tenant_id and i.run = x.run and i.task_id = x.task_id
        and i.map_index = x.map_index and i.state = 'success'
      limit ${limit} for update of x skip locked
    ) r where s.tenant_id = r.tenant_id and ${OF_ROW} and s.key = r.key`.execute(db);
  return Number(numAffectedRows);
}
