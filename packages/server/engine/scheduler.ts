/**
 * The scheduler of one process: takes the word of agents, lets runs go on, hands what can run to the executor.
 *
 *   finish ─▶ transaction (outcome + what follows) ─▶ effects ─▶ claim ─▶ executor        at once, in this process
 *   tick   ─▶ what time causes (cron, retries, timeouts), and whatever the death of a process has left lying
 *
 * Nothing is kept here that Postgres does not know: another process may take over at any instruction.
 */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../db/database.ts';
import { analyseYoungTables } from '../db/analyze-growing-tables.ts';
import { isOutage } from '../db/outage.ts';
import { createApplyToRun } from './advance/apply-to-runs.ts';
import type { RunEffects } from './advance/apply-to-runs.ts';
import type { RecordAssetEvents } from './advance/attempt-outputs.ts';
import type { Attempts, Executor, FinishAnswer } from './attempts.ts';
import { createBatches } from './batches.ts';
import type { Batches } from './batches.ts';
import { claimCallbacks } from './advance/callbacks.ts';
import { createRunCreator } from './runs/create-run.ts';
import type { CreateRun, CreateRunResult, NewRun } from './runs/create-run.ts';
import type { DagGraphs } from './dag-graphs.ts';
import { createDispatcher } from './claim/dispatcher.ts';
import type { Dispatcher } from './claim/dispatcher.ts';
import { scheduleDue } from './advance/due-instances.ts';
import { finishAttempts } from './advance/finish-attempts.ts';
import type { Ending } from './advance/finish-attempts.ts';
import {
  checkPast,
  checkWaiting,
  findForgottenPasts,
  pauseAfterFailures,
  releaseForgotten,
  releasePaused,
} from './advance/follow-ups.ts';
import { DEFAULT_LEASE_MS, findSilent } from './advance/silent-attempts.ts';
import { timeOutRuns } from './runs/end-run.ts';
import { renewLeases, startAttempts } from './claim/start-attempts.ts';
import { mayStartQueuedRuns, startQueuedRuns } from './runs/start-run.ts';
import { triggerRun } from './runs/trigger-run.ts';
import type { AroundTheRun } from './runs/trigger-run.ts';
import type { PlanEvent } from './plan/types.ts';

type Log = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};

export type SchedulerOptions = {
  db: Database;
  graphs: DagGraphs;
  /** Null in a process that serves the API only: what it causes is carried out elsewhere. */
  executor: Executor | null;
  dispatch: { bufferSize: number; workers: number };
  /** How long an attempt may be silent before it counts as lost; a minute unless given. */
  leaseMs?: number;
  recordAssetEvents: RecordAssetEvents;
  /** What else time causes: runs of timetables, backfills. Each gives back what follows. */
  timeCauses: readonly (() => Promise<{ effects: RunEffects[]; nextAt: string | null }>)[];
  /** Called when a run has ended, after its commit. */
  onRunEnded?: (ended: RunEffects['ended'][number]) => Promise<void>;
  /** Tells other processes that something is to be done. */
  say: () => void;
  log: Log;
};

export type Scheduler = {
  readonly attempts: Attempts;
  readonly graphs: DagGraphs;
  readonly createRun: CreateRun;
  /** A run in a transaction of its own. */
  trigger(tenantId: string, input: NewRun, around?: AroundTheRun): Promise<CreateRunResult>;
  applyToRun(trx: SharedDb, ref: { tenantId: string; run: number }, events: readonly PlanEvent[]): Promise<RunEffects>;
  /** After the commit of whatever gave the effects. */
  applyEffects(effects: RunEffects): void;
  /** Something may be claimable, or a run startable. */
  wake(): void;
  /** Another process said so. */
  wokenFromOutside(): void;
  dagUnpaused(tenantId: string, dagId: string): Promise<void>;
  /** What time itself causes; called by the loop. */
  tick(): Promise<void>;
  stop(): Promise<void>;
};

/** Finishes of one run follow each other; those of different runs need not wait for the same lock. */
const LANES = 4;
const FINISHES_AT_ONCE = 200;
const STARTS_AT_ONCE = 200;
/** Claimed with the run itself; a run that begins with more leaves the rest to the dispatcher. */
const FIRST_TASKS_AT_ONCE = 4;
const REAP_EVERY_MS = 5_000;
/** Ticks further apart than this share of the lease mean that the process or the database was away. */
const OUTAGE_SHARE = 1 / 4;
const QUEUED_RUNS_EVERY_MS = 2_000;

type Settled = FinishAnswer | { error: unknown };

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { db, graphs, executor, log, leaseMs = DEFAULT_LEASE_MS } = options;
  const applyToRun = createApplyToRun(graphs);
  const createRun = createRunCreator(graphs);
  const background = new Set<Promise<unknown>>();
  let isStopped = false;
  let dueTimer: NodeJS.Timeout | undefined;
  let dueTimerAt = Infinity;
  let lastReap = -Infinity;
  let lastTick = -Infinity;
  let listeningSince = 0;
  /** Some task has since the last tick: tables may have grown. */
  let hasEnded = false;
  let hasStatistics = false;
  let lastQueuedRuns = -Infinity;

  const dispatcher: Dispatcher | null =
    executor && createDispatcher({ db, graphs, executor, ...options.dispatch, log });
  executor?.onCapacity(() => dispatcher?.capacityCame());

  /** Errors end here: what was not done now is found by the tick. */
  function inBackground(what: string, work: () => Promise<unknown>): void {
    if (isStopped) return;
    const promise = work().catch((error: unknown) => {
      if (!isOutage(error)) log.error({ err: error }, `scheduler: ${what} failed and is tried again`);
    });
    background.add(promise);
    void promise.finally(() => background.delete(promise));
  }

  function applyEffects(effects: RunEffects): void {
    if (effects.superseded.length > 0) executor?.cancel(effects.superseded);
    if (effects.dueAt !== null) armDue(Date.parse(effects.dueAt));
    for (const moved of effects.pastMoved) {
      inBackground('looking at the next run', async () => {
        const followed = await checkPast(db, graphs, moved);
        if (followed) applyEffects(followed);
      });
    }
    for (const ended of effects.ended) inBackground('following the end of a run', () => afterRun(ended));
    for (const { tenantId, dagId } of effects.queued) {
      inBackground('looking for a place for a run', () => startRunsOf(tenantId, dagId));
    }
    if (effects.hasCallbacks) inBackground('dispatching callbacks', dispatchCallbacks);
    if (effects.hasScheduled) {
      dispatcher?.kick();
      options.say();
    }
  }

  async function afterRun(ended: RunEffects['ended'][number]): Promise<void> {
    if (ended.state === 'failed') await pauseAfterFailures(db, ended);
    await options.onRunEnded?.(ended);
    await startRunsOf(ended.tenantId, ended.dagId);
  }

  async function startRunsOf(tenantId: string, dagId: string): Promise<void> {
    // Mostly none waits, or there is no place: then nobody has to queue for the lock of the DAG's row.
    if (!(await mayStartQueuedRuns(db.shared, { tenantId, dagId }))) return;
    const { effects } = await db.shared
      .transaction()
      .execute((trx) => startQueuedRuns(trx, graphs, { tenantId, dagId }));
    effects.forEach(applyEffects);
  }

  async function dispatchCallbacks(): Promise<void> {
    if (!executor) return;
    const jobs = await claimCallbacks(db);
    if (jobs.length > 0) executor.dispatchCallbacks(jobs);
  }

  /** A timer for the next moment that matters, so that a retry does not wait for the tick. */
  function armDue(at: number): void {
    if (isStopped || !dispatcher || at >= dueTimerAt) return;
    clearTimeout(dueTimer);
    dueTimerAt = at;
    dueTimer = setTimeout(
      () => {
        dueTimerAt = Infinity;
        inBackground('looking for what is due', whatIsDue);
      },
      Math.min(Math.max(0, at - Date.now()) + 1, 2 ** 31 - 1),
    );
  }

  async function whatIsDue(): Promise<void> {
    for (;;) {
      const { effects, mayBeMore, nextDueAt } = await scheduleDue(db, graphs);
      applyEffects(effects);
      if (nextDueAt !== null && !mayBeMore) armDue(Date.parse(nextDueAt));
      if (!mayBeMore) break;
    }
    for (const cause of options.timeCauses) {
      const { effects, nextAt } = await cause();
      effects.forEach(applyEffects);
      if (nextAt !== null) armDue(Date.parse(nextAt));
    }
  }

  async function settle(endings: readonly Ending[]): Promise<Settled[]> {
    try {
      const { answers, effects } = await finishAttempts(db, { ...options, keepsPlans: hasStatistics }, endings);
      hasEnded = true;
      for (const { next } of answers) if (next) executor?.adopt(next.attempt);
      applyEffects(effects);
      return answers;
    } catch (error) {
      const runs = new Set(endings.map(({ ref }) => ref.run));
      if (isOutage(error) || runs.size === 1) return endings.map(() => ({ error }));
      // One poisoned run must not hold up the others of its set.
      const settled = new Map<Ending, Settled>();
      for (const run of runs) {
        const own = endings.filter(({ ref }) => ref.run === run);
        const results = await settle(own);
        own.forEach((ending, index) => settled.set(ending, results[index] ?? { error }));
      }
      return endings.map((ending) => settled.get(ending) ?? { error });
    }
  }

  const lanes: Batches<Ending, Settled>[] = Array.from({ length: LANES }, () =>
    createBatches({ run: settle, atMost: FINISHES_AT_ONCE }),
  );
  const starts = createBatches({
    run: (items: Parameters<typeof startAttempts>[1]) => startAttempts(db, items, { keepsPlans: hasStatistics }),
    atMost: STARTS_AT_ONCE,
  });

  async function end(ending: Ending): Promise<FinishAnswer> {
    const settled = await lanes[ending.ref.run % LANES]?.add(ending);
    if (!settled || 'error' in settled) throw settled?.error;
    return settled;
  }

  const attempts: Attempts = {
    start: (ref, worker) => starts.add({ ref, worker }),
    finish: async (ref, outcome) => (await end({ ref, outcome })).answer,
    finishAndGoOn: (ref, outcome, rest) => end({ ref, outcome, ...rest }),
    async heartbeat(refs) {
      const alive = await renewLeases(db, refs);
      return new Set(refs.map((ref) => ref.attemptId).filter((id) => !alive.has(id)));
    },
    async lost(ref, failure, { hasBegun } = { hasBegun: true }) {
      await end({ ref, lost: failure, hasBegun });
    },
  };

  async function trigger(tenantId: string, run: NewRun, around: AroundTheRun = {}): Promise<CreateRunResult> {
    const places = dispatcher?.reserve(FIRST_TASKS_AT_ONCE) ?? 0;
    const tools = { db, graphs, createRun, keepsPlans: hasStatistics };
    const { result, attempts: claimed } = await triggerRun(tools, { tenantId, run, places, ...around }).catch(
      (error: unknown) => {
        dispatcher?.handOut(places, []);
        throw error;
      },
    );
    dispatcher?.handOut(places, claimed);
    if (result.kind === 'created') {
      applyEffects(result.effects);
      if (!dispatcher) options.say();
    }
    return result;
  }

  /** Runs that could start and were not: the process that should have started them may be gone. */
  async function startForgottenRuns(): Promise<void> {
    const { rows } = await sql<{ tenantId: string; dagId: string }>`
      select distinct r.tenant_id as "tenantId", r.dag_id as "dagId" from dag_runs r
      join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
      where r.state = 'queued' and r.state in ('queued', 'running') and not d.is_paused and r.run_after <= clock_timestamp()
        and r.backfill_id is null
      limit 200`.execute(db.shared);
    for (const { tenantId, dagId } of rows) await startRunsOf(tenantId, dagId);
  }

  async function checkForgottenPasts(): Promise<void> {
    for (const ref of await findForgottenPasts(db)) {
      const effects = await checkWaiting(db, graphs, ref);
      if (effects) applyEffects(effects);
    }
  }

  async function whatAnotherLeft(): Promise<void> {
    await whatIsDue();
    await startForgottenRuns();
  }

  async function reap({ withSilent }: { withSilent: boolean }): Promise<void> {
    for (const { ref, failure } of withSilent ? await findSilent(db, leaseMs) : []) {
      log.warn({ attempt: ref.attemptId, cause: failure.cause }, 'scheduler: an attempt was not heard of any more');
      await attempts.lost(ref, failure);
    }
    for (const effects of await timeOutRuns(db, graphs)) applyEffects(effects);
    await dispatchCallbacks();
  }

  return {
    attempts,
    graphs,
    createRun,
    trigger,
    applyToRun,
    applyEffects,
    wake() {
      dispatcher?.kick();
      options.say();
    },
    wokenFromOutside() {
      dispatcher?.kick();
      inBackground('looking for what another process has left to do', whatAnotherLeft);
    },
    async dagUnpaused(tenantId, dagId) {
      await releasePaused(db, { tenantId, dagId });
      await startRunsOf(tenantId, dagId);
      dispatcher?.kick();
      options.say();
    },
    async tick() {
      if (!dispatcher) return;
      await whatIsDue();
      dispatcher.kick();
      if (hasEnded) {
        hasEnded = false;
        await analyseYoungTables(db);
        hasStatistics = true;
      }
      const now = performance.now();
      if (now - lastQueuedRuns >= QUEUED_RUNS_EVERY_MS) {
        lastQueuedRuns = now;
        await startForgottenRuns();
        await checkForgottenPasts();
        if ((await releaseForgotten(db)) > 0) dispatcher.kick();
      }
      // After an outage agents need time to come back: silence counts only while somebody could have heard them.
      if (now - lastTick > leaseMs * OUTAGE_SHARE) listeningSince = now;
      lastTick = now;
      if (now - lastReap >= REAP_EVERY_MS) {
        lastReap = now;
        await reap({ withSilent: now - listeningSince >= leaseMs });
      }
    },
    async stop() {
      isStopped = true;
      clearTimeout(dueTimer);
      await dispatcher?.stop();
      await Promise.allSettled(background);
    },
  };
}
