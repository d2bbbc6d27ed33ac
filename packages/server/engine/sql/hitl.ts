/** Finds the questions that tasks have asked people (human in the loop), for the end of an attempt. */
import { sql } from 'kysely';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import type { HitlRequest } from '../../db/task-instances/hitl.ts';

export type AskedHitlRequest = Pick<HitlRequest, 'run' | 'task_id' | 'map_index' | 'expires_at' | 'responded_at'>;

/** Finds the questions of these instances in their current try. */
export async function findHitlRequestsOf(trx: SharedDb, rows: readonly InstanceRow[]): Promise<AskedHitlRequest[]> {
  const { rows: asked } = await sql<AskedHitlRequest>`
    select q.run, q.task_id, q.map_index, q.expires_at, q.responded_at from questions q
    join unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.run)}::bigint[],
      ${rows.map((row) => row.task_id)}::text[], ${rows.map((row) => row.map_index)}::int[],
      ${rows.map((row) => row.try_number)}::int[]) as k(tenant_id, run, task_id, map_index, try_number)
      on q.tenant_id = k.tenant_id and q.run = k.run and q.task_id = k.task_id and q.map_index = k.map_index
      and q.try_number = k.try_number`.execute(trx);
  return asked;
}
