/**
 * From `scheduled` to `queued`: decides which instances may run now and gives each a fresh attempt id.
 *
 * All limits are counted here from the rows that hold a place (queued, running …), under one short lock, so that no two
 * processes can both take the last slot: pool slots, max_active_tasks of the run, max_active_tis_per_dag and _per_dagrun,
 * paused DAGs, and what the executor can take. What a limit stops is taken out of sight (`claimable` false, or `waits` with
 * the reason) until something in that place ends: a claim looks at what can run, not at what cannot, whatever the backlog.
 */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { countActive, countActiveOfTask, lockTaskSlots } from '../sql/slots.ts';
import type { Attempt } from '../attempts.ts';
import { CLAIM_LOCK, judgeCandidates, perRunLimit, runKey } from './candidates.ts';
import type { Judged, Verdict } from './candidates.ts';
import type { DagGraphs } from '../dag-graphs.ts';
import { takeQueued } from './take-attempts.ts';

/**
 * In one round trip with the beginning; a statement of its own, so that the next one sees what the last holder wrote. The
 * commit need not be on disk: nothing runs before its start is, and a start that is on disk has its claim there, too.
 */
const LOCKED = `begin; set local synchronous_commit = off; select pg_advisory_xact_lock(${CLAIM_LOCK})`;
const CLAIMS_AT_ONCE = 500;

export type Claimed = {
  attempts: Attempt[];
  withdrawn: number;
  /** Chosen, but held by another transaction at that moment: worth another look soon. */
  missed: number;
};

export async function claim(db: Database, graphs: DagGraphs, capacity: number): Promise<Claimed> {
  return inTransaction(db.shared, LOCKED, async (trx, commit) => {
    const judged = await judgeCandidates(trx, graphs, {
      look: Math.min(capacity, CLAIMS_AT_ONCE),
      capacity,
      for: 'claim',
    });
    const stopped = judged.verdicts.filter(({ reason }) => reason !== null && reason !== 'pool_full');
    await withdraw(trx, await stillStopped(trx, stopped, judged));
    const chosen = judged.verdicts.filter(({ reason }) => reason === null).map(({ candidate }) => candidate);
    const [attempts] = await Promise.all([takeQueued(trx, chosen), commit()]);
    return { attempts, withdrawn: stopped.length, missed: chosen.length - attempts.length };
  });
}

/**
 * A finish that committed since the counting may have made a place, and has looked for whom to let through already: to take
 * somebody out of sight now would leave him there. Under the lock of the run, or of the task's places, the count is what the
 * next finish will see.
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
  for (const verdicts of Map.groupBy(full, placesKey).values()) {
    const [first] = verdicts;
    if (!first) continue;
    const { candidate: row, reason } = first;
    const isPerRun = reason === 'max_active_tis_per_dagrun';
    const limit = isPerRun ? perRunLimit(row, judged.graphs.get(runKey(row))) : row.max_active_tis_per_dag;
    const task = { tenantId: row.tenant_id, dagId: row.dag_id, taskId: row.task_id, run: isPerRun ? row.run : null };
    const taken = chosen.filter(({ candidate }) => placesKey({ candidate, reason }) === placesKey(first)).length;
    if ((await countActiveOfTask(trx, task)) + taken >= (limit ?? Infinity)) for (const one of verdicts) still.add(one);
  }
  return still;
}

const TASK_LIMITS = new Set<Verdict['reason']>(['max_active_tis_per_dag', 'max_active_tis_per_dagrun']);

/** Which places they compete for: those of the task, in all runs or in one. */
const placesKey = ({ candidate: row, reason }: Verdict): string =>
  `${row.tenant_id}/${reason === 'max_active_tis_per_dagrun' ? row.run : '*'}/${row.dag_id}/${row.task_id}`;

/** Out of sight of the next claim. max_active_tasks needs no mark: the next finish in the run lets them through again. */
async function withdraw(trx: SharedDb, stopped: readonly Verdict[]): Promise<void> {
  if (stopped.length === 0) return;
  const rows = stopped.map(({ candidate }) => candidate);
  await sql`
    with k as (
      select * from unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.run)}::bigint[],
        ${rows.map((row) => row.task_id)}::text[], ${rows.map((row) => row.map_index)}::int[],
        ${stopped.map(({ reason }) => (reason === 'max_active_tasks' ? null : reason))}::text[])
        as k(tenant_id, run, task_id, map_index, waits)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.waits from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      where coalesce(t.state, '') = 'scheduled' for no key update of t skip locked
    )
    update task_instances t set claimable = false, waits = l.waits from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index`.execute(
    trx,
  );
}
