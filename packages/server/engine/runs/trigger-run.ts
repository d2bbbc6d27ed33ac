/** Creates one run in a transaction of its own, for runs that trigger-runs.ts cannot batch. */
import type { Database, SharedDb } from '../../db/database.ts';
import { beginning, inPipelinedTransaction } from '../../db/transaction.ts';
import { concludeAll, sendChanges } from '../advance/apply-to-runs.ts';
import { deferStarts } from '../advance/start-triggers.ts';
import type { Attempt } from '../shared/attempts.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { lockDag } from '../sql/new-runs.ts';
import { insertRun, withDeadline } from './create-run.ts';
import type { CreateRunResult, NewRun } from './create-run.ts';
import { planStart } from './start-run.ts';

/**
 * What the caller adds to the transaction of the run. Both functions send their statements before their first await.
 */
export type TriggerOptions = {
  /** Called with the lock of the DAG's row. If it rejects, no run is created. */
  precondition?: (trx: SharedDb) => Promise<unknown>;
  /** Writes more rows with the run, before the commit. */
  alsoWrite?: (trx: SharedDb, run: { run_id: string }) => Promise<unknown>;
};

export async function triggerRun(
  { db, graphs, keepsPlans }: { db: Database; graphs: DagGraphs; keepsPlans: boolean },
  input: { tenantId: string; run: NewRun } & TriggerOptions,
): Promise<{ result: CreateRunResult; attempts: readonly Attempt[] }> {
  const { tenantId } = input;
  return inPipelinedTransaction(db.shared, beginning({ keepsPlans }), async (tx) => {
    // Round trip 1: begin, the lock of the DAG's row, the caller's precondition.
    const locked = tx.send(lockDag(tx.db, { tenantId, dagId: input.run.dagId }));
    if (input.precondition) tx.send(input.precondition(tx.db));
    await tx.flush();

    // Round trip 2: the run.
    const inserted = await insertRun(tx.db, graphs, { tenantId, input: input.run, dag: await locked });
    if (inserted.kind !== 'inserted') return { result: inserted, attempts: [] };
    const { run, startsNow } = inserted;

    // Round trip 3: its instances, and which of them can be claimed.
    const work = startsNow ? await planStart(tx.db, graphs, run) : undefined;
    if (work) {
      await deferStarts(tx.db, [work]);
      tx.send(sendChanges(tx.db, [work]));
    }
    await tx.flush();
    const effects = withDeadline(work ? await concludeAll(tx.db, [work]) : inserted.effects, inserted.deadline);

    // Round trip 4: the caller's writes, commit.
    await tx.commitWith(input.alsoWrite?.(tx.db, run));
    return { result: { kind: 'created', run, effects }, attempts: [] };
  });
}
