/**
 * Periodically removes staged files that their runs no longer need, for every kind of storage (folders, claims):
 *
 *   queued, running     kept
 *   success, deleted    removed
 *   failed              kept for `executor.staging_retention`, so that the run can be cleared and continue
 *
 * Between the check of a run and the removal, the run may be cleared and use the files again. `remove` must detect that
 * from what `list` returned.
 */
import type { AgentLog } from '../agents/collaborators.ts';
import { runKey } from '../db/dag-runs/run-ends.ts';
import type { RunEnd, RunKey } from '../db/dag-runs/run-ends.ts';

export type FindRunEnds = (runs: readonly RunKey[]) => Promise<ReadonlyMap<string, RunEnd>>;

export type StagingSweep = { start(): void; stop(): Promise<void> };

export type StagingSweepInput<Staged extends RunKey> = {
  list: () => Promise<readonly Staged[]>;
  /** Returns false when it was used in the meantime, or another process removed it. */
  remove: (staged: Staged) => Promise<boolean>;
  findRunEnds: FindRunEnds;
  retentionMs: number;
  everyMs: number;
  log: AgentLog;
};

export function createStagingSweep<Staged extends RunKey>(input: StagingSweepInput<Staged>): StagingSweep {
  const { everyMs, log } = input;
  let isStopping = false;
  let sweeping: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function sweep(): Promise<void> {
    try {
      const removed = await removeDue(input, () => isStopping);
      if (removed > 0) log.info({ runs: removed }, 'staged files of runs that are over removed');
    } catch (error) {
      log.warn(
        { code: 'SVC3011', err: error },
        'staged files of runs that are over could not be removed; tried again later',
      );
    }
    next();
  }

  function next(): void {
    if (!isStopping) timer = setTimeout(() => void (sweeping = sweep()), everyMs).unref();
  }

  return {
    start: next,
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}

/** Resolves with the number of removals. A failed removal does not stop the others. */
async function removeDue<Staged extends RunKey>(
  input: StagingSweepInput<Staged>,
  isStopping: () => boolean,
): Promise<number> {
  const { list, remove, findRunEnds, retentionMs, log } = input;
  const all = await list();
  if (all.length === 0) return 0;
  const ends = await findRunEnds(all);
  let removed = 0;
  for (const staged of all.filter((each) => isDue(ends.get(runKey(each)), retentionMs))) {
    if (isStopping()) break;
    try {
      if (await remove(staged)) removed += 1;
    } catch (error) {
      log.warn(
        { code: 'SVC3012', err: error, run: staged.run },
        'staged files of a run could not be removed; tried again later',
      );
    }
  }
  return removed;
}

/** Undefined: a run of another installation. */
export function isDue(end: RunEnd | undefined, retentionMs: number): boolean {
  if (!end) return false;
  if (end.state === null || end.state === 'success') return true;
  return end.state === 'failed' && end.endedForMs >= retentionMs;
}
