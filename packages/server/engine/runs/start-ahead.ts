/**
 * First tasks that are started by the transaction which makes their runs, where it is known who will run them:
 *
 *   ordered from the worker ─▶ written as running ─▶ commit ─▶ what the worker has asked meanwhile is answered
 *
 * instead of a claim, an order and a start behind the commit. The order leaves before the commit, so that an attempt which is
 * stored as running is one that a worker has heard of, whoever dies. Measured with `bench -- floor`: see docs/performance.md.
 */
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import type { Attempt, HandedOver, ReadyWorker, StartedAhead } from '../shared/attempts.ts';
import type { QueuedInstance } from '../sql/instance-columns.ts';
import { insertStarted } from '../sql/new-runs.ts';

export type AheadStarts = {
  /** Sent at once; behind the runs. */
  write(trx: SharedDb): Promise<void>;
  /** The commit waits for it. */
  readonly ordered: Promise<void>;
  committed(runs: ReadonlyMap<number, RunRow>): void;
  /** It failed, or nobody knows. Means nothing behind `committed`. */
  over(): void;
};

/** `claimed` are stored as they are when they have started. */
export function startAhead(
  { hostname, readStartFacts, order }: ReadyWorker,
  claimed: readonly { queued: QueuedInstance; attempt: Attempt }[],
): AheadStarts {
  const { promise: started, resolve } = Promise.withResolvers<StartedAhead>();
  const attempts = claimed.map(({ attempt }) => attempt);
  for (const { queued } of claimed) Object.assign(queued.instance, { state: 'running' });
  const ordered = order(attempts, started);
  ordered.catch(() => {}); // told by the commit that waits for it, unless something fails before
  let rows: readonly InstanceRow[] = [];
  let facts: readonly unknown[] = [];
  return {
    async write(trx) {
      [rows, facts] = await Promise.all([
        insertStarted(
          trx,
          claimed.map(({ queued }) => ({ ...queued, hostname })),
        ),
        readStartFacts(trx, attempts),
      ]);
    },
    ordered,
    committed(runs) {
      const stored = new Map(rows.map((row) => [row.attempt_id, row]));
      resolve(
        new Map(
          attempts.flatMap((attempt, index): [string, HandedOver][] => {
            const [run, instance] = [runs.get(attempt.run), stored.get(attempt.attemptId)];
            if (!run || !instance) return [];
            return [[attempt.attemptId, { attempt, run, instance, startFacts: facts[index] }]];
          }),
        ),
      );
    },
    over: () => resolve(undefined),
  };
}
