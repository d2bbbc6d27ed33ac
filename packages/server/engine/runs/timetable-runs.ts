/**
 * Creates runs that time causes. Called by the tick, by a timer set to `nextDueAt`, and when the end of a run makes
 * room for the next.
 *
 *   find due DAGs ──▶ per DAG, in a transaction of its own: lock its row, or skip it if another process has the lock
 *     ──▶ create the runs that are due and fit under max_active_runs ──▶ store the next run in the row
 *
 * Several schedulers may do this at once: the lock of the row excludes others, and the run's id and logical date are
 * unique. A DAG that cannot be scheduled is postponed and reported, without effect on others.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { runIdFor } from '@svc/spec/timetables/run-id.ts';
import type { DataInterval, RunInfo } from '@svc/spec/timetables/types.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import { countLiveRuns, findDueDags, lockDueDag, nextDueMoment, updateNextRun } from '../sql/due-dags.ts';
import { setTimetable } from '../sql/timetable-questions.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import type { DueDag } from '../sql/due-dags.ts';
import { isOutage } from '../../db/outage.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import { secondsAfter } from '@svc/spec/clock.ts';
import type { CreateRun } from './create-run.ts';
import { asksTimetable, dueRun, lookAgainAt, mustAskFirst, nextRunColumns, runAfterInterval } from './dag-schedule.ts';

export type TimetableRuns = {
  /**
   * Creates at most `limit` runs. `nextDueAt` is when to call again: `now` when there is more to do at once, null when
   * no DAG has a next run. A DAG at its max_active_runs waits for the end of a run, not for a moment.
   */
  createDue(input: { now: string; limit: number }): Promise<{ created: number; nextDueAt: string | null }>;
  /** Does the same for one DAG, which has room again. */
  createDueOf(key: DagKey, now: string): Promise<{ created: number }>;
};

type Log = { error(details: Coded, message: string): void };

/** The backlog of one DAG must not delay the others. */
const RUNS_PER_TURN = 8;
/** Dates that already have a run are skipped. A turn ends after this number of them. */
const STEPS_PER_TURN = 200;
/** A higher number would only wait for connections. */
const DAGS_AT_ONCE = 4;
const RETRY_AFTER_SECONDS = 60;

export function createTimetableRuns(options: {
  db: Database;
  createRun: CreateRun;
  /** Called after the commit of each transaction that created runs. */
  onEffects(effects: RunEffects): void;
  log: Log;
}): TimetableRuns {
  const { db, createRun, onEffects, log } = options;

  /** Creates the runs of one DAG that are due. Returns how many were created. */
  async function takeTurn(key: DagKey, now: string, limit: number): Promise<number> {
    const effects = await db.shared.transaction().execute(async (trx) => {
      const dag = await lockDueDag(trx, key, now);
      return dag ? createRunsOf(trx, { key, dag, now, limit, createRun }) : [];
    });
    for (const effect of effects) onEffects(effect);
    return effects.length;
  }

  async function takeTurnSafely(key: DagKey, now: string, limit: number): Promise<number> {
    try {
      return await takeTurn(key, now, limit);
    } catch (error) {
      if (isOutage(error)) throw error;
      if (isTransient(error)) return 0; // two processes blocked each other; the next call tries again
      log.error(
        { code: 'SVC2007', err: error, dag_id: key.dagId, tenant: key.tenantId },
        `the next run of a DAG could not be created: tried again in ${RETRY_AFTER_SECONDS} s`,
      );
      await updateNextRun(db.shared, key, { next_dagrun_run_after: secondsAfter(now, RETRY_AFTER_SECONDS) });
      return 0;
    }
  }

  return {
    async createDue({ now, limit }) {
      const due = await findDueDags(db.shared, { now, limit });
      let left = limit;
      let created = 0;
      const queue = due.values();
      const work = async (): Promise<void> => {
        for (const key of queue) {
          const share = Math.min(RUNS_PER_TURN, left);
          if (share <= 0) return;
          left -= share; // taken before it is used, so that parallel turns stay within the limit
          const made = await takeTurnSafely(key, now, share);
          left += share - made;
          created += made;
        }
      };
      await Promise.all(Array.from({ length: Math.min(DAGS_AT_ONCE, due.length) }, work));
      // After a turn that created runs there may be more, of the same DAG or of those beyond the limit.
      const nextDueAt = created > 0 ? now : await nextDueMoment(db.shared, now);
      return { created, nextDueAt };
    },
    createDueOf: async (key, now) => ({ created: await takeTurnSafely(key, now, RUNS_PER_TURN) }),
  };
}

async function createRunsOf(
  trx: SharedDb,
  input: { key: DagKey; dag: DueDag; now: string; limit: number; createRun: CreateRun },
): Promise<RunEffects[]> {
  const { key, now, limit, createRun } = input;
  const at = instantOf(now);
  const effects: RunEffects[] = [];
  let dag = input.dag;
  if (mustAskFirst(dag, at)) {
    await updateNextRun(trx, key, nextRunColumns(null));
    await setTimetable(trx, key, { askAt: now });
    return [];
  }
  let last: DataInterval | null = null;
  let room = dag.max_active_runs - (await countLiveRuns(trx, key));
  for (let step = 0; step < STEPS_PER_TURN && effects.length < limit && room > 0; step += 1) {
    const run = dueRun(dag, at);
    if (run === null) break;
    const result = await createRun(trx, key.tenantId, scheduledRun(key, run));
    if (result.kind === 'created') {
      effects.push(result.effects);
      room -= 1;
    }
    if (result.kind === 'invalid_conf')
      throw new Error(`params without a usable default: ${result.problems.join('; ')}`);
    last = run.dataInterval;
    // A deleted DAG, or one that does not allow scheduled runs, has no next run. A duplicate means that the run exists.
    const isOver = result.kind === 'no_such_dag' || result.kind === 'run_type_not_allowed';
    dag = { ...dag, ...nextRunColumns(isOver ? null : runAfterInterval(dag, run.dataInterval, at)) };
  }
  await updateNextRun(trx, key, {
    next_dagrun_logical_date: dag.next_dagrun_logical_date,
    next_dagrun_data_interval_start: dag.next_dagrun_data_interval_start,
    next_dagrun_data_interval_end: dag.next_dagrun_data_interval_end,
    next_dagrun_run_after: lookAgainAt(dag),
  });
  if (last !== null && asksTimetable(dag, last, at)) await setTimetable(trx, key, { askAt: now });
  return effects;
}

const scheduledRun = (
  { dagId }: DagKey,
  { runAfter, logicalDate, dataInterval, runId, partitionKey, partitionDate, isUndated }: RunInfo,
) => ({
  dagId,
  runId: runId ?? runIdFor({ runType: 'scheduled', runAfter, ...(isUndated && { partitionKey }) }),
  runType: 'scheduled' as const,
  logicalDate: isUndated ? null : instantToIso(logicalDate),
  dataInterval: isUndated ? null : { start: instantToIso(dataInterval.start), end: instantToIso(dataInterval.end) },
  runAfter: instantToIso(runAfter),
  triggeredBy: 'timetable',
  partitionKey: partitionKey ?? null,
  partitionDate: partitionDate === undefined ? null : instantToIso(partitionDate),
});

function instantOf(now: string): Instant {
  const at = instantFromIso(now);
  if (at === null) throw new Error(`"${now}" is not a moment`);
  return at;
}

/** True for a deadlock, a serialisation failure, or a timeout of a lock or statement: the DAG itself is fine. */
export const isTransient = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(40|55P03|57014)/.test(String(error.code));
