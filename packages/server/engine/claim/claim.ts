/**
 * From `scheduled` to `queued`: decides which instances may run now, and gives each a new attempt id.
 *
 * All limits are counted here from the rows that hold a slot (queued, running …): pool slots, max_active_tasks,
 * max_active_tis_per_dag, max_active_tis_per_dagrun, paused DAGs, and the capacity of the executor. Each limit has a
 * short lock of its own (sql/slots.ts), so two processes cannot both take the last slot.
 *
 * An instance that a limit stops is withdrawn: `claimable` becomes false, or `waits` gets the reason. It stays
 * invisible to claims until something that holds such a slot ends. A claim therefore reads only what can run, whatever
 * the backlog.
 */
import type { Database, SharedDb } from '../../db/database.ts';
import { inPipelinedTransaction } from '../../db/transaction.ts';
import type { Attempt } from '../shared/attempts.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import type { Lanes } from '../shared/lanes.ts';
import { BEGIN_CLAIM, withdrawInstances } from '../sql/claims.ts';
import type { Candidate } from '../sql/claims.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { countActive, countActiveOfTask, lockTaskSlots } from '../sql/slots.ts';
import { judgeCandidates, perRunLimit, runKey } from './candidates.ts';
import type { Judged, Verdict } from './candidates.ts';
import { keepShare } from './share.ts';
import type { Peers } from './share.ts';
import { takeQueued } from './take-queued.ts';

const CLAIMS_AT_ONCE = 500;

export type Claimed = {
  attempts: Attempt[];
  withdrawn: number;
  /** Instances that must be deferred instead, because they start from their triggers. */
  starts: Candidate[];
  /** Number of instances skipped because another transaction had locked them. Claim again soon. */
  missed: number;
  /** Number of instances left for workers of other processes. If those do not claim them, a later claim here does. */
  left: number;
};

/** With lanes, it claims only for those that have room. With peers, it claims only its share (share.ts). */
export async function claim(
  db: Database,
  graphs: DagGraphs,
  { capacity, lanes, peers }: { capacity: number; lanes?: Lanes | undefined; peers?: Peers | undefined },
): Promise<Claimed> {
  return inPipelinedTransaction(db.shared, BEGIN_CLAIM, async (tx) => {
    const look = Math.min(capacity + (peers?.othersFree() ?? 0), CLAIMS_AT_ONCE);
    const judged = await judgeCandidates(tx.db, graphs, { look, capacity, lanes });
    const starts = judged.verdicts.filter(({ reason }) => reason === 'start_trigger').map(({ candidate }) => candidate);
    const stopped = judged.verdicts.filter(({ reason }) => reason !== null && !LEFT_ALONE.has(reason));
    await withdraw(tx.db, await stillStopped(tx.db, stopped, judged));
    const free = judged.verdicts.filter(({ reason }) => reason === null).map(({ candidate }) => candidate);
    const chosen = keepShare(free, { found: judged.found, peers });
    const [attempts] = await tx.commitWith(takeQueued(tx.db, chosen));
    return {
      attempts,
      starts,
      withdrawn: stopped.length,
      missed: judged.missed + chosen.length - attempts.length,
      left: free.length - chosen.length,
    };
  });
}

const LEFT_ALONE = new Set<Verdict['reason']>(['pool_full', 'start_trigger']);

/**
 * Returns the instances that a limit still stops. A finish that committed after the count may have freed a slot and has
 * already released waiting instances; one that is withdrawn now would stay invisible. Under the lock of the run, or of
 * the task's slots, the count is what the next finish will see.
 */
async function stillStopped(trx: SharedDb, stopped: readonly Verdict[], judged: Judged): Promise<Verdict[]> {
  const inFullRuns = await stillInFullRuns(trx, stopped, judged);
  const ofFullTasks = await stillOfFullTasks(trx, stopped, judged);
  return stopped.filter(
    (verdict) => verdict.reason === 'paused' || inFullRuns.has(verdict) || ofFullTasks.has(verdict),
  );
}

async function stillInFullRuns(trx: SharedDb, stopped: readonly Verdict[], judged: Judged): Promise<Set<Verdict>> {
  const full = stopped.filter(({ reason }) => reason === 'max_active_tasks');
  if (full.length === 0) return new Set();
  const runs = new Map(
    full.map(({ candidate: row }) => [runKey(row), { tenantId: row.tenant_id, dagId: row.dag_id, run: row.run }]),
  );
  await lockRuns(trx, [...runs.values()]);
  const open = new Set<string>();
  for (const [key, ref] of runs) {
    const limit = judged.graphs.get(key)?.spec.dag.max_active_tasks ?? Infinity;
    if ((await countActive(trx, ref)) < limit) open.add(key);
  }
  return new Set(full.filter(({ candidate }) => !open.has(runKey(candidate))));
}

async function stillOfFullTasks(trx: SharedDb, stopped: readonly Verdict[], judged: Judged): Promise<Set<Verdict>> {
  const full = stopped.filter(({ reason }) => TASK_LIMITS.has(reason));
  if (full.length === 0) return new Set();
  await lockTaskSlots(
    trx,
    full.map(({ candidate: row }) => ({ tenantId: row.tenant_id, dagId: row.dag_id, taskId: row.task_id })),
  );
  const chosen = judged.verdicts.filter(({ reason }) => reason === null);
  const still = new Set<Verdict>();
  for (const verdicts of Map.groupBy(full, slotsKey).values()) {
    const [first] = verdicts;
    if (!first) continue;
    const { candidate: row, reason } = first;
    const isPerRun = reason === 'max_active_tis_per_dagrun';
    const limit = isPerRun ? perRunLimit(row, judged.graphs.get(runKey(row))) : row.max_active_tis_per_dag;
    const task = { tenantId: row.tenant_id, dagId: row.dag_id, taskId: row.task_id, run: isPerRun ? row.run : null };
    const taken = chosen.filter(({ candidate }) => slotsKey({ candidate, reason }) === slotsKey(first)).length;
    if ((await countActiveOfTask(trx, task)) + taken >= (limit ?? Infinity)) for (const one of verdicts) still.add(one);
  }
  return still;
}

const TASK_LIMITS = new Set<Verdict['reason']>(['max_active_tis_per_dag', 'max_active_tis_per_dagrun']);

/** Names the slots for which an instance competes: those of its task, in all runs or in one. */
const slotsKey = ({ candidate: row, reason }: Verdict): string =>
  `${row.tenant_id}/${reason === 'max_active_tis_per_dagrun' ? row.run : '*'}/${row.dag_id}/${row.task_id}`;

/** max_active_tasks needs no reason in `waits`: the next finish in the run releases these instances. */
const withdraw = (trx: SharedDb, stopped: readonly Verdict[]): Promise<void> =>
  withdrawInstances(
    trx,
    stopped.map(({ candidate, reason }) => ({ candidate, waits: reason === 'max_active_tasks' ? null : reason })),
  );
