/**
 * A worker that ends an attempt has a free slot, and the same transaction knows what follows. It therefore chooses the
 * next attempt, which goes back with the answer, already running:
 *
 *   end of A ─▶ one transaction: outcome, what follows, start of B ─▶ answer with everything B needs
 *
 * This replaces a claim, an order and a start, each a transaction and a message. `npm run bench -- floor` measures it.
 *
 * It takes no lock of a limit, because no count rises: B gets the slots that A had in its pool, and A's place in its
 * run. The dispatcher handles what would raise a count: another pool, a run that could be full, a limit of the task. It
 * handles everything when the candidate of highest priority is one that only it may take.
 *
 * A lost answer is safe: the worker reports the end of A again, and receives the attempt that was handed over
 * (`given_by`).
 */
import { randomUUID } from 'node:crypto';
import { isOccupying } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import type { Attempt, AttemptRef, FinishingWorker, HandedOver, NextInstance } from '../shared/attempts.ts';
import type { DagGraph, DagGraphs } from '../shared/dag-graphs.ts';
import { findHandedOverInstances, loadRuns } from '../sql/attempts.ts';
import { poolKey } from '../sql/slots.ts';
import type { PoolKey } from '../sql/slots.ts';
import { findHeldBack, findNext, readRunRoom, startInstances } from '../sql/claims.ts';
import type { Candidate, OwnRun, PoolRoom, RunRoom, StartFor } from '../sql/claims.ts';
import type { PlannedStart } from '../sql/instance-columns.ts';
import { perRunLimit, startsFromTrigger, taskOfRunKey } from './candidates.ts';

/** The end of an attempt, with the worker that would continue. */
export type FinishedAttempt = { attemptId: string } & Pick<FinishingWorker, 'hostname' | 'mayRun' | 'readStartFacts'>;

/** What is known about the pools and runs of the ended attempts, as of before their ends. */
export type Look = {
  pools: readonly PoolRoom[];
  runs: ReadonlyMap<number, RunRoom>;
  /** Instances that were stored as scheduled before these ends. */
  candidates: readonly Candidate[];
};

/**
 * How many more candidates to read than there are free slots. Simultaneous ends, here and in other processes, read the
 * same candidates, so each chooses at random among equals. A worker that may run only some of the tasks may need a
 * candidate further back in the order.
 */
const LOOK_FURTHER = 20;

/**
 * Sends its statements before its first await, after the locks of the runs. The versions of the attempts say which
 * pools their tasks have, as far as this process knows the versions.
 */
export async function lookForNext(
  trx: SharedDb,
  graphs: DagGraphs,
  refs: readonly AttemptRef[],
  finished: readonly FinishedAttempt[],
): Promise<Look> {
  const pools = new Map<string, PoolKey>();
  const runs = new Map<number, OwnRun>();
  for (const { tenantId, run, taskId, dagId = '', versionNumber = 0 } of refs) {
    const graph = graphs.peek({ tenantId, dagId, versionNumber });
    const pool = graph?.blueprint.tasks.get(taskId)?.spec.policy.pool;
    if (!graph || pool === undefined) continue;
    const key = { tenant_id: tenantId, pool };
    pools.set(poolKey(key), key);
    const maxActive = graph.spec.dag.max_active_tasks;
    runs.set(run, { tenantId, run, maxActive, pools: graph.pools, isBound: graph.isBound });
  }
  if (pools.size === 0) return NOTHING_SEEN;
  const bound = [...runs.values()].filter(({ isBound }) => isBound);
  const look = finished.length + LOOK_FURTHER;
  const [next, rooms, heldBack] = await Promise.all([
    findNext(trx, [...pools.values()], look),
    readRunRoom(trx, [...runs.values()]),
    findHeldBack(trx, bound, look),
  ]);
  const candidates = new Map([...next.candidates, ...heldBack].map((row) => [instanceKey(row), row]));
  return { pools: next.pools, runs: rooms, candidates: [...candidates.values()] };
}

export const NOTHING_SEEN: Look = { pools: [], runs: new Map(), candidates: [] };

const instanceKey = (row: { tenant_id: string; run: number; task_id: string; map_index: number }): string =>
  `${taskOfRunKey(row)}/${row.map_index}`;

/** A run in which attempts have ended, planned but not yet written. Its row is locked. */
export type EndedIn = {
  run: RunRow;
  graph: DagGraph;
  isHoldingBack: boolean;
  /** Rows that planning has scheduled in this transaction. */
  scheduled: readonly InstanceRow[];
  /** The rows after the ends of their attempts: each gives back what it held. */
  ended: readonly InstanceRow[];
};

type Next = Candidate & { starts: StartFor; row?: InstanceRow };

export type NextChoice = {
  /** Each is for the first of the finished attempts whose worker may run it. */
  chosen: readonly Next[];
  finished: readonly FinishedAttempt[];
  /** Slots of the run that became free and were not taken again. */
  freeIn(run: number): number;
  /** True when there may be more to claim than was chosen. */
  hasMore: boolean;
};

/**
 * Chooses the instances that replace the ended attempts, by priority. Among equals, those of the same runs come first.
 */
export function chooseNext(
  graphs: DagGraphs,
  look: Look,
  { works, finished }: { works: readonly EndedIn[]; finished: readonly FinishedAttempt[] },
): NextChoice {
  const rooms = roomsOf(look, works);
  const own = new Map(works.map((work) => [work.run.id, work]));
  const chosen: Next[] = [];
  const free = [...finished];
  let looked = 0;
  for (const candidate of inOrder(look, works)) {
    looked += 1;
    if (free.length === 0) break;
    const next = instanceOf(candidate);
    const place = free.findIndex(({ mayRun }) => mayRun?.(next) ?? true);
    const worker = free[place];
    if (!worker) continue; // only workers of another kind may run it
    const verdict = judge(candidate, { rooms, look, work: own.get(candidate.run), graphs });
    if (verdict === 'stop') break;
    if (verdict === 'skip') continue;
    rooms.take(candidate);
    free.splice(place, 1);
    const starts = { givenBy: worker.attemptId, hostname: worker.hostname, isOwn: own.has(candidate.run) };
    chosen.push({ ...candidate, starts });
  }
  return { chosen, finished, freeIn: rooms.freeIn, hasMore: looked > chosen.length };
}

type Seen = Candidate & { row?: InstanceRow };

function inOrder({ candidates }: Look, works: readonly EndedIn[]): Seen[] {
  const planned = works.flatMap(({ run, scheduled }) =>
    scheduled.map((row): Seen => ({
      ...row,
      free: 0,
      has_limit: true,
      version_number: run.version_number,
      is_paused: false,
      is_going_on: row.first_poke_at !== null,
      row,
    })),
  );
  // A row that was scheduled before and changed here is in both lists. The changed row is newer.
  const byKey = new Map([...candidates, ...planned].map((row): [string, Seen] => [instanceKey(row), row]));
  const own = new Set(works.map(({ run }) => run.id));
  return [...byKey.values()]
    .map((row) => ({ row, turn: own.has(row.run) ? 0 : Math.random() }))
    .sort((a, b) => byPriority(a.row, b.row) || a.turn - b.turn || byName(a.row, b.row))
    .map(({ row }) => row);
}

const byPriority = (a: Seen, b: Seen): number => b.priority_weight - a.priority_weight;
const byName = (a: Seen, b: Seen): number =>
  a.run - b.run || compare(a.task_id, b.task_id) || a.map_index - b.map_index;
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

type Rooms = ReturnType<typeof roomsOf>;

/** The slots that may be taken again. Slots above the limit are not given out again. */
function roomsOf(look: Look, works: readonly EndedIn[]) {
  const pools = new Map<string, number>(
    look.pools.map((pool) => [poolKey(pool), pool.has_limit ? Math.min(0, pool.free) : Infinity]),
  );
  const runs = new Map<number, number>();
  for (const { run, graph, ended } of works) {
    for (const row of ended) {
      const room = pools.get(poolKey(row));
      // In some pools a deferred instance keeps its slots. Only a claim knows which.
      if (room !== undefined && row.state !== 'deferred') pools.set(poolKey(row), room + row.pool_slots);
    }
    const active = look.runs.get(run.id)?.active ?? 0;
    runs.set(run.id, Math.min(0, graph.spec.dag.max_active_tasks - active) + ended.length);
  }
  return {
    ofPool: (row: PoolKey): number => pools.get(poolKey(row)) ?? 0,
    freeIn: (run: number): number => runs.get(run) ?? 0,
    take(row: Candidate): void {
      pools.set(poolKey(row), (pools.get(poolKey(row)) ?? 0) - row.pool_slots);
      runs.set(row.run, (runs.get(row.run) ?? 0) - 1);
    },
  };
}

/** `skip`: there is no room for it. `stop`: it comes first, and only a claim may take it. */
function judge(
  candidate: Seen,
  { rooms, look, work, graphs }: { rooms: Rooms; look: Look; work: EndedIn | undefined; graphs: DagGraphs },
): 'take' | 'skip' | 'stop' {
  const { tenant_id: tenantId, dag_id: dagId, version_number: versionNumber } = candidate;
  const graph = work?.graph ?? graphs.peek({ tenantId, dagId, versionNumber });
  if (candidate.is_paused || look.runs.get(candidate.run)?.is_held === true) return 'skip';
  if (!graph || startsFromTrigger(candidate, graph) || (candidate.row && candidate.is_going_on)) return 'stop';
  if (candidate.max_active_tis_per_dag !== null || perRunLimit(candidate, graph) !== null) return 'stop';
  if (work && !look.runs.has(work.run.id)) return 'stop'; // it is not known whether the run is held
  if (!work && graph.isBound) return 'stop';
  if (work?.isHoldingBack && rooms.freeIn(work.run.id) < 1) return 'skip';
  return rooms.ofPool(candidate) < candidate.pool_slots ? 'skip' : 'take';
}

export type StartedNext = {
  rows: readonly InstanceRow[];
  runs: ReadonlyMap<number, RunRow>;
  startFacts: readonly unknown[] | undefined;
};

/** The chosen rows that planning has just scheduled. Their starts are written with the other changes of their runs. */
export const plannedStarts = ({ chosen }: Pick<NextChoice, 'chosen'>): PlannedStart[] =>
  chosen.flatMap(({ row, starts }) =>
    row ? [{ row, attemptId: randomUUID(), givenBy: starts.givenBy, hostname: starts.hostname }] : [],
  );

/**
 * Starts the chosen rows that were stored before, and reads the data for the workers. Sends its statements before its
 * first await. `known`: the runs that are locked here.
 */
export async function startNext(
  trx: SharedDb,
  { chosen, finished }: Pick<NextChoice, 'chosen' | 'finished'>,
  { planned, known }: { planned: Promise<readonly InstanceRow[]>; known: ReadonlyMap<number, RunRow> },
): Promise<StartedNext> {
  const [fresh, stored, runs, startFacts] = await Promise.all([
    planned,
    startInstances(
      trx,
      chosen.filter(({ row }) => !row),
    ),
    completeRuns(trx, chosen, known),
    chosen.length === 0 ? undefined : finished[0]?.readStartFacts?.(trx, chosen.map(instanceOf)),
  ]);
  return { rows: [...fresh, ...stored], runs, startFacts };
}

const instanceOf = (candidate: Candidate): NextInstance => ({
  tenantId: candidate.tenant_id,
  run: candidate.run,
  taskId: candidate.task_id,
  mapIndex: candidate.map_index,
  dagId: candidate.dag_id,
  versionNumber: candidate.version_number,
  queue: candidate.queue,
  executor: candidate.executor,
});

/** Returns the runs of these rows, and reads those that are not known. */
async function completeRuns(
  trx: SharedDb,
  rows: readonly { tenant_id: string; run: number }[],
  known: ReadonlyMap<number, RunRow>,
): Promise<ReadonlyMap<number, RunRow>> {
  const missing = rows.filter(({ run }) => !known.has(run));
  if (missing.length === 0) return known;
  const refs = missing.map((row) => ({ tenantId: row.tenant_id, run: row.run }));
  return new Map([...known, ...(await loadRuns(trx, refs))]);
}

/** The attempts that the commit has started for the workers, by the id of the attempt that each worker has ended. */
export function handedOver(
  { chosen }: Pick<NextChoice, 'chosen'>,
  started: StartedNext,
): ReadonlyMap<string, HandedOver> {
  const byEnded = byEndedAttempt(started.rows, started.runs);
  // The facts are in the order of the choice. That is not the order of the workers, because some may not run
  // everything.
  for (const [index, { starts }] of chosen.entries()) {
    const next = byEnded.get(starts.givenBy);
    if (next && started.startFacts) next.startFacts = started.startFacts[index];
  }
  return byEnded;
}

/** Finds the attempts that were handed over with these ends and have not ended. */
export async function findHandedOver(
  trx: SharedDb,
  ended: readonly string[],
): Promise<ReadonlyMap<string, HandedOver>> {
  if (ended.length === 0) return new Map();
  const rows = await findHandedOverInstances(trx, ended);
  return byEndedAttempt(rows, await completeRuns(trx, rows, new Map()));
}

/** True when the row has given back the place that its attempt had in the run. */
export const hasGivenBack = ({ state }: InstanceRow): boolean => !isOccupying(state);

const byEndedAttempt = (
  rows: readonly InstanceRow[],
  runs: ReadonlyMap<number, RunRow>,
): ReadonlyMap<string, HandedOver> =>
  new Map(
    rows.flatMap((instance): [string, HandedOver][] => {
      const run = runs.get(instance.run);
      if (!run || instance.given_by === null || instance.attempt_id === null) return [];
      return [[instance.given_by, { run, instance, attempt: attemptOf(run, instance, instance.attempt_id) }]];
    }),
  );

const attemptOf = (run: RunRow, row: InstanceRow, attemptId: string): Attempt => ({
  tenantId: row.tenant_id,
  run: row.run,
  taskId: row.task_id,
  mapIndex: row.map_index,
  attemptId,
  dagId: row.dag_id,
  versionNumber: run.version_number,
  tryNumber: row.try_number,
  queue: row.queue,
  executor: row.executor,
});
