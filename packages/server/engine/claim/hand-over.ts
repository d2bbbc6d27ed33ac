/**
 * A worker that ends an attempt has a free place, and what follows is known in the same transaction. So the next attempt is
 * chosen there, and goes back with the answer, already running:
 *
 *   end of A ─▶ one transaction: outcome, what follows, claim, start of B ─▶ answer with everything B needs
 *
 * instead of a claim, an order and a start, each a transaction and a message of its own. Measured with `bench -- runs` on two
 * cores: see docs/performance.md.
 *
 * Only when nobody else is claiming (`chooseAtOnce`); whoever finds the lock taken leaves the rest to the dispatcher.
 *
 * An answer that is lost is not: the worker tells the end of A again, and gets what was given with it (`given_by`).
 */
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { Attempt, GoingOn, HandedOver, NextPlace } from '../attempts.ts';
import { chooseAtOnce } from './candidates.ts';
import type { AtOnce, Candidate } from './candidates.ts';
import type { DagGraphs } from '../dag-graphs.ts';
import type { RunWork } from '../advance/run-work.ts';
import { takeRunning } from './take-attempts.ts';

/** The end of an attempt, told by a worker that would go on with another. */
export type Giver = { attemptId: string } & Pick<GoingOn, 'hostname' | 'prepare'>;

/** What was chosen is for the first of the givers, in their order. */
export type Found = AtOnce & { givers: readonly Giver[] };

/** Undefined when nobody would go on. */
export async function findNext(trx: SharedDb, graphs: DagGraphs, givers: readonly Giver[]): Promise<Found | undefined> {
  if (givers.length === 0) return undefined;
  return { givers, ...(await chooseAtOnce(trx, graphs, givers.length)) };
}

/** Commits, too, together with the starts. Answers what was given, by the id of the attempt with whose end it was. */
export async function startNext(
  trx: SharedDb,
  found: Found | undefined,
  { works, commit }: { works: readonly RunWork[]; commit: () => Promise<unknown> },
): Promise<ReadonlyMap<string, HandedOver>> {
  const { chosen = [], givers = [] } = found ?? {};
  if (chosen.length === 0) {
    await commit();
    return new Map();
  }
  const known = new Map(works.map(({ run }) => [run.id, run]));
  const [taken, runs, prepared] = await Promise.all([
    takeRunning(trx, chosen, givers),
    loadRuns(trx, chosen, known),
    givers[0]?.prepare?.(trx, chosen.map(placeOf)),
    commit(),
  ]);
  const byEnded = handedOver(taken, runs);
  for (const [index, { attemptId }] of givers.entries()) {
    const next = byEnded.get(attemptId);
    if (next && prepared) next.prepared = prepared[index];
  }
  return byEnded;
}

const placeOf = (candidate: Candidate): NextPlace => ({
  tenantId: candidate.tenant_id,
  run: candidate.run,
  taskId: candidate.task_id,
  mapIndex: candidate.map_index,
  dagId: candidate.dag_id,
  versionNumber: candidate.version_number,
});

/** What was given with the end of these attempts and has not ended itself. Plan: index task_instances_active. */
export async function findHandedOver(
  trx: SharedDb,
  ended: readonly string[],
): Promise<ReadonlyMap<string, HandedOver>> {
  if (ended.length === 0) return new Map();
  const { rows } = await fixedSql<InstanceRow>`
    select t.* from task_instances t where t.state = 'running' and t.given_by = any(${[...ended]}::uuid[])
      and t.state in ('queued', 'running', 'restarting', 'deferred')`.execute(trx);
  return handedOver(rows, await loadRuns(trx, rows, new Map()));
}

async function loadRuns(
  trx: SharedDb,
  of: readonly { tenant_id: string; run: number }[],
  known: ReadonlyMap<number, RunRow>,
): Promise<ReadonlyMap<number, RunRow>> {
  const missing = of.filter(({ run }) => !known.has(run));
  if (missing.length === 0) return known;
  const tenants = [...new Set(missing.map((row) => row.tenant_id))];
  const ids = [...new Set(missing.map(({ run }) => run))];
  const { rows } = await fixedSql<RunRow>`
    select * from dag_runs where tenant_id = any(${tenants}::uuid[]) and id = any(${ids}::bigint[])`.execute(trx);
  return new Map([...known, ...rows.map((row): [number, RunRow] => [row.id, row])]);
}

const handedOver = (
  taken: readonly InstanceRow[],
  runs: ReadonlyMap<number, RunRow>,
): ReadonlyMap<string, HandedOver> =>
  new Map(
    taken.flatMap((instance): [string, HandedOver][] => {
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
});
