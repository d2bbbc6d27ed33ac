/** The end of an attempt, as the transaction that finishes it sees it: reported by its worker, or lost. */
import type { AttemptOutcome, AttemptRef, Failure, FinishingWorker } from '../shared/attempts.ts';
import type { RunWork } from './run-work.ts';

export type Ending = {
  ref: AttemptRef;
  beforeCommit?: Promise<unknown> | undefined;
  worker?: FinishingWorker | undefined;
  /** Its trigger has ended the task, which waits without a process. */
  byTrigger?: true;
} & ({ outcome: AttemptOutcome } | { lost: Failure; hasBegun: boolean; hasGivenUp: boolean });

export type ReportedEnding = { ref: AttemptRef; outcome: AttemptOutcome };

export const reportedOf = (endings: readonly Ending[]): ReportedEnding[] =>
  endings.flatMap((ending) => ('outcome' in ending ? [{ ref: ending.ref, outcome: ending.outcome }] : []));

/** Those whose instance gets another try. */
export const retriedOf = (endings: readonly Ending[], byRun: ReadonlyMap<number, RunWork>): AttemptRef[] =>
  endings.map(({ ref }) => ref).filter((ref) => byRun.get(ref.run)?.row(ref)?.state === 'up_for_retry');
