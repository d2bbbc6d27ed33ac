/** Instances that wait for a time: retries, rescheduled sensors, questions that expire. Plan: index task_instances_due. */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { RunRef } from './run-writes.ts';

export type DueInstance = RunRef & { taskId: string; mapIndex: number };

export async function findDueInstances(db: Database, limit: number): Promise<DueInstance[]> {
  const { rows } = await sql<DueInstance>`
    select tenant_id as "tenantId", run, task_id as "taskId", map_index as "mapIndex" from task_instances
    where due_at <= clock_timestamp() order by due_at limit ${limit}`.execute(db.shared);
  return rows;
}

export async function nextDueAt(db: Database): Promise<string | null> {
  const { rows } = await sql<{
    at: string | null;
  }>`select min(due_at) as at from task_instances where due_at is not null`.execute(db.shared);
  return rows[0]?.at ?? null;
}
