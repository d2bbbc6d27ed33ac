/** What follows outside a run after a change in it. Each function uses a short transaction of its own. */
import type { Database } from '../../db/database.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { findNextRun } from '../sql/external-needs.ts';
import { lockRuns } from '../sql/run-writes.ts';
import type { RunRef } from '../sql/run-writes.ts';
import { listRunsWaitingForUnpause, listWaitingForPast, releaseUnpaused } from '../sql/waiting-instances.ts';
import { openWork, planAll, writeAll } from './apply-to-runs.ts';
import type { RunEffects } from './run-effects.ts';

/** depends_on_past: checks the instances of the next run that waited for these tasks. */
export async function checkPast(
  db: Database,
  graphs: DagGraphs,
  moved: RunEffects['pastMoved'][number],
): Promise<RunEffects | null> {
  const next = await findNextRun(db.shared, moved);
  return next === undefined ? null : checkWaiting(db, graphs, { tenantId: moved.tenantId, run: next });
}

/** Checks the instances of the run that wait for the previous run. */
export async function checkWaiting(db: Database, graphs: DagGraphs, ref: RunRef): Promise<RunEffects | null> {
  return db.shared.transaction().execute(async (trx) => {
    const runs = await lockRuns(trx, [ref]);
    const [work] = await openWork(trx, graphs, runs);
    if (work?.run.state !== 'running') return null;
    const waiting = await listWaitingForPast(trx, ref);
    if (waiting.length === 0) return null;
    await planAll(trx, [{ work, events: waiting.map((key) => ({ kind: 'check' as const, ...key })) }]);
    return writeAll(trx, [work]);
  });
}

/** Resumes the runs of a DAG that was unpaused. */
export async function releasePaused(db: Database, dag: { tenantId: string; dagId: string }): Promise<void> {
  await db.shared.transaction().execute(async (trx) => {
    const runs = await listRunsWaitingForUnpause(trx, dag);
    await lockRuns(
      trx,
      runs.map((run) => ({ tenantId: dag.tenantId, run })),
    );
    await releaseUnpaused(trx, dag, runs);
  });
}
