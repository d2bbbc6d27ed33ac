/**
 * A worker that ends an attempt has a free place, and what follows is known in the same transaction. So the next attempt is
 * chosen there, and goes back with the answer, already running:
 *
 *   end of A ─▶ one transaction: outcome, what follows, claim, start of B ─▶ answer with everything B needs
 *
 * instead of a claim, an order and a start, each a transaction and a message of its own. Measured with `bench -- runs` on two
 * cores: see docs/performance.md.
 *
 * Only when the lock of claims is free. It is not waited for, because the locks of runs are held here, and a claim may wait
 * for one of those; whoever finds it taken leaves the rest to the dispatcher, as always. Nor is anything taken out of sight.
 *
 * An answer that is lost is not: the worker tells the end of A again, and gets what was given with it (`given_by`).
 */
import { sql } from 'kysely';
import type { SharedDb } from '../db/database.ts';
import type { InstanceRow, RunRow } from '../db/run-writes.ts';
import type { Attempt, HandedOver } from './attempts.ts';
import { CLAIM_LOCK, judgeCandidates } from './claim-candidates.ts';
import type { DagGraphs } from './dag-graphs.ts';
import { takeRunning } from './take-attempts.ts';

export type HandOver = {
  /** By the id of the attempt with whose end it was given. */
  byEnded: ReadonlyMap<string, HandedOver>;
  /** There may be more that could be claimed. */
  hasMore: boolean;
};

/** The end of an attempt, told by a worker that would go on with another. */
export type Giver = { attemptId: string; hostname: string };

export async function handOver(
  trx: SharedDb,
  graphs: DagGraphs,
  { givers, runs }: { givers: readonly Giver[]; runs: ReadonlyMap<number, RunRow> },
): Promise<HandOver> {
  const { rows } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(${CLAIM_LOCK}) as "isOurs"`.execute(trx);
  if (rows[0]?.isOurs !== true) return { byEnded: new Map(), hasMore: true };
  const { verdicts, looked } = await judgeCandidates(trx, graphs, { look: givers.length + 1, capacity: givers.length });
  const chosen = verdicts.filter(({ reason }) => reason === null).map(({ candidate }) => candidate);
  const taken = await takeRunning(trx, chosen, givers);
  return { byEnded: await withRuns(trx, taken, runs), hasMore: looked > taken.length };
}

/** What was given with the end of these attempts and has not ended itself. Plan: index task_instances_active. */
export async function findHandedOver(
  trx: SharedDb,
  ended: readonly string[],
): Promise<ReadonlyMap<string, HandedOver>> {
  if (ended.length === 0) return new Map();
  const { rows } = await sql<InstanceRow>`
    select t.* from task_instances t where t.state = 'running' and t.given_by = any(${[...ended]}::uuid[])
      and t.state in ('queued', 'running', 'restarting', 'deferred')`.execute(trx);
  return withRuns(trx, rows, new Map());
}

async function withRuns(
  trx: SharedDb,
  taken: readonly InstanceRow[],
  known: ReadonlyMap<number, RunRow>,
): Promise<ReadonlyMap<string, HandedOver>> {
  const missing = [...new Set(taken.map(({ run }) => run).filter((run) => !known.has(run)))];
  const runs = new Map(known);
  if (missing.length > 0) {
    const tenants = [...new Set(taken.map((instance) => instance.tenant_id))];
    const { rows } = await sql<RunRow>`
      select * from dag_runs where tenant_id = any(${tenants}::uuid[]) and id = any(${missing}::bigint[])`.execute(trx);
    for (const row of rows) runs.set(row.id, row);
  }
  return new Map(
    taken.flatMap((instance): [string, HandedOver][] => {
      const run = runs.get(instance.run);
      if (!run || instance.given_by === null || instance.attempt_id === null) return [];
      return [[instance.given_by, { run, instance, attempt: attemptOf(run, instance, instance.attempt_id) }]];
    }),
  );
}

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
});
