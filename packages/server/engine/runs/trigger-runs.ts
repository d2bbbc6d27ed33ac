/**
 * Creates runs that people and programs trigger, in batches: requests for a DAG that arrive while one batch is under
 * way form the next. Each batch is a transaction with the lock of the DAG's row, so the active runs are counted once
 * for all. It takes two round trips to Postgres:
 *   1  begin, the lock of the DAG's row, preconditions of callers, ids, names that are taken, room in the pools of the
 *      first tasks
 *   2  runs and instances as they are after their start, the first ones claimed or started, writes of callers, commit
 *
 * The first tasks are claimed when the executor has room, no other claim fills their pools, and nothing waits for them.
 * The dispatcher claims the rest. If their worker is known, they are also started here (start-ahead.ts). Runs that need
 * more statements (the past, deadlines, triggers, names that are taken) are created one by one, by trigger-run.ts.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database, SharedDb } from '../../db/database.ts';
import { isOutage } from '../../db/outage.ts';
import { beginning, inPipelinedTransaction } from '../../db/transaction.ts';
import type { PipelinedTransaction } from '../../db/transaction.ts';
import { concludeAll, isHoldingBack, openRun } from '../advance/apply-to-runs.ts';
import { noEffects, waitingForSlot } from '../advance/run-effects.ts';
import type { RunWork } from '../advance/run-work.ts';
import type { Activity } from '../activity.ts';
import { createBatches } from '../batches.ts';
import type { Batches } from '../batches.ts';
import { perRunLimit } from '../claim/candidates.ts';
import type { Attempt, ReservedSlots } from '../shared/attempts.ts';
import type { DagGraph, DagGraphs } from '../shared/dag-graphs.ts';
import { findNext } from '../sql/claims.ts';
import type { NewInstance, QueuedInstance } from '../sql/instance-columns.ts';
import { findTaken, insertQueued, insertRuns, lockDag, nextRunIds } from '../sql/new-runs.ts';
import type { ChosenNames, DagFacts } from '../sql/new-runs.ts';
import { countRunning } from '../sql/queued-runs.ts';
import { insertInstances } from '../sql/run-writes.ts';
import { poolKey, tryPools } from '../sql/slots.ts';
import { mayStartNow, queuedRun, refusalOf, versionOf } from './create-run.ts';
import type { CreateRunResult, NewRun } from './create-run.ts';
import { startAhead } from './start-ahead.ts';
import type { AheadStarts } from './start-ahead.ts';
import { planStart } from './start-run.ts';
import { triggerRun } from './trigger-run.ts';
import type { TriggerOptions } from './trigger-run.ts';

/** `slots`: how many attempts the executor would take. */
export type Wanted = { tenantId: string; run: NewRun; slots: ReservedSlots } & TriggerOptions;
/** `attempts`: to be dispatched. Attempts that were ordered from their worker are not among them. */
export type Triggered = { result: CreateRunResult; attempts: readonly Attempt[] };
type Settled = Triggered | { error: unknown } | 'alone';

const LANES = 16;
const RUNS_AT_ONCE = 50;
const VERSIONS_KNOWN = 5_000;
/** Claimed with the run itself. The dispatcher claims further first tasks. */
const FIRST_TASKS_AT_ONCE = 500;

export type Triggers = { trigger(wanted: Wanted): Promise<Triggered> };

export function createTriggers({
  db,
  graphs,
  keepsPlans,
  isApiOnly = false,
  activity,
}: {
  db: Database;
  graphs: DagGraphs;
  keepsPlans: () => boolean;
  /**
   * The database user of an API process may not reserve run ids (docs/database-privileges.md), so it creates each run
   * alone.
   */
  isApiOnly?: boolean;
  activity: Activity;
}): Triggers {
  /** Versions of DAGs that were triggered before. They tell which pools the first tasks probably use. */
  const versions = new LRUCache<string, number>({ max: VERSIONS_KNOWN });
  const lanes: Batches<Wanted, Settled>[] = Array.from({ length: LANES }, () =>
    createBatches({ run: settle, atMost: RUNS_AT_ONCE, gathersTurn: true, activity }),
  );

  /** Never rejects: each request gets its own answer or its own error. */
  async function settle(all: readonly Wanted[]): Promise<Settled[]> {
    const settled = new Map<Wanted, Settled>();
    const sets = Map.groupBy(all, ({ tenantId, run }) => `${tenantId}/${run.dagId}`);
    await Promise.all([...sets.values()].map((set) => settleSet(set, settled)));
    return all.map((wanted) => settled.get(wanted) ?? 'alone');
  }

  async function settleSet(set: readonly Wanted[], into: Map<Wanted, Settled>): Promise<void> {
    try {
      const tools = { graphs, versions };
      const done = await inPipelinedTransaction(db.shared, beginning({ keepsPlans: keepsPlans() }), (tx) =>
        startSet(tx, tools, set),
      );
      for (const [wanted, result] of done) into.set(wanted, result);
    } catch (error) {
      // One run that cannot be created must not fail the others, so each is tried alone.
      for (const wanted of set) into.set(wanted, isOutage(error) ? { error } : 'alone');
    }
  }

  return {
    async trigger(wanted) {
      const lane = lanes[laneOf(wanted)];
      const settled = isApiOnly ? 'alone' : ((await lane?.add(wanted)) ?? 'alone');
      if (settled === 'alone') return triggerRun({ db, graphs, keepsPlans: keepsPlans() }, wanted);
      if ('error' in settled) throw settled.error;
      return settled;
    },
  };
}

function laneOf({ tenantId, run: { dagId } }: Wanted): number {
  let sum = 0;
  for (const character of tenantId + dagId) sum = (sum * 31 + character.charCodeAt(0)) % 65_521;
  return sum % LANES;
}

type Tools = { graphs: DagGraphs; versions: LRUCache<string, number> };

async function startSet(
  tx: PipelinedTransaction,
  { graphs, versions }: Tools,
  set: readonly Wanted[],
): Promise<Map<Wanted, Settled>> {
  const settled = new Map<Wanted, Settled>();
  const [first] = set;
  if (!first) return settled;
  const dag = { tenantId: first.tenantId, dagId: first.run.dagId };
  const name = `${dag.tenantId}/${dag.dagId}`;

  // Round trip 1: begin, the lock of the DAG's row, preconditions of callers, ids, names, room for the first tasks.
  const locking = tx.send(lockDag(tx.db, dag));
  const counting = tx.send(countRunning(tx.db, dag));
  const numbering = tx.send(nextRunIds(tx.db, set.length));
  const names = set.map(namesOf);
  const naming = tx.send(findTaken(tx.db, dag, names));
  const checks = set.map(async ({ precondition }) => precondition?.(tx.db));
  const guess = graphs.peek({ ...dag, versionNumber: versions.get(name) ?? 0 });
  const looking = set.some(({ slots }) => slots.size() > 0)
    ? tx.send(lookAtPools(tx.db, dag.tenantId, guess))
    : NO_ROOM;
  const checked = await Promise.allSettled(checks);
  await tx.flush();
  const facts = await locking;
  const ids = await numbering;
  const taken = await naming;
  const room = await looking;
  let running = await counting;

  const made: Made[] = [];
  for (const [index, wanted] of set.entries()) {
    const check = checked[index];
    if (check?.status === 'rejected') settled.set(wanted, { error: check.reason as unknown });
    else if (taken.has(index) || isRepeated(names, index)) settled.set(wanted, 'alone');
    else {
      const prepared = await prepare(tx.db, graphs, { wanted, dag: facts, id: ids[index] ?? 0, running });
      if (!('work' in prepared)) settled.set(wanted, prepared.settled);
      else {
        made.push({ wanted, ...prepared });
        if (prepared.work.run.state === 'running') running += 1;
      }
    }
  }
  if (made.length === 0) return settled;
  versions.set(name, made[0]?.work.run.version_number ?? 0);

  const claimed = made.map(({ wanted, work }) => claimFirst(work, wanted.slots, room));
  const all = claimed.flat();
  const worker = all.length > 0 ? first.slots.worker() : undefined;
  const ahead = worker && startAhead(worker, all);
  try {
    const written = await write(tx, { made, claimed, ahead });
    for (const [wanted, triggered] of written) settled.set(wanted, triggered);
    return settled;
  } finally {
    ahead?.over();
  }
}

const namesOf = ({ run }: Wanted): ChosenNames => ({
  runId: run.runId ?? null,
  logicalDate: run.logicalDate ?? null,
});

/** True when an earlier request of the batch has the same name. */
const isRepeated = (names: readonly ChosenNames[], index: number): boolean =>
  names.slice(0, index).some(({ runId, logicalDate }) => {
    const own = names[index];
    return (runId !== null && runId === own?.runId) || (logicalDate !== null && logicalDate === own?.logicalDate);
  });

type Made = { wanted: Wanted; work: RunWork; isWaiting: boolean };
type Claimed = { queued: QueuedInstance; attempt: Attempt };

/** Round trip 2: runs and instances, the first of them claimed or started, writes of callers, commit. */
async function write(
  tx: PipelinedTransaction,
  { made, claimed, ahead }: { made: readonly Made[]; claimed: readonly Claimed[][]; ahead: AheadStarts | undefined },
): Promise<Map<Wanted, Triggered>> {
  const works = made.map(({ work }) => work);
  for (const { run, counts } of works) run.state_counts = counts;
  const rows = tx.send(
    insertRuns(
      tx.db,
      works.map(({ run }) => run),
    ),
  );
  const queued = claimed.flat().map((one) => one.queued);
  const taken = new Set(queued.map(({ instance }) => instance));
  tx.send(
    insertInstances(
      tx.db,
      works.flatMap(({ fresh }) => fresh.filter((instance) => !taken.has(instance))),
    ),
  );
  tx.send(ahead ? ahead.write(tx.db) : insertQueued(tx.db, queued));
  const effects = await Promise.all(
    works.map(async (work) => (work.run.state === 'running' ? concludeAll(tx.db, [work]) : noEffects())),
  );
  tx.send(Promise.all(made.map(({ wanted, work }) => wanted.alsoWrite?.(tx.db, work.run))));
  await ahead?.ordered;
  await tx.commitWith(rows);
  const stored = new Map((await rows).map((run) => [run.id, run]));
  ahead?.committed(stored);
  return new Map(
    made.map(({ wanted, work, isWaiting }, index): [Wanted, Triggered] => {
      const run = stored.get(work.run.id) ?? work.run;
      const follows = effects[index] ?? noEffects();
      follows.hasScheduled &&= work.fresh.some((instance) => instance.state === 'scheduled');
      const result = { kind: 'created' as const, run, effects: isWaiting ? waitingForSlot(run) : follows };
      return [wanted, { result, attempts: ahead ? [] : (claimed[index] ?? []).map(({ attempt }) => attempt) }];
    }),
  );
}

type Prepared = { work: RunWork; isWaiting: boolean } | { settled: Settled };

const refused = (result: CreateRunResult): Prepared => ({ settled: { result, attempts: [] } });

/** Returns the run as it is after its start, or why there is none. Writes nothing. */
async function prepare(
  trx: SharedDb,
  graphs: DagGraphs,
  input: { wanted: Wanted; dag: DagFacts | undefined; id: number; running: number },
): Promise<Prepared> {
  const { wanted, dag, id, running } = input;
  const { tenantId, run: wish } = wanted;
  const versionNumber = versionOf(wish, dag);
  if (!dag || versionNumber === undefined) return refused({ kind: 'no_such_dag' });
  const graph = await graphs.get(trx, { tenantId, dagId: wish.dagId, versionNumber });
  const refusal = refusalOf(graph.spec, wish, dag);
  if (refusal) return refused(refusal);
  if (needsMoreLooks(graph, wish)) return { settled: 'alone' };
  const run = queuedRun({ tenantId, id, run: wish, dag, versionNumber });
  const mayStart = mayStartNow(dag, run);
  const startsNow = mayStart && running < dag.max_active_runs;
  const work = await (startsNow ? planStart : openRun)(trx, graphs, run);
  if (startsNow && !isHoldingBack(work))
    for (const row of work.fresh) if (row.state === 'scheduled' && row.waits === null) row.claimable = true;
  return { work, isWaiting: mayStart && !startsNow };
}

const needsMoreLooks = ({ spec, pastMatters, hasStartTriggers }: DagGraph, wish: NewRun): boolean =>
  pastMatters ||
  hasStartTriggers ||
  spec.dag.deadlines.length > 0 ||
  spec.plugins?.listens !== undefined ||
  wish.backfillId !== undefined;

/** Free slots of pools that no other claim fills and for which nothing waits. */
type Room = Map<string, number>;
const NO_ROOM: Room = new Map();

async function lookAtPools(trx: SharedDb, tenantId: string, graph: DagGraph | undefined): Promise<Room> {
  const names = graph?.pools ?? ['default_pool']; // the most likely pool of an unknown version
  const keys = names.map((pool) => ({ tenant_id: tenantId, pool }));
  const [ours, { pools, candidates }] = await Promise.all([tryPools(trx, keys), findNext(trx, keys, 1)]);
  const awaited = new Set(candidates.map(poolKey));
  return new Map(
    pools.flatMap((pool): [string, number][] =>
      ours.has(poolKey(pool)) && !awaited.has(poolKey(pool)) ? [[poolKey(pool), pool.free]] : [],
    ),
  );
}

/**
 * Claims the first tasks in the order of their priority, except those with a limit of their own. Takes their slots from
 * the room. Other transactions do not see the run before the commit, so only what is claimed here is active.
 */
function claimFirst(work: RunWork, slots: ReservedSlots, room: Room): Claimed[] {
  if (slots.size() === 0) return [];
  const first = work.fresh
    .filter((row) => row.state === 'scheduled' && row.waits === null && hasNoLimit(row, work.graph))
    .sort((a, b) => b.priority_weight - a.priority_weight);
  const mayBeActive = Math.min(first.length, work.graph.spec.dag.max_active_tasks, FIRST_TASKS_AT_ONCE);
  const most = slots.growTo(mayBeActive);
  const claimed: Claimed[] = [];
  for (const instance of first) {
    if (claimed.length >= Math.min(most, mayBeActive)) break;
    const free = room.get(poolKey(instance)) ?? 0;
    if (free < instance.pool_slots) continue;
    room.set(poolKey(instance), free - instance.pool_slots);
    Object.assign(instance, { state: 'queued', claimable: false, try_number: instance.try_number + 1 });
    const queued = { instance, attemptId: randomUUID() };
    claimed.push({ queued, attempt: attemptOf(queued, work.run.version_number) });
  }
  return claimed;
}

const hasNoLimit = (instance: NewInstance, graph: DagGraph): boolean =>
  instance.max_active_tis_per_dag === null && perRunLimit(instance, graph) === null;

const attemptOf = ({ instance, attemptId }: QueuedInstance, versionNumber: number): Attempt => ({
  tenantId: instance.tenant_id,
  run: instance.run,
  taskId: instance.task_id,
  mapIndex: instance.map_index,
  attemptId,
  dagId: instance.dag_id,
  versionNumber,
  tryNumber: instance.try_number,
  queue: instance.queue,
  executor: instance.executor,
});
