/** Why unfinished instances and a queued run wait, what ends each wait, and who holds the slots of a full pool. */
import { safeText, safeTextOrNull } from '@svc/spec/text/safe-text.ts';
import { RUN_WAIT_ENDS, RUN_WAIT_REASONS, WAIT_ENDS, WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import type { RunWaitReason, WaitReason } from '@svc/spec/wait-reasons.ts';
import { countRunningRuns, findPoolUse } from '../db/task-instances/details.ts';
import type { PoolUse } from '../db/task-instances/details.ts';
import { listInstances } from '../db/task-instances/task-instances.ts';
import type { ListedInstance } from '../db/task-instances/task-instances.ts';
import { findTriggersOf } from '../db/task-instances/triggers.ts';
import { findQueueUse } from '../db/workers/workers.ts';
import { fewLines } from './failures.ts';
import type { DiagnosisSources, RunFacts } from './read-facts.ts';
import type { PoolWait, Wait, WaitingInstance } from './types.ts';
import { waitReasonOf } from './wait-reason.ts';

const MAX_RUNNING = 3;
const MAX_POOLS = 3;
const MAX_HOLDERS = 10;

export type Waits = { waiting: WaitingInstance[]; pools: PoolWait[] };

export async function readWaits(
  sources: DiagnosisSources,
  rows: readonly ListedInstance[],
  isPaused: boolean,
): Promise<Waits> {
  const { scope, db, tenantId } = sources;
  const deferred = rows.filter((row) => row.state === 'deferred');
  const scheduled = rows.filter((row) => row.state === 'scheduled');
  const queues = [...new Set(scheduled.map((row) => row.queue))];
  const running = rows.filter((row) => row.state === 'running').slice(0, MAX_RUNNING);
  const [triggers, pools, queueUses, lines] = await Promise.all([
    findTriggersOf(
      scope,
      deferred.map((row) => ({ run: row.run, taskId: row.task_id, mapIndex: row.map_index })),
    ),
    findPoolUse(scope, [...new Set(scheduled.map((row) => row.pool))]),
    Promise.all(queues.map((queue) => findQueueUse(db, { tenantId, queue }))),
    Promise.all(running.map((row) => fewLines(sources, row))),
  ]);
  const poolByName = new Map(pools.map((pool) => [pool.name, pool]));
  const queueByName = new Map(queues.map((queue, index) => [queue, queueUses[index]]));
  const linesOfRow = new Map(running.map((row, index) => [row, lines[index] ?? []]));
  const waiting = rows.map((row): WaitingInstance => {
    const trigger =
      row.state === 'deferred'
        ? triggers.find((one) => one.run === row.run && one.taskId === row.task_id && one.mapIndex === row.map_index)
        : undefined;
    const wait = waitReasonOf(row, {
      isPaused,
      pool: poolByName.get(row.pool),
      trigger: trigger?.classPath,
      queueUse: queueByName.get(row.queue),
    });
    return {
      task_id: safeText(row.task_id),
      map_index: row.map_index,
      state: row.state,
      wait: wait && structuredWait(wait.reason, wait.detail, TIMED.has(wait.reason) ? row.due_at : null),
      trigger: trigger
        ? {
            class_path: safeText(trigger.classPath),
            since: trigger.createdAt,
            triggerer: safeTextOrNull(trigger.job?.hostname),
          }
        : null,
      last_lines: linesOfRow.get(row) ?? [],
    };
  });
  const needPools = rows.filter((_, index) => {
    const code = waiting[index]?.wait?.code;
    return code === 'pool_full' || code === 'pool_missing';
  });
  return { waiting, pools: await readPools(sources, needPools, poolByName) };
}

/** Waits that a moment ends, at the latest. */
const TIMED = new Set<WaitReason>(['retry_delay', 'reschedule', 'answer', 'trigger']);

const structuredWait = (code: WaitReason, detail: string | null, until: string | null): Wait<WaitReason> => ({
  code,
  meaning: WAIT_REASONS[code],
  detail: safeTextOrNull(detail, 500),
  until,
  ends_with: WAIT_ENDS[code],
});

async function readPools(
  { scope }: DiagnosisSources,
  rows: readonly ListedInstance[],
  uses: ReadonlyMap<string, PoolUse>,
): Promise<PoolWait[]> {
  const byPool = [...Map.groupBy(rows, (row) => row.pool)].slice(0, MAX_POOLS);
  const holders = await Promise.all(
    byPool.map(([name]) =>
      listInstances(scope, {
        filter: { pools: [name], states: ['running', 'queued'] },
        order: [{ column: 'start_date', direction: 'asc' }],
        limit: MAX_HOLDERS,
        offset: 0,
      }),
    ),
  );
  return byPool.map(([name, waiters], index) => ({
    name: safeText(name, 250),
    slots: uses.get(name)?.slots ?? null,
    occupied: uses.get(name)?.used ?? null,
    held_by: (holders[index]?.instances ?? []).map((one) => ({
      dag_id: safeText(one.dag_id),
      run_id: safeText(one.run_id),
      task_id: safeText(one.task_id),
      map_index: one.map_index,
      since: one.start_date,
    })),
    waiting: waiters.map((one) => ({ task_id: safeText(one.task_id), map_index: one.map_index })),
  }));
}

/** Returns why a run has not started. It has no task instances that could explain it. */
export async function runWaitOf(
  { scope }: Pick<DiagnosisSources, 'scope'>,
  { run, dag }: Pick<RunFacts, 'run' | 'dag'>,
): Promise<Wait<RunWaitReason> | null> {
  if (run.state !== 'queued' || !dag) return null;
  if (Date.parse(run.run_after) > Date.now()) {
    return { ...ownWait('run_after'), detail: `not before ${run.run_after}`, until: run.run_after };
  }
  if (dag.is_paused) return sharedWait('paused', null);
  // A backfill has its own limit in addition to that of the DAG.
  if (run.run_type === 'backfill') return ownWait('backfill');
  const running = await countRunningRuns(scope, run.dag_id);
  return running >= dag.max_active_runs
    ? sharedWait('max_active_runs', `${running} of ${dag.max_active_runs}`)
    : ownWait('starting');
}

const ownWait = (code: keyof typeof RUN_WAIT_REASONS): Wait<RunWaitReason> => ({
  code,
  meaning: RUN_WAIT_REASONS[code],
  detail: null,
  until: null,
  ends_with: RUN_WAIT_ENDS[code],
});

const sharedWait = (code: 'paused' | 'max_active_runs', detail: string | null): Wait<RunWaitReason> => ({
  code,
  meaning: WAIT_REASONS[code],
  detail,
  until: null,
  ends_with: WAIT_ENDS[code],
});
