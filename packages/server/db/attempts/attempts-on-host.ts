/** Attempts by host, for a process that sees a host disappear but did not assign its attempts. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { ACTIVE } from '../state-sets.ts';

type AttemptOnHost = {
  tenantId: string;
  run: number;
  taskId: string;
  mapIndex: number;
  tryNumber: number;
  attemptId: string;
  dagId: string;
  versionNumber: number;
};

/**
 * Returns attempts that have started there and are not over. Query plan: index task_instances_active, as many rows as
 * active attempts.
 */
export async function findAttemptsOn(db: Database, hostname: string): Promise<AttemptOnHost[]> {
  const { rows } = await sql<AttemptOnHost>`
    select t.tenant_id as "tenantId", t.run, t.task_id as "taskId", t.map_index as "mapIndex", t.try_number as "tryNumber",
      t.attempt_id as "attemptId", t.dag_id as "dagId", r.version_number as "versionNumber"
    from task_instances t
    join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run
    where t.state in ${ACTIVE.raw} and t.state = 'running'
      and t.hostname = ${hostname} and t.attempt_id is not null`.execute(db.shared);
  return rows;
}
