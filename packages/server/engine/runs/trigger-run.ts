/**
 * A run in a transaction of its own, whose first tasks are claimed there, too, when the executor has room and nobody else is
 * claiming: they are on their way to a worker with the commit. Round trips to Postgres:
 *   1  begin, the lock of the DAG's row, the caller's check
 *   2  the run
 *   3  its instances, and which of them can be claimed
 *   4  the claim, the caller's record, commit
 */
import type { Database, SharedDb } from '../../db/database.ts';
import { beginning, inTransaction } from '../../db/transaction.ts';
import type { Attempt } from '../attempts.ts';
import { chooseAtOnce } from '../claim/candidates.ts';
import type { AtOnce } from '../claim/candidates.ts';
import type { CreateRun, CreateRunResult, NewRun } from './create-run.ts';
import type { DagGraphs } from '../dag-graphs.ts';
import { takeQueued } from '../claim/take-attempts.ts';

export type AroundTheRun = {
  /** When it throws, there is no run. */
  check?: (trx: SharedDb) => Promise<unknown>;
  /** What else is written with the run. Sends its statements at once: the commit comes behind them. */
  record?: (trx: SharedDb, run: { run_id: string }) => Promise<unknown>;
};

export async function triggerRun(
  { db, graphs, createRun, keepsPlans }: { db: Database; graphs: DagGraphs; createRun: CreateRun; keepsPlans: boolean },
  input: { tenantId: string; run: NewRun; places: number } & AroundTheRun,
): Promise<{ result: CreateRunResult; attempts: readonly Attempt[] }> {
  const { tenantId, places, check, record } = input;
  return inTransaction(db.shared, beginning({ keepsPlans }), async (trx, commit) => {
    let found: AtOnce | undefined;
    const look = async (): Promise<void> => void (found = await chooseAtOnce(trx, graphs, places));
    const result = await createRun(trx, tenantId, input.run, {
      ...(check && { check: () => check(trx) }),
      ...(places > 0 && { behindFirst: look }),
    });
    if (result.kind !== 'created') return { result, attempts: [] };
    const [attempts] = await Promise.all([takeQueued(trx, found?.chosen ?? []), record?.(trx, result.run), commit()]);
    if (found) result.effects.hasScheduled &&= found.hasMore(attempts.length);
    return { result, attempts };
  });
}
