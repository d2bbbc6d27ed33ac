/**
 * What must follow outside a run after its transaction has committed: another run may start, an agent must stop. A
 * missed effect is a missed wake-up, which only the recovery finds seconds later. The types below therefore name each
 * effect: in the merge here, and where they are carried out (`effects.ts`).
 */
import type { RunState } from '@svc/spec/states.ts';
import type { RunRow } from '../../db/schema.ts';
import { nameOfDate, nameOfRun } from '../sql/triggers.ts';

export type RunEffects = {
  ended: { tenantId: string; dagId: string; run: number; runId: string; state: RunState }[];
  /** Attempts whose reports no longer count. Their agents should learn it soon. */
  superseded: string[];
  /** The earliest moment at which a retry or a poke is due. */
  dueAt: string | null;
  /** Finished tasks. The instance of the next run may wait for them because of depends_on_past. */
  pastMoved: { tenantId: string; dagId: string; run: number; taskIds: string[] }[];
  /** DAGs with queued runs. One of them may be able to start. */
  queued: { tenantId: string; dagId: string }[];
  /** There may be something to claim. */
  hasScheduled: boolean;
  hasCallbacks: boolean;
  /** An instance started or stopped waiting for a trigger. */
  hasTriggers: boolean;
  /** Runs that ended or in which tasks ended. Tasks of other DAGs may wait for them. */
  moved: NamedRuns[];
  /** Runs for which a task started waiting. */
  awaited: NamedRuns[];
};

/** Runs of one DAG, by the names that waiting tasks use for them. */
export type NamedRuns = { tenantId: string; dagId: string; names: readonly string[] };

export const namesOf = ({
  tenant_id: tenantId,
  dag_id: dagId,
  run_id: runId,
  logical_date: date,
}: RunRow): NamedRuns => ({
  tenantId,
  dagId,
  names: [nameOfRun(runId), ...(date === null ? [] : [nameOfDate(date)])],
});

export const noEffects = (): RunEffects => ({
  ended: [],
  superseded: [],
  dueAt: null,
  pastMoved: [],
  queued: [],
  hasScheduled: false,
  hasCallbacks: false,
  hasTriggers: false,
  moved: [],
  awaited: [],
});

/** The effects of queueing a run: it starts as soon as its DAG has room for it. */
export const waitingForSlot = (run: { tenant_id: string; dag_id: string }): RunEffects => ({
  ...noEffects(),
  queued: [{ tenantId: run.tenant_id, dagId: run.dag_id }],
});

type Merge = {
  [Effect in keyof RunEffects]: (one: RunEffects[Effect], other: RunEffects[Effect]) => RunEffects[Effect];
};

const both = <T>(one: T[], other: T[]): T[] => (other.length === 0 ? one : [...one, ...other]);
const either = (one: boolean, other: boolean): boolean => one || other;
const earlier = (one: string | null, other: string | null): string | null =>
  one === null || (other !== null && other < one) ? other : one;

const MERGE: Merge = {
  ended: both,
  superseded: both,
  dueAt: earlier,
  pastMoved: both,
  queued: both,
  hasScheduled: either,
  hasCallbacks: either,
  hasTriggers: either,
  moved: both,
  awaited: both,
};
const NAMES = Object.keys(MERGE) as (keyof RunEffects)[];

/** Returns everything that follows from one or from the other. */
export function mergeEffects(one: RunEffects, other: Partial<RunEffects>): RunEffects {
  const merged = { ...one };
  for (const name of NAMES) mergeOne(merged, name, other[name]);
  return merged;
}

function mergeOne<Effect extends keyof RunEffects>(
  into: RunEffects,
  name: Effect,
  more: RunEffects[Effect] | undefined,
): void {
  if (more !== undefined) into[name] = MERGE[name](into[name], more);
}
