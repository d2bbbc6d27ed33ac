/** A task that starts a run of another DAG (TriggerDagRunOperator), in the name of its own run. */
import { findRunInTheWay } from '../db/dag-runs/run-lookups.ts';
import type { Database } from '../db/database.ts';
import { isImported } from '../db/imports/imported-version.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { TriggerAnswer, TriggerRequest, TriggerRun } from './collaborators.ts';

/** Clears every task of a run, so that it starts from the beginning. */
export type ClearWholeRun = (ref: { tenantId: string; run: number }) => Promise<void>;

export function createTaskTrigger(input: {
  db: Database;
  scheduler: () => Scheduler;
  clearWholeRun: ClearWholeRun;
}): TriggerRun {
  const { scheduler } = input;
  return async (request) => {
    const result = await scheduler().trigger(request.tenantId, {
      dagId: request.dagId,
      runType: 'manual',
      triggeredBy: 'operator',
      ...(request.runId !== undefined && { runId: request.runId }),
      ...(request.logicalDate !== undefined && { logicalDate: request.logicalDate }),
      ...(request.runAfter !== undefined && { runAfter: request.runAfter }),
      ...(request.conf && { conf: request.conf }),
      ...(request.note !== undefined && { note: request.note }),
    });
    if (result.kind === 'duplicate' && request.reset) return (await reset(input, request)) ?? result;
    return result.kind === 'created' ? { kind: 'created', run: result.run } : result;
  };
}

/** Starts the existing run again from the beginning. */
async function reset(
  { db, clearWholeRun }: { db: Database; clearWholeRun: ClearWholeRun },
  request: TriggerRequest,
): Promise<TriggerAnswer | null> {
  const run = await findRunInTheWay(db.tenant(request.tenantId), request);
  if (!run || isImported(run)) return null; // an imported run has nothing to run, so the conflict remains
  await clearWholeRun({ tenantId: request.tenantId, run: run.id });
  return { kind: 'reset', run: { ...run, state: 'queued' } };
}
