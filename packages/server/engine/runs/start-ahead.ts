/**
 * Starts the first tasks of runs in the transaction that creates the runs, when their worker is known:
 *
 *   order sent to the worker ─▶ written as running ─▶ commit ─▶ the requests of the worker are answered
 *
 * This replaces a claim, an order and a start after the commit. The order is sent before the commit, so a worker knows
 * every attempt that is stored as running, whichever process dies. `npm run bench -- floor` measures it.
 */
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import type { Attempt, HandedOver, ReadyWorker, StartedAhead } from '../shared/attempts.ts';
import type { QueuedInstance } from '../sql/instance-columns.ts';
import { insertStarted } from '../sql/new-runs.ts';

export type AheadStarts = {
  /** Sends its statements before its first await. Call it after the inserts of the runs. */
  write(trx: SharedDb): Promise<void>;
  /** The commit waits for it. */
  readonly ordered: Promise<void>;
  committed(runs: ReadonlyMap<number, RunRow>): void;
  /** Called when the transaction failed or its result is unknown. Has no effect after `committed`. */
  over(): void;
};

/** Changes `claimed` to the rows of started attempts. */
export function startAhead(
  { hostname, readStartFacts, order }: ReadyWorker,
  claimed: readonly { queued: QueuedInstance; attempt: Attempt }[],
): AheadStarts {
  const { promise: started, resolve } = Promise.withResolvers<StartedAhead>();
  const attempts = claimed.map(({ attempt }) => attempt);
  for (const { queued } of claimed) Object.assign(queued.instance, { state: 'running' });
  const ordered = order(attempts, started);
  ordered.catch(() => {}); // the commit that waits for it reports the error, unless something fails before
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
