/**
 * Prefetches the rows that the end of a lone task needs: the run, its instance and the children. They are read when the
 * task starts, and this process keeps them until it ends. The end then needs no read first: it plans from the kept rows
 * and sends its changes together with a check that the rows are unchanged (sql/foreseen.ts), in one round trip. If a
 * row has changed, nothing is written, and the end reads its rows as usual.
 *
 *   start of B, by the end of A:  … start B, read the rows for B's end, commit
 *   end of B:                     begin, check, outcome of B, start of C, read the rows for C's end, commit
 *
 * Used only for the one active task of a run while nothing waits for the slots of its pool. Elsewhere the ends of other
 * tasks change these rows, and most checks would fail.
 */
import type { Look } from '../claim/hand-over.ts';
import type { ForeseenRows } from '../sql/foreseen.ts';
import type { PlannedStart } from '../sql/instance-columns.ts';
import type { Ending } from './ending.ts';
import type { RunWork } from './run-work.ts';

/** `picks`: the keys that were looked up, with the key of the attempt's own instance. */
export type Foreseen = ForeseenRows & {
  attemptId: string;
  pool: string;
  picks: readonly { taskId: string; mapIndex: number }[];
};

export type Foresight = {
  /** Keeps the rows. Called after the commit of the start. */
  note(foreseen: Foreseen): void;
  /** Returns the rows for these ends if they are known and the worker wants a next attempt. Returns them only once. */
  take(endings: readonly Ending[]): Foreseen | undefined;
};

/**
 * Most installations have fewer concurrent runs. An entry takes some kB. When the oldest one is dropped, the end of its
 * attempt reads the rows as usual.
 */
const KEPT = 256;

export function createForesight(): Foresight {
  const kept = new Map<string, Foreseen>();
  return {
    note(foreseen) {
      kept.set(foreseen.attemptId, foreseen);
      for (const oldest of kept.keys()) {
        if (kept.size <= KEPT) break;
        kept.delete(oldest);
      }
    },
    take(endings) {
      const [ending] = endings;
      if (!ending) return undefined;
      for (const { ref } of endings.slice(1)) kept.delete(ref.attemptId);
      const foreseen = kept.get(ending.ref.attemptId);
      kept.delete(ending.ref.attemptId);
      return endings.length === 1 && ending.worker?.takesNew === true ? foreseen : undefined;
    },
  };
}

/** Returns the one start whose end can use prefetched rows. */
export function foreseeable(
  works: readonly RunWork[],
  look: Look,
  starts: readonly PlannedStart[],
): { work: RunWork; start: PlannedStart } | undefined {
  const [work] = works;
  const [start] = starts;
  const isAlone = works.length === 1 && starts.length === 1 && look.candidates.length === 0;
  return isAlone && work?.counts.live === 1 && start ? { work, start } : undefined;
}

/** The look that unchanged rows imply: nothing waits, nothing is held, the pool is not overfull. */
export const foreseenLook = ({ run: { row: run }, pool }: Foreseen): Look => ({
  pools: [{ tenant_id: run.tenant_id, pool, free: 0, has_limit: true }],
  runs: new Map([[run.id, { run: run.id, is_held: false, active: null }]]),
  candidates: [],
});
