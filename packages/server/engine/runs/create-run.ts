/**
 * Creates runs. In one transaction it locks the DAG's row, inserts the run, and starts it when max_active_runs allows.
 * The first tasks can then be claimed as soon as the caller has its answer.
 */
import { nowIso } from '@svc/spec/clock.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { RunType } from '@svc/spec/states.ts';
import { customIn } from '@svc/spec/timetables/custom-runs.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import { inferManualInterval } from '@svc/spec/timetables/next-run.ts';
import { IMPORTED_VERSION } from '../../db/imports/imported-version.ts';
import type { SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import { mergeEffects, noEffects, waitingForSlot } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { hasRunId, insertQueuedRun, lockDag } from '../sql/new-runs.ts';
import type { DagFacts, QueuedRun } from '../sql/new-runs.ts';
import { countRunning } from '../sql/queued-runs.ts';
import { makeDeadlines } from './deadlines.ts';
import { paramProblems } from './run-params.ts';
import { startRun } from './start-run.ts';

export type NewRun = {
  dagId: string;
  runId?: string;
  runType: RunType;
  /** Undefined: now, for a manual run. Null: the run has none (asset-triggered). */
  logicalDate?: string | null;
  dataInterval?: { start: string; end: string } | null;
  runAfter?: string;
  conf?: Record<string, unknown>;
  note?: string | null;
  noteUser?: string | null;
  triggeredBy: string;
  triggeringUser?: string | null;
  backfillId?: number;
  partitionKey?: string | null;
  /** The date from which a schedule of partitions made the key. */
  partitionDate?: string | null;
  /** Default: the DAG's current version. */
  versionNumber?: number;
};

export type RunRefusal =
  | { kind: 'no_such_dag' }
  | { kind: 'duplicate'; what: 'dag_run_id' | 'logical_date' }
  | { kind: 'invalid_conf'; problems: string[] }
  | { kind: 'run_type_not_allowed'; allowed: readonly RunType[] }
  /** The author's timetable must say first what a run at that moment covers. */
  | { kind: 'ask_timetable'; at: string; versionNumber: number }
  | { kind: 'timetable_failed'; problem: string };

export type CreateRunResult = { kind: 'created'; run: RunRow; effects: RunEffects } | RunRefusal;

/** The answer to a request for a run. The timetable has been asked if necessary. */
export type TriggerResult = Exclude<CreateRunResult, { kind: 'ask_timetable' }>;

/** Runs within the caller's transaction. After the commit the caller passes the effects to the scheduler. */
export type CreateRun = (trx: SharedDb, tenantId: string, input: NewRun) => Promise<CreateRunResult>;

/** Makes the deadline due, so that the scheduler checks it then. */
export const withDeadline = (effects: RunEffects, deadline: string | null): RunEffects =>
  mergeEffects(effects, { dueAt: deadline });

/** Two triggers in one microsecond get two ids and two dates. */
const COLLISIONS_SURVIVED = 20;

export function createRunCreator(graphs: DagGraphs): CreateRun {
  return async (trx, tenantId, input) => {
    const dag = await lockDag(trx, { tenantId, dagId: input.dagId });
    const inserted = await insertRun(trx, graphs, { tenantId, input, dag });
    if (inserted.kind !== 'inserted') return inserted;
    const { run, startsNow } = inserted;
    const effects = startsNow ? await startRun(trx, graphs, run) : inserted.effects;
    return { kind: 'created', run, effects: withDeadline(effects, inserted.deadline) };
  };
}

/** `effects`: those of a run that does not start now. */
export type InsertedRun = {
  kind: 'inserted';
  run: RunRow;
  startsNow: boolean;
  effects: RunEffects;
  /** The first moment by which the run should have ended. */
  deadline: string | null;
};

/**
 * Inserts the queued run, and decides whether it starts at once. The caller holds the lock of the DAG's row. One round
 * trip.
 */
export async function insertRun(
  trx: SharedDb,
  graphs: DagGraphs,
  { tenantId, input, dag }: { tenantId: string; input: NewRun; dag: DagFacts | undefined },
): Promise<InsertedRun | RunRefusal> {
  const versionNumber = versionOf(input, dag);
  if (!dag || versionNumber === undefined) return { kind: 'no_such_dag' };
  const { spec } = await graphs.get(trx, { tenantId, dagId: input.dagId, versionNumber });
  const refusal = refusalOf(spec, input, dag);
  if (refusal) return refusal;
  // The new run is not running, so the count can be sent with the insert.
  const [inserted, running] = await Promise.all([
    insertUnique(trx, { tenantId, input, dag, versionNumber }),
    dag.is_paused || input.backfillId !== undefined ? 0 : countRunning(trx, { tenantId, dagId: input.dagId }),
  ]);
  if ('kind' in inserted) return inserted;
  const deadline = await makeDeadlines(trx, inserted, spec.dag.deadlines);
  const mayStart = mayStartNow(dag, inserted);
  const startsNow = mayStart && running < dag.max_active_runs;
  // A slot may have become free before other transactions can see this run.
  const effects = mayStart && !startsNow ? waitingForSlot(inserted) : noEffects();
  return { kind: 'inserted', run: inserted, startsNow, effects, deadline };
}

/**
 * Returns undefined when there is nothing to run, also for a DAG that was imported from an Airflow and is not deployed
 * yet.
 */
export function versionOf(input: NewRun, dag: DagFacts | undefined): number | undefined {
  const versionNumber = input.versionNumber ?? dag?.current_version;
  return versionNumber === IMPORTED_VERSION ? undefined : versionNumber;
}

/** Checks everything that can be checked before the insert. */
export function refusalOf(spec: CompiledSpec, input: NewRun, dag: DagFacts): RunRefusal | undefined {
  const allowed = spec.dag.allowed_run_types;
  if (allowed !== null && !allowed.includes(input.runType)) return { kind: 'run_type_not_allowed', allowed };
  const problems = paramProblems(spec.params, input.conf ?? {});
  if (problems.length > 0) return { kind: 'invalid_conf', problems };
  if (customIn(dag.timetable) && input.dataInterval === undefined && input.logicalDate !== null)
    return { kind: 'ask_timetable', at: input.logicalDate ?? nowIso(), versionNumber: dag.current_version };
  return undefined;
}

/** Returns the run as it is queued, with its names and dates. The caller provides the `id`. */
export function queuedRun(input: {
  tenantId: string;
  id: number;
  run: NewRun;
  dag: DagFacts;
  versionNumber: number;
}): RunRow {
  const { tenantId, id, run, dag, versionNumber } = input;
  const dates = datesOf({ input: run, dag }, 0);
  const now = nowIso();
  return {
    tenant_id: tenantId,
    id,
    dag_id: run.dagId,
    run_id: run.runId ?? generatedRunId(run, dates, 0),
    run_type: run.runType,
    state: 'queued',
    logical_date: dates.logicalDate,
    data_interval_start: dates.intervalStart,
    data_interval_end: dates.intervalEnd,
    run_after: dates.runAfter,
    queued_at: now,
    start_date: null,
    end_date: null,
    duration: null,
    conf: run.conf ?? {},
    triggered_by: run.triggeredBy,
    triggering_user_name: run.triggeringUser ?? null,
    note: run.note ?? null,
    note_user: run.noteUser ?? null,
    version_number: versionNumber,
    backfill_id: null,
    partition_key: run.partitionKey ?? null,
    partition_date: run.partitionDate ?? null,
    state_counts: {},
    timeout_at: null,
    created_at: now,
    // The statement that inserts the run copies it from the DAG.
    tree: null,
  };
}

/**
 * Runs of a paused DAG wait, as do runs whose time has not come; a backfill starts its own runs. Uses the clock that
 * gave the run its time: after the system clock was set back, that clock is ahead of Date.now() for a while.
 */
export const mayStartNow = (dag: DagFacts, run: RunRow): boolean =>
  !dag.is_paused && run.backfill_id === null && run.run_after <= nowIso();

async function insertUnique(
  trx: SharedDb,
  context: { tenantId: string; input: NewRun; dag: DagFacts; versionNumber: number },
): Promise<RunRow | Extract<RunRefusal, { kind: 'duplicate' }>> {
  const { tenantId, input, versionNumber } = context;
  const dag = { tenantId, dagId: input.dagId };
  for (let attempt = 0; ; attempt += 1) {
    const dates = datesOf(context, attempt);
    const runId = input.runId ?? generatedRunId(input, dates, attempt);
    const row = await insertQueuedRun(trx, dag, {
      ...dates,
      runId,
      runType: input.runType,
      conf: input.conf ?? {},
      triggeredBy: input.triggeredBy,
      triggeringUser: input.triggeringUser ?? null,
      note: input.note ?? null,
      noteUser: input.noteUser ?? null,
      versionNumber,
      backfillId: input.backfillId ?? null,
      partitionKey: input.partitionKey ?? null,
      partitionDate: input.partitionDate ?? null,
    });
    if (row) return row;
    const what = (await hasRunId(trx, dag, runId)) ? 'dag_run_id' : 'logical_date';
    const isGiven = what === 'dag_run_id' ? input.runId !== undefined : input.logicalDate !== undefined;
    if (isGiven || attempt >= COLLISIONS_SURVIVED) return { kind: 'duplicate', what };
  }
}

type RunDates = Pick<QueuedRun, 'logicalDate' | 'intervalStart' | 'intervalEnd' | 'runAfter'>;

function datesOf(context: { input: NewRun; dag: DagFacts }, attempt: number): RunDates {
  const { input, dag } = context;
  const now = laterBy(nowIso(), attempt);
  const logicalDate = input.logicalDate === undefined ? now : input.logicalDate;
  const runAfter = input.runAfter ?? (input.runType === 'manual' ? (logicalDate ?? now) : now);
  if (input.dataInterval !== undefined) {
    return {
      logicalDate,
      intervalStart: input.dataInterval?.start ?? null,
      intervalEnd: input.dataInterval?.end ?? null,
      runAfter,
    };
  }
  const at = logicalDate === null ? null : instantFromIso(logicalDate);
  if (at === null) return { logicalDate, intervalStart: null, intervalEnd: null, runAfter };
  const interval = inferManualInterval(dag.timetable, at);
  const [intervalStart, intervalEnd] = [instantToIso(interval.start), instantToIso(interval.end)];
  return { logicalDate, intervalStart, intervalEnd, runAfter };
}

/** Airflow's form. It has a suffix only when another run took the plain id in the same microsecond. */
function generatedRunId(input: NewRun, dates: RunDates, attempt: number): string {
  const moment = dates.logicalDate ?? dates.runAfter;
  const at = instantFromIso(moment);
  const text = at === null ? moment : instantToIso(at);
  const suffix = attempt === 0 ? '' : `_${crypto.randomUUID().slice(0, 8)}`;
  return `${input.runType}__${text}${suffix}`;
}

const laterBy = (moment: string, microseconds: number): string => {
  const at = instantFromIso(moment);
  return at === null || microseconds === 0 ? moment : instantToIso((at + microseconds) as typeof at);
};
