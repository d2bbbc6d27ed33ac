/**
 * The one way a run comes into being, whoever wants it. In one transaction: the DAG's row is locked, the run inserted, and
 * when max_active_runs allows it is started, so that its first tasks can be claimed as soon as the caller has its answer.
 */
import { sql } from 'kysely';
import type { RunType } from '@svc/spec/states.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import { inferManualInterval } from '@svc/spec/timetables/next-run.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import { noEffects, waitingForPlace } from '../advance/apply-to-runs.ts';
import type { RunEffects } from '../advance/apply-to-runs.ts';
import { nowIso } from '@svc/spec/clock.ts';
import type { DagGraphs } from '../dag-graphs.ts';
import { paramProblems } from './run-params.ts';
import { countRunning, startRun } from './start-run.ts';

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
  /** Default: the DAG's current version. */
  versionNumber?: number;
};

export type CreateRunResult =
  | { kind: 'created'; run: RunRow; effects: RunEffects }
  | { kind: 'no_such_dag' }
  | { kind: 'duplicate'; what: 'dag_run_id' | 'logical_date' }
  | { kind: 'invalid_conf'; problems: string[] }
  | { kind: 'run_type_not_allowed'; allowed: readonly RunType[] };

/** What the caller sends along, so that it costs no round trip of its own. */
export type SentAlong = {
  /** With the lock of the DAG's row. When it fails, there is no run. */
  check?: () => Promise<unknown>;
  /** Behind the first instances of a run that starts at once, if all of them may. */
  behindFirst?: () => Promise<unknown>;
};

/** Within a transaction of the caller's. Afterwards, when committed, the scheduler wants to hear of the effects. */
export type CreateRun = (trx: SharedDb, tenantId: string, input: NewRun, along?: SentAlong) => Promise<CreateRunResult>;

type DagFacts = {
  is_paused: boolean;
  max_active_runs: number;
  current_version: number;
  timetable: TimetableSpec;
};

/** Two triggers in one microsecond get two ids and two dates. */
const COLLISIONS_SURVIVED = 20;

export function createRunCreator(graphs: DagGraphs): CreateRun {
  return async (trx, tenantId, input, along = {}) => {
    const [dag] = await Promise.all([lockDagRow(trx, tenantId, input.dagId), along.check?.()]);
    if (!dag) return { kind: 'no_such_dag' };
    const versionNumber = input.versionNumber ?? dag.current_version;
    const { spec } = await graphs.get(trx, { tenantId, dagId: input.dagId, versionNumber });
    const allowed = spec.dag.allowed_run_types;
    if (allowed !== null && !allowed.includes(input.runType)) return { kind: 'run_type_not_allowed', allowed };
    const problems = paramProblems(spec.params, input.conf ?? {});
    if (problems.length > 0) return { kind: 'invalid_conf', problems };

    // The run itself is not running yet, so the count may travel with it.
    const [inserted, running] = await Promise.all([
      insertRun(trx, { tenantId, input, dag, versionNumber }),
      dag.is_paused || input.backfillId !== undefined ? 0 : countRunning(trx, { tenantId, dagId: input.dagId }),
    ]);
    if ('kind' in inserted) return inserted;
    if (!mayStartNow(dag, inserted)) return { kind: 'created', run: inserted, effects: noEffects() };
    const effects =
      running < dag.max_active_runs
        ? await startRun(trx, graphs, inserted, along.behindFirst)
        : waitingForPlace(inserted); // a place may have come free before the run is there to be seen
    return { kind: 'created', run: inserted, effects };
  };
}

async function lockDagRow(trx: SharedDb, tenantId: string, dagId: string): Promise<DagFacts | undefined> {
  return trx
    .selectFrom('dags')
    .select(['is_paused', 'max_active_runs', 'current_version', 'timetable'])
    .where('tenant_id', '=', tenantId)
    .where('dag_id', '=', dagId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** A paused DAG's runs wait, as do those whose time has not come; those of a backfill are started with it. */
const mayStartNow = (dag: DagFacts, run: RunRow): boolean =>
  !dag.is_paused && run.backfill_id === null && Date.parse(run.run_after) <= Date.now();

async function insertRun(
  trx: SharedDb,
  context: { tenantId: string; input: NewRun; dag: DagFacts; versionNumber: number },
): Promise<RunRow | { kind: 'duplicate'; what: 'dag_run_id' | 'logical_date' }> {
  const { tenantId, input } = context;
  for (let attempt = 0; ; attempt += 1) {
    const dates = datesOf(context, attempt);
    const runId = input.runId ?? generatedRunId(input, dates, attempt);
    const { rows } = await sql<RunRow>`
      insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
        run_after, queued_at, conf, triggered_by, triggering_user_name, note, note_user, version_number, backfill_id, partition_key)
      values (${tenantId}, ${input.dagId}, ${runId}, ${input.runType}, 'queued', ${dates.logicalDate}, ${dates.start},
        ${dates.end}, ${dates.runAfter}, now(), ${JSON.stringify(input.conf ?? {})}, ${input.triggeredBy},
        ${input.triggeringUser ?? null}, ${input.note ?? null}, ${input.noteUser ?? null}, ${context.versionNumber},
        ${input.backfillId ?? null}, ${input.partitionKey ?? null})
      on conflict do nothing returning *`.execute(trx);
    const [row] = rows;
    if (row) return row;
    const what = await collision(trx, { tenantId, dagId: input.dagId, runId });
    const chosen = what === 'dag_run_id' ? input.runId !== undefined : input.logicalDate !== undefined;
    if (chosen || attempt >= COLLISIONS_SURVIVED) return { kind: 'duplicate', what };
  }
}

async function collision(
  trx: SharedDb,
  input: { tenantId: string; dagId: string; runId: string },
): Promise<'dag_run_id' | 'logical_date'> {
  const existing = await trx
    .selectFrom('dag_runs')
    .select('id')
    .where('tenant_id', '=', input.tenantId)
    .where('dag_id', '=', input.dagId)
    .where('run_id', '=', input.runId)
    .executeTakeFirst();
  return existing ? 'dag_run_id' : 'logical_date';
}

type RunDates = { logicalDate: string | null; start: string | null; end: string | null; runAfter: string };

function datesOf(context: { input: NewRun; dag: DagFacts }, attempt: number): RunDates {
  const { input, dag } = context;
  const now = laterBy(nowIso(), attempt);
  const logicalDate = input.logicalDate === undefined ? now : input.logicalDate;
  const runAfter = input.runAfter ?? (input.runType === 'manual' ? (logicalDate ?? now) : now);
  if (input.dataInterval !== undefined) {
    return {
      logicalDate,
      start: input.dataInterval?.start ?? null,
      end: input.dataInterval?.end ?? null,
      runAfter,
    };
  }
  const at = logicalDate === null ? null : instantFromIso(logicalDate);
  if (at === null) return { logicalDate, start: null, end: null, runAfter };
  const interval = inferManualInterval(dag.timetable, at);
  return { logicalDate, start: instantToIso(interval.start), end: instantToIso(interval.end), runAfter };
}

/** Airflow's form; the suffix only when another run took the plain one in the same microsecond. */
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
