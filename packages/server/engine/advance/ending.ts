/** The end of an attempt for the transaction that finishes it: its worker reported it, or the attempt is lost. */
import type { AttemptOutcome, AttemptRef, Failure, FinishingWorker } from '../shared/attempts.ts';
import type { RunWork } from './run-work.ts';

export type Ending = {
  ref: AttemptRef;
  beforeCommit?: Promise<unknown> | undefined;
  worker?: FinishingWorker | undefined;
  /** The trigger ended the task, which waited without a process. */
  byTrigger?: true;
} & ({ outcome: AttemptOutcome } | { lost: Failure; hasBegun: boolean; hasGivenUp: boolean });

export type ReportedEnding = { ref: AttemptRef; outcome: AttemptOutcome };

export const reportedOf = (endings: readonly Ending[]): ReportedEnding[] =>
  endings.flatMap((ending) => ('outcome' in ending ? [{ ref: ending.ref, outcome: ending.outcome }] : []));

/** The attempts whose instances get another try. */
export const retriedOf = (endings: readonly Ending[], byRun: ReadonlyMap<number, RunWork>): AttemptRef[] =>
  endings.map(({ ref }) => ref).filter((ref) => byRun.get(ref.run)?.row(ref)?.state === 'up_for_retry');
