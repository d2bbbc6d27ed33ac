/** Deadlines of runs, for people. */
import type { TenantDb } from '../database.ts';

export type StoredDeadline = {
  id: string;
  run: number;
  position: number;
  deadline_time: string;
  created_at: string;
  missed_at: string | null;
  kept_at: string | null;
};

/** Query plan: the key of deadlines by run. */
export async function listDeadlines(db: TenantDb, runs: readonly number[]): Promise<StoredDeadline[]> {
  if (runs.length === 0) return [];
  return db
    .selectFrom('deadlines')
    .select(['id', 'run', 'position', 'deadline_time', 'created_at', 'missed_at', 'kept_at'])
    .where('run', 'in', [...runs])
    .execute();
}
