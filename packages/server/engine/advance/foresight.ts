/**
 * Where one task of a run follows another, what the end of a task will find is known when it starts: the run, its instance and
 * those behind it. So it is read then, and kept by this process until the task ends. Its end need not read first: what follows
 * is worked out from what is kept, and goes to Postgres together with the question whether all is as it was (sql/foreseen.ts),
 * in one round trip. Where it is not, nothing is written, and the end takes the ordinary way.
 *
 *   start of B, by the end of A:  … start B, read what B's end will find, commit
 *   end of B:                     begin, is it so?, outcome of B, start of C, read what C's end will find, commit
 *
 * Only for the one task that is under way in its run, while nothing waits for the slots of its pool: elsewhere the ends of others
 * change what was read, and most questions would be answered with no.
 */
import type { Look } from '../claim/hand-over.ts';
import type { ForeseenRows } from '../sql/foreseen.ts';
import type { PlannedStart } from '../sql/instance-columns.ts';
import type { Ending } from './ending.ts';
import type { RunWork } from './run-work.ts';

/** `picks`: the rows that were looked for, the attempt's own among them. */
export type Foreseen = ForeseenRows & {
  attemptId: string;
  pool: string;
  picks: readonly { taskId: string; mapIndex: number }[];
};

export type Foresight = {
  /** When its start is committed. */
  note(foreseen: Foreseen): void;
  /** What these endings will find, if it is known and they are to be answered with what follows. It is given once. */
  take(endings: readonly Ending[]): Foreseen | undefined;
};

/** More runs than go on at once in most places. Some kB each; the oldest are left, whose ends then read as all others. */
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

/** Of what is started here, the one whose end can be foreseen. */
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

/** As it would be seen, where all is as foreseen: nothing waits, nothing is held, the pool is not overfull. */
export const foreseenLook = ({ run: { row: run }, pool }: Foreseen): Look => ({
  pools: [{ tenant_id: run.tenant_id, pool, free: 0, has_limit: true }],
  runs: new Map([[run.id, { run: run.id, is_held: false, active: null }]]),
  candidates: [],
});
