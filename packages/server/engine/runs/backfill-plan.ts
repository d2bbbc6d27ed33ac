/** What a backfill is about, worked out before anything is written. Pure. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { RunState } from '@svc/spec/states.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { iterRuns } from '@svc/spec/timetables/next-run.ts';
import { isPeriodic } from '@svc/spec/timetables/traits.ts';
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
  /** What the author's own timetable says of the range; such a DAG cannot be planned without. */
  ownRuns?: readonly RunInfo[];
};

/** Larger ranges are for several backfills: all their runs are made, and shown, at once. */
export const MAX_RUNS = 10_000;

/** Why the DAG cannot be backfilled in this way; null when it can. */
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
  // A run in the middle that failed or never was would hold up all that come after it.
  return request.reprocess === 'none'
    ? 'reprocess_behavior: Dag has tasks for which depends_on_past=True. You must set reprocess behavior to reprocess completed or reprocess failed.'
    : null;
}

const hasDates = (timetable: TimetableSpec): boolean =>
  timetable.type === 'asset_or_time'
    ? hasDates(timetable.timetable)
    : timetable.type === 'once' || isPeriodic(timetable);

/** Steps of a schedule in one turn of the event loop: 5 ms, in a zone with clock changes. */
const IN_ONE_TURN = 1_000;

/** The runs of the range whose time has come, in the order the backfill goes; null when there are too many. */
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

/** What becomes of each date: a new run, the old one once more, or nothing. A run that is under way is left alone. */
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
