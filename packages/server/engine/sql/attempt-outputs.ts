/**
 * Saves what attempts leave in addition to their state: XComs for other tasks, and the rendered fields of their task.
 */
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { RunRef } from './run-writes.ts';

export type OutputKey = RunRef & { taskId: string; mapIndex: number };

export type Value = {
  of: OutputKey;
  dagId: string;
  key: string;
  value: string;
  length: number | null;
  /** Undefined: the database creates one. */
  version?: string | undefined;
  /** The stored value that has the text. */
  stored?: string | undefined;
};

/** Replaces what the same instance stored under the same key before. */
export async function saveValues(trx: SharedDb, rows: readonly Value[]): Promise<void> {
  if (rows.length === 0) return;
  await fixedSql`
    insert into xcoms (tenant_id, run, task_id, map_index, key, dag_id, value, length, version, stored, at)
    select v.tenant_id, v.run, v.task_id, v.map_index, v.key, v.dag_id, v.value, v.length,
      coalesce(v.version, gen_random_uuid()), v.stored, clock_timestamp() from unnest(${rows.map(({ of }) => of.tenantId)}::uuid[], ${rows.map(({ of }) => of.run)}::bigint[],
      ${rows.map(({ of }) => of.taskId)}::text[], ${rows.map(({ of }) => of.mapIndex)}::int[],
      ${rows.map(({ key }) => key)}::text[], ${rows.map(({ dagId }) => dagId)}::text[],
      ${rows.map(({ value }) => value)}::text[], ${rows.map(({ length }) => length)}::int[],
      ${rows.map(({ version }) => version ?? null)}::uuid[], ${rows.map(({ stored }) => stored ?? null)}::uuid[])
      as v(tenant_id, run, task_id, map_index, key, dag_id, value, length, version, stored)
    on conflict (tenant_id, run, task_id, map_index, key)
      do update set value = excluded.value, length = excluded.length, version = excluded.version,
        stored = excluded.stored, at = excluded.at`.execute(trx);
}

export async function saveRenderedFields(
  trx: SharedDb,
  rows: readonly { of: OutputKey; fields: Record<string, unknown> }[],
): Promise<void> {
  if (rows.length === 0) return;
  await fixedSql`
    insert into rendered_fields (tenant_id, run, task_id, map_index, fields)
    select * from unnest(${rows.map(({ of }) => of.tenantId)}::uuid[], ${rows.map(({ of }) => of.run)}::bigint[],
      ${rows.map(({ of }) => of.taskId)}::text[], ${rows.map(({ of }) => of.mapIndex)}::int[],
      ${rows.map(({ fields }) => JSON.stringify(fields))}::text[])
    on conflict (tenant_id, run, task_id, map_index) do update set fields = excluded.fields`.execute(trx);
}

/** The results of dbt in the try before: the next try runs only what failed (python/svc_runtime/dbt/results.py). */
export const KEPT_ACROSS_TRIES = 'dbt_run_results';

export async function deleteValues(trx: SharedDb, keys: readonly OutputKey[]): Promise<void> {
  if (keys.length === 0) return;
  await fixedSql`
    delete from xcoms x using unnest(${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.run)}::bigint[],
      ${keys.map((key) => key.taskId)}::text[], ${keys.map((key) => key.mapIndex)}::int[]) as k(tenant_id, run, task_id, map_index)
    where x.tenant_id = k.tenant_id and x.run = k.run and x.task_id = k.task_id and x.map_index = k.map_index
      and x.key <> ${KEPT_ACROSS_TRIES}`.execute(trx);
}
