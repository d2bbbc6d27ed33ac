/**
 * `start_from_trigger`: a task whose trigger is known at compile time waits for it before any of its code runs. Where
 * it would be scheduled it is deferred instead, as a try of its own, without a process that reports it:
 *
 *   scheduled ─▶ deferred ─ the event ─▶ scheduled ─▶ running, the same try
 *
 * It holds no slot, so no limit stops it. In a paused DAG nothing begins: the instance stays scheduled. After the DAG
 * is unpaused, the claim that finds the instance defers it (`deferScheduled`).
 */
import { randomUUID } from 'node:crypto';
import { secondsAfter, momentOf } from '@svc/spec/clock.ts';
import type { StartTriggerSpec } from '@svc/spec/schema-task.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import type { Deferral } from '../shared/attempts.ts';
import { findRunLimit } from '../sql/dag-rows.ts';
import type { NewInstance } from '../sql/instance-columns.ts';
import { deferredColumns, timeoutOf } from './deferred-columns.ts';
import type { RunWork } from './run-work.ts';

/** Call it before the changes are written. Sends no query when no such task would be scheduled. */
export async function deferStarts(trx: SharedDb, works: readonly RunWork[]): Promise<void> {
  for (const work of works) {
    if (!work.graph.hasStartTriggers || startsOf(work).next().done === true) continue;
    const dag = await findRunLimit(trx, { tenantId: work.run.tenant_id, dagId: work.run.dag_id });
    if (dag?.is_paused === false) for (const start of startsOf(work)) defer(work, start);
  }
}

type Start = { spec: StartTriggerSpec } & ({ row: InstanceRow } | { fresh: NewInstance });

/** A try that resumes has begun before and is not deferred again. */
function* startsOf(work: RunWork): Generator<Start> {
  if (work.run.state !== 'running') return;
  const specOf = (taskId: string) => work.graph.blueprint.tasks.get(taskId)?.spec.start_trigger;
  for (const row of work.changedRows()) {
    const spec = row.state === 'scheduled' && row.first_poke_at === null ? specOf(row.task_id) : undefined;
    if (spec) yield { spec, row };
  }
  for (const fresh of work.fresh) {
    const spec = fresh.state === 'scheduled' ? specOf(fresh.task_id) : undefined;
    if (spec) yield { spec, fresh };
  }
}

function defer(work: RunWork, start: Start): void {
  const { now } = work;
  const instance = 'row' in start ? start.row : start.fresh;
  const limit = work.graph.blueprint.tasks.get(instance.task_id)?.spec.policy.execution_timeout ?? null;
  const deferral = deferralOf(start.spec, { now, limit });
  const columns = deferredColumns(NEVER_BEGUN, deferral, now);
  const {
    due_at: dueAt,
    first_poke_at: firstPokeAt,
    ...inserted
  } = {
    ...columns,
    try_number: instance.try_number + 1,
    start_date: now,
    claimable: false,
  };
  const attemptId = randomUUID();
  if ('fresh' in start) Object.assign(start.fresh, inserted); // counted as live before and after
  else {
    const updated = { ...inserted, ...NOTHING_YET, attempt_id: attemptId, due_at: dueAt, first_poke_at: firstPokeAt };
    work.change(start.row, updated);
  }
  work.starts.push({
    row: { ...instance, attempt_id: attemptId },
    versionNumber: work.run.version_number,
    deferral,
    timeoutAt: timeoutOf(deferral, now),
    dueAt,
    firstPokeAt,
  });
}

const NEVER_BEGUN = { first_poke_at: null, start_date: null };
/** Clears the columns that the try before has left. */
const NOTHING_YET = { queued_at: null, heartbeat_at: null, pid: null, failure_reason: null, failure_detail: null };

/** As in Airflow, the execution timeout of the task counts from here. */
function deferralOf(spec: StartTriggerSpec, { now, limit }: { now: string; limit: number | null }): Deferral {
  const limits = [spec.timeout, limit].filter((seconds) => seconds !== null);
  const firesAt = momentOfStart(spec.fires, now);
  return {
    classPath: spec.class_path,
    kwargs: spec.kwargs,
    nextMethod: spec.next_method,
    nextKwargs: spec.next_kwargs,
    timeoutSeconds: limits.length === 0 ? null : Math.min(...limits),
    firesAt,
    event: firesAt === null ? null : JSON.stringify(spec.fires?.ends ? { ends: 'success' } : { moment: firesAt }),
  };
}

function momentOfStart(fires: StartTriggerSpec['fires'], now: string): string | null {
  if (fires?.at !== undefined) return momentOf(fires.at) ?? null;
  return fires?.after === undefined ? null : secondsAfter(now, fires.after);
}
