/** The state store of an asset: values that tasks and the API keep with it across runs, until they delete them. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import type { WriteAnswer } from '../task-instances/task-states.ts';

type AttemptOfRun = {
  tenantId: string;
  run: number;
  dagId: string;
  taskId: string;
  mapIndex: number;
  attemptId: string;
};

/** Who writes: a running attempt, which is fenced, or a caller of the API. */
export type StateWriter = { attempt: AttemptOfRun; runId: string } | 'api';

export type AssetState = {
  key: string;
  /** JSON text. */
  value: string;
  updatedAt: Moment;
  updatedBy: 'task' | 'watcher' | 'api';
  dagId: string | null;
  runId: string | null;
  taskId: string | null;
  mapIndex: number | null;
};

/** One row while the writer may write. */
const permitted = (writer: StateWriter): RawBuilder<unknown> => {
  if (writer === 'api') return sql`select true as is_permitted`;
  const { tenantId, run, taskId, mapIndex, attemptId } = writer.attempt;
  return sql`
    select true as is_permitted from task_instances
    where tenant_id = ${tenantId}::uuid and run = ${run} and task_id = ${taskId} and map_index = ${mapIndex}
      and attempt_id = ${attemptId}::uuid and state = 'running' for share`;
};

type AssetRef = { tenantId: string; assetId: number };

/** `gone`: the attempt is over. The asset must exist. */
export async function putAssetState(
  db: TenantDb,
  { tenantId, assetId }: AssetRef,
  { key, value, maxKeys, writer }: { key: string; value: string; maxKeys: number; writer: StateWriter },
): Promise<WriteAnswer> {
  const source = writer === 'api' ? undefined : { ...writer.attempt, runId: writer.runId };
  const { rows } = await sql<{ found: boolean; written: boolean }>`
    with permitted as (${permitted(writer)}), others as (
      select count(*) as keys from asset_states s
      where s.tenant_id = ${tenantId}::uuid and s.asset_id = ${assetId} and s.key <> ${key}
    ), written as (
      insert into asset_states (tenant_id, asset_id, key, value, updated_by, dag_id, run_id, task_id, map_index)
      select ${tenantId}::uuid, ${assetId}, ${key}, ${value}, ${source ? 'task' : 'api'}, ${source?.dagId ?? null},
        ${source?.runId ?? null}, ${source?.taskId ?? null}, ${source?.mapIndex ?? null}::int from permitted, others
      where others.keys < ${maxKeys}
      on conflict (tenant_id, asset_id, key) do update set value = excluded.value, updated_at = now(),
        updated_by = excluded.updated_by, dag_id = excluded.dag_id, run_id = excluded.run_id, task_id = excluded.task_id,
        map_index = excluded.map_index
      returning key
    )
    select exists (select from permitted) as found, exists (select from written) as written`.execute(db);
  const [answer] = rows;
  if (!answer?.found) return 'gone';
  return answer.written ? 'written' : 'full';
}

/** Without a key, it deletes all values. Returns false when the attempt is over. */
export async function deleteAssetStates(
  db: TenantDb,
  { tenantId, assetId }: AssetRef,
  { key, writer }: { key: string | null; writer: StateWriter },
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with permitted as (${permitted(writer)}), gone as (
      delete from asset_states s using permitted
      where s.tenant_id = ${tenantId}::uuid and s.asset_id = ${assetId} and (${key}::text is null or s.key = ${key}::text)
    )
    select exists (select from permitted) as found`.execute(db);
  return rows[0]?.found === true;
}

const selectStates = (db: TenantDb, assetId: number) =>
  db.selectFrom('asset_states as s').where('s.asset_id', '=', assetId);

const COLUMNS = [
  's.key',
  's.value',
  's.updated_at as updatedAt',
  's.updated_by as updatedBy',
  's.dag_id as dagId',
  's.run_id as runId',
  's.task_id as taskId',
  's.map_index as mapIndex',
] as const;

export const findAssetState = (db: TenantDb, assetId: number, key: string): Promise<AssetState | undefined> =>
  selectStates(db, assetId).select(COLUMNS).where('s.key', '=', key).executeTakeFirst();

export async function listAssetStates(
  db: TenantDb,
  assetId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ states: AssetState[]; total: number }> {
  const [states, { total }] = await Promise.all([
    selectStates(db, assetId).select(COLUMNS).orderBy('s.key').limit(limit).offset(offset).execute(),
    selectStates(db, assetId)
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { states, total };
}

/** Returns the ids of the assets that a task names, by name, by URI, or by both. */
export async function findAssetIds(
  db: TenantDb,
  { name, uri }: { name: string | undefined; uri: string | undefined },
): Promise<number[]> {
  let query = db.selectFrom('assets').select('id').orderBy('id').limit(2);
  if (name !== undefined) query = query.where('name', '=', name);
  if (uri !== undefined) query = query.where('uri', '=', uri);
  return (await query.execute()).map(({ id }) => id);
}
