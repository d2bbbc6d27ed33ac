/** Computes what a backfill will do, before anything is written. Pure. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { RunState } from '@svc/spec/states.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { iterRuns } from '@svc/spec/timetables/next-run.ts';
import { hasDates } from '@svc/spec/timetables/traits.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { RunInfo } from '@svc/spec/timetables/types.ts';
import type { ReprocessBehavior } from '../../db/schema.ts';

export type BackfillRequest = {
  dagId: string;
  fromDate: string;
  toDate: string;
  runBackwards: boolean;
  conf: Record<string, unknown> | null;
  reprocess: ReprocessBehavior;
  maxActiveRuns: number;
  onLatestVersion: boolean;
  /**
   * The runs that the author's timetable has in the range. A DAG with such a timetable cannot be planned without them.
   */
  ownRuns?: readonly RunInfo[];
};

/** A larger range needs several backfills, because all runs of one are created and shown at once. */
export const MAX_RUNS = 10_000;

/** Returns why the DAG cannot be backfilled in this way, or null. */
export function backfillProblem(spec: CompiledSpec, request: BackfillRequest, now: Instant): string | null {
  const { dagId } = request;
  const from = instantFromIso(request.fromDate);
  const to = instantFromIso(request.toDate);
  if (from === null || to === null) return 'from_date and to_date must be dates with a time zone';
  if (from > to) return 'from_date must not be later than to_date';
  if (from > now) return 'from_date: Backfill cannot be executed for future dates.';
  if (!hasDates(spec.schedule))
    return `${dagId} has no schedule of dates: there is nothing to fill in between two of them`;
  const allowed = spec.dag.allowed_run_types;
  if (allowed !== null && !allowed.includes('backfill')) {
    return `DAG ${dagId} does not take backfill runs, only: ${allowed.join(', ')}`;
  }
  if (!spec.tasks.some((task) => task.policy.depends_on_past)) return null;
  if (request.runBackwards) {
    return 'run_backwards: Backfill cannot be run in reverse when the Dag has tasks where depends_on_past=True.';
  }
  // A run in the middle that failed or never existed would block all runs after it.
  return request.reprocess === 'none'
    ? 'reprocess_behavior: Dag has tasks for which depends_on_past=True. You must set reprocess behavior to reprocess completed or reprocess failed.'
    : null;
}

/** Steps of a schedule in one turn of the event loop. */
const IN_ONE_TURN = 1_000;

/** Returns the runs of the range whose time has come, in the order of the backfill. Null when there are too many. */
export async function runsInRange(
  timetable: TimetableSpec,
  request: BackfillRequest,
  now: Instant,
): Promise<RunInfo[] | null> {
  const from = instantFromIso(request.fromDate);
  const to = instantFromIso(request.toDate);
  if (from === null || to === null) return [];
  const runs: RunInfo[] = [];
  for (const run of request.ownRuns ?? iterRuns(timetable, { from, to, now })) {
    if (run.runAfter > now) break;
    if (runs.length >= MAX_RUNS) return null;
    runs.push(run);
    if (runs.length % IN_ONE_TURN === 0) await nextTurn();
  }
  return request.runBackwards ? runs.toReversed() : runs;
}

export type ExistingByDate = ReadonlyMap<Instant, { id: number; state: RunState; isImported: boolean }>;

export type BackfillStep = { info: RunInfo } & ({ kind: 'create' } | { kind: 'reprocess'; run: number });

/** Decides for each date: a new run, the old one again, or nothing. An active run is not changed. */
export function stepsOf(
  runs: readonly RunInfo[],
  existing: ExistingByDate,
  reprocess: ReprocessBehavior,
): BackfillStep[] {
  return runs.flatMap((info): BackfillStep[] => {
    const run = existing.get(info.logicalDate);
    if (!run) return [{ kind: 'create', info }];
    const isWanted =
      (run.state === 'failed' && reprocess !== 'none') || (run.state === 'success' && reprocess === 'completed');
    return isWanted ? [{ kind: 'reprocess', info, run: run.id }] : [];
  });
}

export const dateOf = (info: RunInfo): string => instantToIso(info.logicalDate);
