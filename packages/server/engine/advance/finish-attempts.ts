/**
 * Ends a batch of attempts in one transaction: their outcomes, what follows in their runs, and their outputs (values,
 * rendered fields, asset events). After the commit the next tasks can be claimed.
 *
 * This is the path between two tasks, so it waits only for answers that the next step needs. The usual case takes two
 * round trips:
 *   1  begin, the runs, the finished instances and their children, candidates for the free slots (hand-over.ts)
 *   2  values, what follows in the runs, the start of the next, the data for its worker, commit
 * When the rows of the first one were prefetched (foresight.ts), it takes one.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRunFinished } from '@svc/spec/states.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { beginning, inPipelinedTransaction } from '../../db/transaction.ts';
import type { PipelinedTransaction } from '../../db/transaction.ts';
import {
  NOTHING_SEEN,
  chooseNext,
  findHandedOver,
  handedOver,
  hasGivenBack,
  lookForNext,
  plannedStarts,
  startNext,
} from '../claim/hand-over.ts';
import type { EndedIn, FinishedAttempt, Look } from '../claim/hand-over.ts';
import type { AttemptRef, FinishAnswer, HandedOver } from '../shared/attempts.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { isUnforeseen, readAhead, requireForeseen } from '../sql/foreseen.ts';
import type { PlannedStart } from '../sql/instance-columns.ts';
import { lockInstances, lockRuns } from '../sql/run-writes.ts';
import type { RunRef } from '../sql/run-writes.ts';
import { lockTaskSlots, releaseHeldBack } from '../sql/slots.ts';
import { awaitedNames } from '../sql/triggers.ts';
import { keepTries } from '../sql/try-history.ts';
import { acceptOutcomes } from './accept-outcomes.ts';
import type { RetryLimits } from './accept-outcomes.ts';
import { concludeAll, isHoldingBack, openWork, planAll, sendChanges, goesOnHoldingBack } from './apply-to-runs.ts';
import { mergeEffects } from './run-effects.ts';
import type { RunEffects } from './run-effects.ts';
import { saveRareOutputs, sendRenderedFields, sendValues } from './attempt-outputs.ts';
import type { RecordAssetEvents } from './attempt-outputs.ts';
import { reportedOf, retriedOf } from './ending.ts';
import type { Ending } from './ending.ts';
import { foreseeable, foreseenLook } from './foresight.ts';
import type { Foreseen, Foresight } from './foresight.ts';
import type { HitlState } from './hitl.ts';
import type { RunWork } from './run-work.ts';
import { deferStarts } from './start-triggers.ts';

export type FinishTools = {
  graphs: DagGraphs;
  recordAssetEvents: RecordAssetEvents;
  /** Default: `awaiting_input`. */
  hitlState?: HitlState | undefined;
  keepsPlans?: boolean;
  foresight?: Foresight;
  /** Called after the commit with the attempts that have ended, and their rows. */
  onEnded?: ((ended: readonly EndedAttempt[]) => void) | undefined;
} & Partial<RetryLimits>;

export type EndedAttempt = { attemptId: string; run: RunRow; instance: InstanceRow };

export type Finished = { answers: FinishAnswer[]; effects: RunEffects };

export async function finishAttempts(db: Database, tools: FinishTools, endings: readonly Ending[]): Promise<Finished> {
  const foreseen = tools.foresight?.take(endings);
  if (!foreseen) return finish(db, tools, endings);
  try {
    return await finish(db, tools, endings, foreseen);
  } catch (error) {
    if (!isUnforeseen(error)) throw error;
    return finish(db, tools, endings);
  }
}

async function finish(
  db: Database,
  tools: FinishTools,
  endings: readonly Ending[],
  foreseen?: Foreseen,
): Promise<Finished> {
  const { graphs, recordAssetEvents, hitlState, foresight } = tools;
  return inPipelinedTransaction(db.shared, beginning(tools), async (tx) => {
    // Round trip 1: the runs, the finished instances and their children, candidates for the free slots.
    const opening = foreseen ? openForeseen(tx, graphs, foreseen) : tx.send(openAround(tx.db, graphs, endings));
    const looking = foreseen ? foreseenLook(foreseen) : tx.send(lookAround(tx.db, graphs, endings));
    const works = await opening;
    const byRun = new Map(works.map((work) => [work.run.id, work]));
    const { answers, kept, repeated, resumed, events } = acceptOutcomes(byRun, endings, tools);
    const look = await looking;

    // Rare statements that must be awaited: outputs that only some attempts have, and rows that planning asks for.
    tx.send(sendValues(tx.db, kept, byRun));
    const rare = await saveRareOutputs(tx.db, { endings: kept, resumed, byRun, recordAssetEvents, hitlState });
    await planAll(
      tx.db,
      works.map((work) => ({ work, events: isRunFinished(work.run.state) ? [] : (events.get(work) ?? []) })),
    );
    await deferStarts(tx.db, works);
    const next = chooseNext(graphs, look, { works: endedIn(works, kept), finished: finishedOf(kept) });
    for (const { row } of next.chosen) if (row) byRun.get(row.run)?.leaveToStart(row);
    await Promise.all(endings.map(({ beforeCommit }) => beforeCommit));

    // Round trip 2: outputs, what follows in the runs, the start of the next, commit.
    const starts = plannedStarts(next);
    const planned = tx.send(sendChanges(tx.db, works, starts));
    tx.send(sendRenderedFields(tx.db, kept));
    tx.send(keepTries(tx.db, retriedOf(kept, byRun)));
    const releasing = tx.send(releaseLimits(tx.db, works, kept));
    const known = new Map(works.map(({ run }) => [run.id, run]));
    const starting = tx.send(startNext(tx.db, next, { planned, known }));
    const following = await concludeAll(tx.db, works, {
      isSettled: (work) => goesOnHoldingBack(work) && next.freeIn(work.run.id) <= 0,
      send: (sent) => void tx.send(sent),
    });
    const again = await findHandedOver(tx.db, idsOf(repeated));
    const only = foresight && foreseeable(works, look, starts);
    const foreseeing = only && tx.send(foresee(tx.db, graphs, only.work, only.start));
    const [started, released, ahead] = await tx.commitWith(starting, releasing, foreseeing);
    if (ahead) foresight?.note(ahead);
    tools.onEnded?.(endedAttempts(kept, byRun));
    const given = handedOver(next, started);
    // When nothing was looked up, instances may wait for the free slots.
    const hasLooked = look.pools.length > 0;
    const effects = mergeEffects(following, {
      dueAt: rare.dueAt,
      hasScheduled: hasLooked ? next.hasMore || released > 0 || given.size < next.chosen.length : kept.length > 0,
      hasCallbacks: rare.hasCallbacks,
      awaited: awaitedBy(kept),
    });
    const byEnded = new Map([...again, ...given]);
    return { answers: endings.map(({ ref }, index) => answerOf(answers[index], byEnded.get(ref.attemptId))), effects };
  });
}

const endedAttempts = (kept: readonly Ending[], byRun: ReadonlyMap<number, RunWork>): EndedAttempt[] =>
  kept.flatMap((ending) => {
    const work = byRun.get(ending.ref.run);
    const instance = work?.row(ending.ref);
    // An instance that its trigger ended had no attempt then.
    if (!work || !instance || 'byTrigger' in ending) return [];
    return [{ attemptId: ending.ref.attemptId, run: work.run, instance }];
  });

/** The runs for the hand-over: which slots came free, and what planning has scheduled. */
function endedIn(works: readonly RunWork[], kept: readonly Ending[]): EndedIn[] {
  const byRun = Map.groupBy(kept, ({ ref }) => ref.run);
  return works.map((work) => {
    const own = byRun.get(work.run.id) ?? [];
    // An instance that its trigger ended was deferred and had no slot.
    const rows = own.flatMap((ending) => ('byTrigger' in ending ? [] : (work.row(ending.ref) ?? [])));
    // An instance that was lost before it began is scheduled again. Its row is written before it can start again.
    const isPlanned = (row: InstanceRow): boolean =>
      row.state === 'scheduled' && row.waits === null && !rows.includes(row);
    return {
      run: work.run,
      graph: work.graph,
      isHoldingBack: isHoldingBack(work),
      scheduled: work.changedRows().filter(isPlanned),
      ended: rows.filter(hasGivenBack),
    };
  });
}

/** The runs for which newly deferred instances wait. */
const awaitedBy = (endings: readonly Ending[]): RunEffects['awaited'] =>
  reportedOf(endings).flatMap(({ ref, outcome: { deferral } }) =>
    deferral?.awaits
      ? [{ tenantId: ref.tenantId, dagId: deferral.awaits.dagId, names: awaitedNames(deferral.awaits) }]
      : [],
  );

const answerOf = (answer: FinishAnswer['answer'] | undefined, next: HandedOver | undefined): FinishAnswer => ({
  answer: answer ?? 'stale',
  ...(next && { next }),
});

const idsOf = (endings: readonly Ending[]): string[] =>
  endings.flatMap(({ ref, worker }) => (worker ? [ref.attemptId] : []));

const finishedOf = (endings: readonly Ending[]): FinishedAttempt[] =>
  endings.flatMap(({ ref, worker }) => (worker?.takesNew ? [{ attemptId: ref.attemptId, ...worker }] : []));

/**
 * Loads the runs, and in the same round trip the finished instances with the children that planning will ask for. The
 * version of the attempt says which children these are. If the run has another version by now, planning asks again.
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

/**
 * Opens the prefetched rows while Postgres checks that they are unchanged. If they are not, all statements after the
 * check fail.
 */
async function openForeseen(tx: PipelinedTransaction, graphs: DagGraphs, foreseen: Foreseen): Promise<RunWork[]> {
  tx.send(requireForeseen(tx.db, foreseen, foreseen));
  await nextTurn(); // sends the check now, so that Postgres works while this process plans
  const works = await openWork(tx.db, graphs, [foreseen.run.row]);
  for (const work of works) {
    for (const { row } of foreseen.instances) work.addRow(row);
    work.markLoaded(foreseen.picks);
  }
  return works;
}

async function lookAround(trx: SharedDb, graphs: DagGraphs, endings: readonly Ending[]): Promise<Look> {
  const wouldGoOn = finishedOf(endings);
  if (wouldGoOn.length === 0) return NOTHING_SEEN;
  const refs = endings.map(({ ref }) => ref);
  return lookForNext(trx, graphs, refs, wouldGoOn);
}

/**
 * Prefetches the rows that the end of the started attempt needs. Sends its statements before its first await, after all
 * changes of the run.
 */
async function foresee(
  trx: SharedDb,
  graphs: DagGraphs,
  { run: { version_number: versionNumber } }: RunWork,
  start: PlannedStart,
): Promise<Foreseen | undefined> {
  const { attemptId, row } = start;
  const { tenant_id: tenantId, run, task_id: taskId, map_index: mapIndex, dag_id: dagId, pool } = row;
  const picks = picksAround(graphs, { tenantId, run, taskId, mapIndex, attemptId, dagId, versionNumber });
  const rows = await readAhead(trx, { tenantId, run }, picks);
  return rows && { ...rows, attemptId, pool, picks };
}

type ExactPick = RunRef & { taskId: string; mapIndex: number };

function picksAround(graphs: DagGraphs, ref: AttemptRef): ExactPick[] {
  const { tenantId, run, taskId, mapIndex, dagId, versionNumber } = ref;
  const own = { tenantId, run, taskId, mapIndex };
  // For a mapped task, the mapping decides which child instances matter, and planning asks for them.
  if (mapIndex >= 0 || dagId === undefined || versionNumber === undefined) return [own];
  const tasks = graphs.peek({ tenantId, dagId, versionNumber })?.blueprint.tasks;
  const children = tasks?.get(taskId)?.spec.downstream_task_ids ?? [];
  // A task that is not mapped has exactly one row, which its key finds.
  const single = children.filter((childId) => tasks?.get(childId)?.isMapped === false);
  return [own, ...single.map((childId) => ({ tenantId, run, taskId: childId, mapIndex: -1 }))];
}

const unique = (picks: readonly ExactPick[]): ExactPick[] => [
  ...new Map(picks.map((pick) => [`${pick.run}/${pick.mapIndex}/${pick.taskId}`, pick])).values(),
];

/** Releases instances that waited for a slot of the tasks that have ended. Returns their number. */
async function releaseLimits(trx: SharedDb, works: readonly RunWork[], kept: readonly Ending[]): Promise<number> {
  const freed = works.flatMap((work) => {
    const limited = kept.filter(({ ref }) => ref.run === work.run.id && isLimited(work, ref.taskId));
    const taskIds = [...new Set(limited.map(({ ref }) => ref.taskId))];
    return limited.length === 0 ? [] : [{ run: work.run, taskIds, limit: limited.length * 4 }];
  });
  if (freed.length === 0) return 0;
  const tasks = freed.flatMap(({ run, taskIds }) =>
    taskIds.map((taskId) => ({ tenantId: run.tenant_id, dagId: run.dag_id, taskId })),
  );
  const [, ...released] = await Promise.all([
    lockTaskSlots(trx, tasks),
    ...freed.map(({ run, taskIds, limit }) =>
      releaseHeldBack(trx, { tenantId: run.tenant_id, dagId: run.dag_id, taskIds, waits: TASK_LIMITS, limit }),
    ),
  ]);
  return released.reduce((sum, number) => sum + number, 0);
}

const TASK_LIMITS = ['max_active_tis_per_dag', 'max_active_tis_per_dagrun'];

function isLimited(work: RunWork, taskId: string): boolean {
  const policy = work.graph.blueprint.tasks.get(taskId)?.spec.policy;
  return policy !== undefined && (policy.max_active_tis_per_dag ?? policy.max_active_tis_per_dagrun) !== null;
}
