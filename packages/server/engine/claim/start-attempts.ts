/**
 * From `queued` to `running`, for a batch of attempts: one statement, and one for their runs.
 *
 * The runs are not locked here, so this transaction must not wait while it holds rows. A transaction with the lock of a
 * run takes the rows of the run one after another, as planning asks for them. If a batch waited for rows as well, the
 * two could deadlock. A row that another transaction holds is therefore left out of the batch and awaited alone.
 */
import type { Database, SharedDb } from '../../db/database.ts';
import { beginning, inPipelinedTransaction } from '../../db/transaction.ts';
import type { AttemptRef, StartAnswer, StartingInstance, StartingWorker } from '../shared/attempts.ts';
import { loadRuns, startQueuedAttempts } from '../sql/attempts.ts';
import { lockInstances } from '../sql/run-writes.ts';

export type WantedStart = { ref: AttemptRef; worker: StartingWorker };

export async function startAttempts(
  db: Database,
  starts: readonly WantedStart[],
  plans: { keepsPlans?: boolean } = {},
): Promise<StartAnswer[]> {
  const started = await startSet(db, starts, plans);
  for (const start of starts.filter(({ ref }) => !started.has(ref.attemptId))) {
    const late = await startSet(db, [start], { ...plans, waits: true });
    for (const [attemptId, answer] of late) started.set(attemptId, answer);
  }
  return starts.map(({ ref }) => started.get(ref.attemptId) ?? STOP);
}

const STOP: StartAnswer = { kind: 'stop', reason: 'the attempt is no longer the current one' };

/** Starts the attempts that can start now. Returns the answers by attempt id. */
async function startSet(
  db: Database,
  starts: readonly WantedStart[],
  { waits = false, ...plans }: { waits?: boolean; keepsPlans?: boolean },
): Promise<Map<string, StartAnswer>> {
  const refs = starts.map(({ ref }) => ref);
  // Everything takes one round trip. The one change is complete in itself, so it may be sent together with `begin`.
  const [rows, runs, facts] = await inPipelinedTransaction(db.shared, beginning(plans), async (tx) => {
    if (waits) void tx.send(lockInstances(tx.db, refs));
    return tx.commitWith(startQueuedAttempts(tx.db, starts), loadRuns(tx.db, refs), readFacts(tx.db, starts));
  });
  return new Map(
    rows.flatMap((instance): [string, StartAnswer][] => {
      const run = runs.get(instance.run);
      if (!run || instance.attempt_id === null) return [];
      const startFacts = facts.get(instance.attempt_id);
      return [
        [instance.attempt_id, { kind: 'started', run, instance, ...(startFacts !== undefined && { startFacts }) }],
      ];
    }),
  );
}

/** Reads what the workers need, by attempt id. Sends its statements before its first await. */
async function readFacts(trx: SharedDb, starts: readonly WantedStart[]): Promise<Map<string, unknown>> {
  const wanted = starts.filter(({ ref, worker }) => worker.readStartFacts && isKnown(ref));
  const read = wanted[0]?.worker.readStartFacts;
  if (!read) return new Map();
  const found = await read(
    trx,
    wanted.flatMap(({ ref }) => (isKnown(ref) ? ref : [])),
  );
  return new Map(wanted.map(({ ref }, index) => [ref.attemptId, found[index]]));
}

const isKnown = (ref: AttemptRef): ref is AttemptRef & StartingInstance =>
  ref.dagId !== undefined && ref.versionNumber !== undefined;
