/**
 * The end of attempts, as a set: their outcomes, what follows in their runs, and what they leave behind (values, rendered
 * fields, asset events), all in one transaction. When it has committed, the next tasks are there to be claimed.
 *
 *   success, skipped   as reported
 *   failed             up_for_retry while tries are left and the task did not ask otherwise; else failed
 *   reschedule         up_for_reschedule: the same try goes on at its time
 *   lost, not begun    back to scheduled: nothing has run
 *
 * The word of an attempt that is not the current one of its instance changes nothing.
 *
 * This is the road between two tasks, so nothing is waited for that is not needed to go on. Three round trips in the usual case:
 *   1  begin, the runs, the finished instances and their children
 *   2  values, what follows in the runs, and what could be started next (hand-over.ts)
 *   3  the start of the next, what its worker must be told, commit
 */
import { failureReason } from '@svc/spec/failure-causes.ts';
import type { PolicySpec } from '@svc/spec/schema-task.ts';
import { isRunFinished } from '@svc/spec/states.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { lockInstances, lockRuns } from '../sql/run-writes.ts';
import { lockTaskSlots, releaseHeldBack } from '../sql/slots.ts';
import { keepTries } from '../sql/try-history.ts';
import type { RunRef } from '../sql/run-writes.ts';
import { beginning, inTransaction } from '../../db/transaction.ts';
import { concludeAll, isHoldingBack, openWork, planAll, sendChanges } from './apply-to-runs.ts';
import type { RunEffects } from './apply-to-runs.ts';
import type { AttemptOutcome, AttemptRef, Failure, FinishAnswer, GoingOn, HandedOver } from '../attempts.ts';
import { secondsAfter } from '@svc/spec/clock.ts';
import type { DagGraphs } from '../dag-graphs.ts';
import { saveBelongings, sendOutputs } from './attempt-outputs.ts';
import type { RecordAssetEvents } from './attempt-outputs.ts';
import { findHandedOver, findNext, startNext } from '../claim/hand-over.ts';
import type { Giver } from '../claim/hand-over.ts';
import type { PlanEvent } from '../plan/types.ts';
import type { RunWork } from './run-work.ts';

/** An end as reported, or the loss of an attempt. */
export type Ending = {
  ref: AttemptRef;
  beforeCommit?: Promise<unknown> | undefined;
  goingOn?: GoingOn | undefined;
} & ({ outcome: AttemptOutcome } | { lost: Failure; hasBegun: boolean });
export type FinishTools = { graphs: DagGraphs; recordAssetEvents: RecordAssetEvents; keepsPlans?: boolean };

/** A reschedule whose time is missing or unreadable pokes again soon. */
const DEFAULT_POKE_SECONDS = 60;
const CAPPED_DELAY_SECONDS = 86_400;

export async function finishAttempts(
  db: Database,
  tools: FinishTools,
  endings: readonly Ending[],
): Promise<{ answers: FinishAnswer[]; effects: RunEffects }> {
  return inTransaction(db.shared, beginning(tools), async (trx, commit) => {
    const works = await openAround(trx, tools.graphs, endings);
    const byRun = new Map(works.map((work) => [work.run.id, work]));
    const { answers, kept, repeated, events } = takeWords(byRun, endings);
    const outputs = quiet(sendOutputs(trx, kept, byRun));
    const beside = await saveBelongings(trx, { endings: kept, byRun, recordAssetEvents: tools.recordAssetEvents });
    await planAll(
      trx,
      works.map((work) => ({ work, events: isRunFinished(work.run.state) ? [] : (events.get(work) ?? []) })),
    );
    const written = quiet(sendWrites(trx, { works, kept, byRun }));
    const look = () => findNext(trx, tools.graphs, giversOf(kept));
    // A run that holds instances back lets the next of them through in `concludeAll`, and those are to be found, too.
    const early = works.some(isHoldingBack) ? undefined : quiet(look());
    await Promise.all([outputs, written]);
    const effects = await concludeAll(trx, works);
    const found = await (early ?? look());
    const again = await findHandedOver(trx, idsOf(repeated));
    await Promise.all(endings.map(({ beforeCommit }) => beforeCommit));
    const given = await startNext(trx, found, { works, commit });
    effects.dueAt = beside.dueAt ?? effects.dueAt; // an asset event is due at once
    effects.hasScheduled = found?.hasMore(given.size) ?? (effects.hasScheduled || kept.length > 0); // a place came free
    effects.hasCallbacks ||= beside.hasCallbacks;
    const next = new Map([...again, ...given]);
    return { answers: endings.map(({ ref }, index) => answerOf(answers[index], next.get(ref.attemptId))), effects };
  });
}

/** Awaited later: until then nobody else hears of a failure. */
function quiet<T>(sent: Promise<T>): Promise<T> {
  sent.catch(() => {});
  return sent;
}

const answerOf = (answer: FinishAnswer['answer'] | undefined, next: HandedOver | undefined): FinishAnswer => ({
  answer: answer ?? 'stale',
  ...(next && { next }),
});

const idsOf = (endings: readonly Ending[]): string[] =>
  endings.flatMap(({ ref, goingOn }) => (goingOn ? [ref.attemptId] : []));

const giversOf = (endings: readonly Ending[]): Giver[] =>
  endings.flatMap(({ ref, goingOn }) => (goingOn?.takesNew ? [{ attemptId: ref.attemptId, ...goingOn }] : []));

/**
 * The runs, and in the same round trip the finished instances with the children that planning will ask for. Which those are
 * is a guess by the version the attempt was made with; should its run have another by now, planning asks again.
 */
async function openAround(trx: SharedDb, graphs: DagGraphs, endings: readonly Ending[]): Promise<RunWork[]> {
  const refs = new Map(endings.map(({ ref }): [number, RunRef] => [ref.run, { tenantId: ref.tenantId, run: ref.run }]));
  const picks = unique(endings.flatMap(({ ref }) => picksAround(graphs, ref)));
  const [runs, rows] = await Promise.all([lockRuns(trx, [...refs.values()]), lockInstances(trx, picks)]);
  const works = await openWork(trx, graphs, runs);
  for (const work of works) {
    for (const row of rows) if (row.run === work.run.id) work.addRow(row);
    work.markLoaded(picks.filter(({ run }) => run === work.run.id));
  }
  return works;
}

type ExactPick = RunRef & { taskId: string; mapIndex: number };

function picksAround(graphs: DagGraphs, ref: AttemptRef): ExactPick[] {
  const { tenantId, run, taskId, mapIndex, dagId, versionNumber } = ref;
  const own = { tenantId, run, taskId, mapIndex };
  // Of a mapped task: which child instances matter depends on the mapping, and planning asks.
  if (mapIndex >= 0 || dagId === undefined || versionNumber === undefined) return [own];
  const tasks = graphs.peek({ tenantId, dagId, versionNumber })?.blueprint.tasks;
  const children = tasks?.get(taskId)?.spec.downstream_task_ids ?? [];
  // Not mapped: exactly one row, found by its key.
  const single = children.filter((childId) => tasks?.get(childId)?.isMapped === false);
  return [own, ...single.map((childId) => ({ tenantId, run, taskId: childId, mapIndex: -1 }))];
}

const unique = (picks: readonly ExactPick[]): ExactPick[] => [
  ...new Map(picks.map((pick) => [`${pick.run}/${pick.mapIndex}/${pick.taskId}`, pick])).values(),
];

type Words = {
  answers: FinishAnswer['answer'][];
  kept: Ending[];
  /** The same word again, because its answer was lost. */
  repeated: Ending[];
  events: ReadonlyMap<RunWork, PlanEvent[]>;
};

function takeWords(byRun: ReadonlyMap<number, RunWork>, endings: readonly Ending[]): Words {
  const kept: Ending[] = [];
  const repeated: Ending[] = [];
  const events = new Map<RunWork, PlanEvent[]>([...byRun.values()].map((work) => [work, []]));
  const answers = endings.map((ending): FinishAnswer['answer'] => {
    const work = byRun.get(ending.ref.run);
    const row = work && currentRow(work, ending.ref);
    if (!work || !row) return 'stale';
    if (row.state !== 'running' && row.state !== 'queued') {
      repeated.push(ending);
      return 'recorded'; // the first time
    }
    if (ending.ref.tenantId !== work.run.tenant_id) return 'stale';
    const event = applyEnding(work, row, ending);
    if (event) events.get(work)?.push(event);
    kept.push(ending);
    return 'recorded';
  });
  return { answers, kept, repeated, events };
}

function sendWrites(
  trx: SharedDb,
  { works, kept, byRun }: { works: readonly RunWork[]; kept: readonly Ending[]; byRun: ReadonlyMap<number, RunWork> },
): Promise<unknown> {
  return Promise.all([
    sendChanges(trx, works),
    keepTries(
      trx,
      kept.flatMap((ending) => retriedPick(byRun, ending)),
    ),
    releaseLimits(trx, works, kept),
  ]);
}

function currentRow(work: RunWork, ref: AttemptRef): InstanceRow | undefined {
  const row = work.row(ref);
  return row?.attempt_id === ref.attemptId ? row : undefined;
}

function applyEnding(work: RunWork, row: InstanceRow, ending: Ending): PlanEvent | undefined {
  if ('lost' in ending) return applyLoss(work, row, ending);
  const { outcome } = ending;
  const at = endOf(outcome, work.now);
  const told = {
    ...(outcome.renderedMapIndex !== undefined && { rendered_map_index: outcome.renderedMapIndex }),
    ...(outcome.pid !== undefined && { pid: outcome.pid }),
  };
  switch (outcome.state) {
    case 'success':
    case 'skipped': {
      const skips = outcome.skips && outcome.skips.length > 0 ? JSON.stringify(outcome.skips) : null;
      work.change(row, {
        ...told,
        ...ENDED,
        state: outcome.state,
        end_date: at,
        skips,
        start_date: row.start_date ?? at,
      });
      return finished(row);
    }
    case 'reschedule': {
      const dueAt = readable(outcome.rescheduleAt) ?? secondsAfter(work.now, DEFAULT_POKE_SECONDS);
      const firstPokeAt = row.first_poke_at ?? row.start_date ?? work.now;
      const next = { state: 'up_for_reschedule' as const, end_date: at, due_at: dueAt, first_poke_at: firstPokeAt };
      work.change(row, { ...told, ...next });
      return undefined;
    }
    case 'failed':
      return applyFailure(work, row, {
        failure: outcome.failure ?? { cause: 'exception' },
        isRetryable: outcome.retryable !== false,
        at,
        told,
      });
  }
}

const ENDED = { first_poke_at: null, due_at: null, waits: null } as const;
const finished = (row: InstanceRow): PlanEvent => ({ kind: 'finished', taskId: row.task_id, mapIndex: row.map_index });

function applyFailure(
  work: RunWork,
  row: InstanceRow,
  input: { failure: Failure; isRetryable: boolean; at: string; told: Partial<InstanceRow> },
): PlanEvent | undefined {
  const reason = failureReason(input.failure.cause, input.failure.text);
  const common = {
    ...input.told,
    ...ENDED,
    end_date: input.at,
    failure_reason: reason,
    start_date: row.start_date ?? input.at,
  };
  if (input.isRetryable && row.try_number <= row.max_tries && !isRunFinished(work.run.state)) {
    const policy = work.graph.blueprint.tasks.get(row.task_id)?.spec.policy;
    const dueAt = secondsAfter(work.now, policy ? retryDelay(policy, row.try_number) : 0);
    work.change(row, { ...common, state: 'up_for_retry', due_at: dueAt });
    return undefined;
  }
  work.change(row, { ...common, state: 'failed' });
  return finished(row);
}

/** An attempt that never began has run nothing: it is simply dispatched again, as the same try. */
function applyLoss(
  work: RunWork,
  row: InstanceRow,
  { lost: failure, hasBegun }: { lost: Failure; hasBegun: boolean },
): PlanEvent | undefined {
  if (row.state === 'queued' || !hasBegun) {
    work.change(row, {
      state: 'scheduled',
      attempt_id: null,
      queued_at: null,
      start_date: null,
      try_number: Math.max(0, row.try_number - (row.first_poke_at === null ? 1 : 0)),
    });
    return undefined;
  }
  return applyFailure(work, row, { failure, isRetryable: true, at: work.now, told: {} });
}

/** Airflow's: the delay, or the delay times the factor for each try so far, up to the longest wait. */
export function retryDelay(policy: PolicySpec, tryNumber: number): number {
  const factor = policy.retry_exponential_backoff;
  const grown = factor > 0 ? policy.retry_delay * factor ** Math.max(0, tryNumber - 1) : policy.retry_delay;
  return Math.min(grown, policy.max_retry_delay ?? Infinity, Math.max(CAPPED_DELAY_SECONDS, policy.retry_delay));
}

/** The clock of an agent may be wrong: never before the start, never after now. */
function endOf(outcome: AttemptOutcome, now: string): string {
  const reported = readable(outcome.endedAt);
  return reported !== undefined && Date.parse(reported) <= Date.parse(now) ? reported : now;
}

const readable = (moment: string | undefined): string | undefined =>
  moment !== undefined && !Number.isNaN(Date.parse(moment)) ? moment : undefined;

function retriedPick(
  byRun: ReadonlyMap<number, RunWork>,
  { ref }: Ending,
): { tenantId: string; run: number; taskId: string; mapIndex: number }[] {
  const row = byRun.get(ref.run)?.row(ref);
  return row?.state === 'up_for_retry' ? [ref] : [];
}

/** Instances that waited for a place of the very tasks that have ended. */
async function releaseLimits(trx: SharedDb, works: readonly RunWork[], kept: readonly Ending[]): Promise<void> {
  const freed = works.flatMap((work) => {
    const limited = kept.filter(({ ref }) => ref.run === work.run.id && isLimited(work, ref.taskId));
    const taskIds = [...new Set(limited.map(({ ref }) => ref.taskId))];
    return limited.length === 0 ? [] : [{ run: work.run, taskIds, limit: limited.length * 4 }];
  });
  if (freed.length === 0) return;
  const tasks = freed.flatMap(({ run, taskIds }) =>
    taskIds.map((taskId) => ({ tenantId: run.tenant_id, dagId: run.dag_id, taskId })),
  );
  await Promise.all([
    lockTaskSlots(trx, tasks),
    ...freed.map(({ run, taskIds, limit }) =>
      releaseHeldBack(trx, { tenantId: run.tenant_id, dagId: run.dag_id, taskIds, waits: TASK_LIMITS, limit }),
    ),
  ]);
}

const TASK_LIMITS = ['max_active_tis_per_dag', 'max_active_tis_per_dagrun'];

function isLimited(work: RunWork, taskId: string): boolean {
  const policy = work.graph.blueprint.tasks.get(taskId)?.spec.policy;
  return policy !== undefined && (policy.max_active_tis_per_dag ?? policy.max_active_tis_per_dagrun) !== null;
}
