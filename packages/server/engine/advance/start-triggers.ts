/**
 * `start_from_trigger`: a task whose trigger is known when its file is compiled waits for it before anything of it runs. When it
 * would be scheduled it is deferred instead, as a try of its own, without a process that says so:
 *
 *   scheduled ─▶ deferred ─ the event ─▶ scheduled ─▶ running, the same try
 *
 * It holds no slot, so no limit stops it. Nothing begins in a paused DAG: there it stays scheduled, and is deferred by the claim
 * that finds it when the DAG goes on (`deferScheduled`).
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

/** Before the works are written. Asks nothing where no such task would be scheduled. */
export async function deferStarts(trx: SharedDb, works: readonly RunWork[]): Promise<void> {
  for (const work of works) {
    if (!work.graph.hasStartTriggers || startsOf(work).next().done === true) continue;
    const dag = await findRunLimit(trx, { tenantId: work.run.tenant_id, dagId: work.run.dag_id });
    if (dag?.is_paused === false) for (const start of startsOf(work)) defer(work, start);
  }
}

type Start = { spec: StartTriggerSpec } & ({ row: InstanceRow } | { fresh: NewInstance });

/** A try that goes on has begun long ago. */
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
/** Without what the try before has left. */
const NOTHING_YET = { queued_at: null, heartbeat_at: null, pid: null, failure_reason: null, failure_detail: null };

/** As in Airflow, the task's own limit counts from here. */
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
