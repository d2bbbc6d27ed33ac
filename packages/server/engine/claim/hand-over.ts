/**
 * A worker that ends an attempt has a free slot, and what follows is known in the same transaction. So the next attempt is
 * chosen there, and goes back with the answer, already running:
 *
 *   end of A ─▶ one transaction: outcome, what follows, claim, start of B ─▶ answer with everything B needs
 *
 * instead of a claim, an order and a start, each a transaction and a message of its own. Measured with `bench -- runs` on two
 * cores: see docs/performance.md.
 *
 * Only when nobody else is claiming (`chooseAtOnce`); whoever finds the lock taken leaves the rest to the dispatcher.
 *
 * An answer that is lost is not: the worker reports the end of A again, and gets what was handed over with it (`given_by`).
 */
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import type { Attempt, FinishingWorker, HandedOver, NextInstance } from '../shared/attempts.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { findHandedOverInstances, loadRuns } from '../sql/attempts.ts';
import type { Candidate } from '../sql/claims.ts';
import { chooseAtOnce } from './candidates.ts';
import type { Choice } from './candidates.ts';

/** The end of an attempt, with the worker that would go on. */
export type FinishedAttempt = { attemptId: string } & Pick<FinishingWorker, 'hostname' | 'readStartFacts'>;

/** What was chosen is for the first of the finished attempts, in their order. */
export type NextChoice = Choice & { finished: readonly FinishedAttempt[] };

/** Undefined when no worker would go on. */
export async function chooseNext(
  trx: SharedDb,
  graphs: DagGraphs,
  finished: readonly FinishedAttempt[],
): Promise<NextChoice | undefined> {
  if (finished.length === 0) return undefined;
  return { finished, ...(await chooseAtOnce(trx, graphs, finished.length)) };
}

/** What the workers of the chosen must be told, read by the service that knows it; nothing when nothing was chosen. */
export async function readStartFacts(
  trx: SharedDb,
  { chosen, finished }: Pick<NextChoice, 'chosen' | 'finished'>,
): Promise<readonly unknown[] | undefined> {
  return chosen.length === 0 ? undefined : finished[0]?.readStartFacts?.(trx, chosen.map(instanceOf));
}

const instanceOf = (candidate: Candidate): NextInstance => ({
  tenantId: candidate.tenant_id,
  run: candidate.run,
  taskId: candidate.task_id,
  mapIndex: candidate.map_index,
  dagId: candidate.dag_id,
  versionNumber: candidate.version_number,
});

/** The runs of these rows; only those that are not known yet are asked for. */
export async function completeRuns(
  trx: SharedDb,
  rows: readonly { tenant_id: string; run: number }[],
  known: ReadonlyMap<number, RunRow>,
): Promise<ReadonlyMap<number, RunRow>> {
  const missing = rows.filter(({ run }) => !known.has(run));
  if (missing.length === 0) return known;
  const refs = missing.map((row) => ({ tenantId: row.tenant_id, run: row.run }));
  return new Map([...known, ...(await loadRuns(trx, refs))]);
}

/** Started with the commit: what each worker goes on with, by the id of the attempt it has ended. */
export function handedOver(
  finished: readonly FinishedAttempt[],
  started: {
    rows: readonly InstanceRow[];
    runs: ReadonlyMap<number, RunRow>;
    startFacts: readonly unknown[] | undefined;
  },
): ReadonlyMap<string, HandedOver> {
  const byEnded = byEndedAttempt(started.rows, started.runs);
  for (const [index, { attemptId }] of finished.entries()) {
    const next = byEnded.get(attemptId);
    if (next && started.startFacts) next.startFacts = started.startFacts[index];
  }
  return byEnded;
}

/** What was handed over with the end of these attempts and has not ended itself. */
export async function findHandedOver(
  trx: SharedDb,
  ended: readonly string[],
): Promise<ReadonlyMap<string, HandedOver>> {
  if (ended.length === 0) return new Map();
  const rows = await findHandedOverInstances(trx, ended);
  return byEndedAttempt(rows, await completeRuns(trx, rows, new Map()));
}

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
});
