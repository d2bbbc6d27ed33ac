/** Turns chosen instances into attempts that can be dispatched. */
import type { SharedDb } from '../../db/database.ts';
import type { Attempt } from '../shared/attempts.ts';
import { queueInstances } from '../sql/claims.ts';
import type { Candidate } from '../sql/claims.ts';
import { taskOfRunKey } from './candidates.ts';

/** Leaves out instances that another transaction holds. */
export async function takeQueued(trx: SharedDb, chosen: readonly Candidate[]): Promise<Attempt[]> {
  const rows = await queueInstances(trx, chosen);
  const byKey = new Map(chosen.map((row) => [`${taskOfRunKey(row)}/${row.map_index}`, row]));
  return rows.flatMap((row): Attempt[] => {
    const candidate = byKey.get(`${taskOfRunKey(row)}/${row.map_index}`);
    if (!candidate || row.attempt_id === null) return [];
    return [
      {
        tenantId: row.tenant_id,
        run: row.run,
        taskId: row.task_id,
        mapIndex: row.map_index,
        attemptId: row.attempt_id,
        dagId: candidate.dag_id,
        versionNumber: candidate.version_number,
        tryNumber: row.try_number,
        queue: candidate.queue,
        executor: candidate.executor,
      },
    ];
  });
}
