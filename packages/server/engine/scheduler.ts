/**
 * The scheduler of one process. It takes the reports of agents, advances runs, and gives claimed attempts to the
 * executor.
 *
 *   finish ─▶ transaction (outcome + what follows) ─▶ effects ─▶ claim ─▶ executor        at once, in this process
 *   tick   ─▶ what time causes (cron, retries, timeouts), and what a dead process left behind
 *
 * Each part is a file of its own: attempt-reports, effects, due-work, queued-run-starter, recovery, dispatcher. This
 * file connects them. Postgres knows everything that this process remembers, so another process may take over at any
 * instruction.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { Database, SharedDb } from '../db/database.ts';
import { isOutage } from '../db/outage.ts';
import { createActivity } from './activity.ts';
import { createApplyToRun } from './advance/apply-to-runs.ts';
import type { FinishTools } from './advance/finish-attempts.ts';
import type { RunEffects } from './advance/run-effects.ts';
import type { RecordAssetEvents } from './advance/attempt-outputs.ts';
import { releasePaused } from './advance/follow-ups.ts';
import { DEFAULT_LEASE_MS } from './advance/silent-attempts.ts';
import type { Leases } from './advance/silent-attempts.ts';
import { createAttemptReports } from './attempt-reports.ts';
import { createBackgroundTasks } from './background-tasks.ts';
import { createContention } from './claim/contention.ts';
import { createDispatcher } from './dispatcher.ts';
import { createDueWork } from './due-work.ts';
import type { DueSource } from './due-work.ts';
import { createEffects } from './effects.ts';
import type { Executor } from './executor.ts';
import type { PlanEvent } from './plan/types.ts';
import { createQueuedRunStarter } from './queued-run-starter.ts';
import { createRecovery } from './recovery.ts';
import { createRunCreator } from './runs/create-run.ts';
import type { CreateRun, CreateRunResult, NewRun, TriggerResult } from './runs/create-run.ts';
import { askManual, askRange } from './runs/timetable-questions.ts';
import { recordWatchedAssets } from './runs/asset-events.ts';
import { createTriggers } from './runs/trigger-runs.ts';
import type { TriggerOptions } from './runs/trigger-run.ts';
import { NO_SLOTS } from './shared/attempts.ts';
import type { Attempts } from './shared/attempts.ts';
import type { DagGraphs } from './shared/dag-graphs.ts';
import type { DagKey } from './sql/dag-rows.ts';
import { findNewestVersion } from './sql/dag-rows.ts';
import { claimCallbacks } from './sql/callbacks.ts';
import { glance } from './sql/glance.ts';
import { createTableStatistics } from './table-statistics.ts';
import { createAwaitedRuns } from './triggers/awaited-runs.ts';
import { createTriggerFeed, createTriggerReports } from './triggers/trigger-reports.ts';
import type { TriggerReports } from './triggers/trigger-reports.ts';
import { createTriggerers } from './triggers/triggerers.ts';

type Log = {
  info(details: object, message: string): void;
  warn(details: Coded, message: string): void;
  error(details: Coded, message: string): void;
};

export type SchedulerOptions = {
  db: Database;
  graphs: DagGraphs;
  /** Null in a process that only serves the API. Another process then carries out what it causes. */
  executor: Executor | null;
  dispatch: { bufferSize: number; workers: number };
  /** How long an attempt may be silent before it counts as lost. The default is one minute. */
  leases?: Leases;
  /** How many losses of infrastructure use up no retry of an instance. Default: none. */
  maxInfrastructureRetries?: number;
  /** The state in which tasks wait for answers of people. Default: `awaiting_input`. */
  hitlState?: FinishTools['hitlState'];
  recordAssetEvents: RecordAssetEvents;
  /** Adds up the facts of work (db/work/fold-work.ts). */
  foldWork?: () => Promise<unknown>;
  /** Other sources of work that time causes: timetables, backfills. */
  dueSources: readonly DueSource[];
  /** Called after the commits in which attempts and runs have ended. */
  traces?: {
    attemptsEnded: NonNullable<FinishTools['onEnded']>;
    runsEnded(ended: Readonly<RunEffects['ended']>): void;
  };
  /** Called after a commit in which runs of the DAG ended. */
  onDagRunsEnded?: (dag: DagKey) => Promise<void>;
  /** Tells other processes that there is work. */
  notifyOthers: () => void;
  /** Tells other processes that attempts were superseded. Some of these may run there. */
  notifyStops?: () => void;
  log: Log;
};

export type Scheduler = {
  readonly attempts: Attempts;
  /** Null in a process without an executor, because no triggerer talks to it. */
  readonly triggers: TriggerReports | null;
  readonly graphs: DagGraphs;
  readonly createRun: CreateRun;
  /** Creates a run in a transaction of its own. */
  trigger(tenantId: string, input: NewRun, options?: TriggerOptions): Promise<TriggerResult>;
  /** Asks a worker which runs an author's timetable has between two moments. */
  askRange(key: DagKey, range: { from: string; to: string; count: number }): ReturnType<typeof askRange>;
  applyToRun(trx: SharedDb, ref: { tenantId: string; run: number }, events: readonly PlanEvent[]): Promise<RunEffects>;
  /** Called after the commit of the change that caused the effects. */
  applyEffects(effects: RunEffects): void;
  /** There may be something to claim, in this process or in another one. */
  requestClaim(): void;
  /** Another process has notified this one that there is work. */
  onNotified(): void;
  /** Another process has superseded attempts. Some of them may run here. */
  onStops(): void;
  dagUnpaused(tenantId: string, dagId: string): Promise<void>;
  /** Resumes what waited in a tenant while it was disabled, in this process and in others. */
  tenantEnabled(): void;
  /** Does what time causes. The loop calls it. */
  tick(): Promise<void>;
  /**
   * Resolves when this scheduler has no claim, batch, hand-over or wake-up under way or pending; for tests. Moments
   * that the data names, such as the next retry, do not count.
   */
  idle(): Promise<void>;
  /** Starts no more triggerers here. The next process replaces those that end from now on. */
  stopTriggerers(): void;
  stop(): Promise<void>;
};

/** Slots reserved before the number of first tasks is known. A run with more first tasks asks for more slots. */
const SLOTS_OF_A_TRIGGER = 4;

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { db, graphs, executor, recordAssetEvents, notifyOthers, log } = options;
  const { leases = { queuedMs: DEFAULT_LEASE_MS, runningMs: DEFAULT_LEASE_MS } } = options;
  const activity = createActivity();
  const createRun = createRunCreator(graphs);
  const background = createBackgroundTasks(log, activity);
  const statistics = createTableStatistics(db, options.foldWork ?? (async () => {}));
  const triggers = createTriggers({
    db,
    graphs,
    keepsPlans: statistics.keepsPlans,
    isApiOnly: executor === null,
    activity,
  });
  const contention =
    executor &&
    createContention({
      db,
      routing: () => executor.lanes?.(),
      activity,
      onError(error) {
        if (!isOutage(error))
          log.error({ code: 'SVC2003', err: error }, 'could not read which tenants wait for workers');
      },
    });
  const dispatcher =
    executor &&
    contention &&
    createDispatcher({
      db,
      graphs,
      executor,
      contention,
      ...options.dispatch,
      onEffects: (effects) => applyEffects(effects),
      activity,
      log,
    });
  executor?.onCapacity(() => dispatcher?.onCapacity());

  // Effects cause more effects: a run that has ended starts the next one.
  const onEffects = (effects: RunEffects): void => applyEffects(effects);
  const starter = createQueuedRunStarter({ db, graphs, onEffects });
  const sources = options.dueSources;
  const due = createDueWork({ db, graphs, sources, hasTimer: dispatcher !== null, background, onEffects });

  function requestClaim(): void {
    dispatcher?.requestClaim();
    notifyOthers();
  }

  async function dispatchCallbacks(): Promise<void> {
    if (!executor) return notifyOthers();
    const jobs = await claimCallbacks(db);
    if (jobs.length > 0) executor.dispatchCallbacks(jobs);
  }

  const wakeWorkers = (): void => background.run('asking a timetable', dispatchCallbacks);

  const feed = createTriggerFeed({ db });
  const triggerers =
    executor &&
    createTriggerers({
      db,
      graphs,
      executor,
      leaseMs: leases.runningMs,
      background,
      activity,
      onHeld() {
        feed.wake();
        notifyOthers(); // the triggerer may be connected to another process
      },
      async failTriggers(triggers, text) {
        for (const trigger of triggers) await reports.fail(trigger, text);
      },
      log,
    });
  function onTriggers(): void {
    if (!triggerers) return notifyOthers();
    triggerers.assign();
    feed.wake();
  }

  const awaited =
    executor &&
    createAwaitedRuns({ db, graphs, background, fire: (trigger, event) => reports.decided(trigger, event) });

  const applyEffects = createEffects({
    db,
    graphs,
    executor,
    stopElsewhere: () => options.notifyStops?.(),
    background,
    startRunsOf: starter.startRunsOf,
    dispatchCallbacks,
    onTriggers,
    onAwaited({ moved, awaited: begun }) {
      if (!awaited) return; // the recovery of a scheduler finds it
      awaited.moved(moved);
      awaited.awaited(begun);
      if (begun.length > 0) notifyOthers();
    },
    wakeAt: dispatcher ? due.wakeAt : notifyOthers, // a process without a timer notifies those with a timer
    requestClaim,
    onDagRunsEnded: options.onDagRunsEnded,
    onRunsEnded: options.traces?.runsEnded,
  });

  const attempts = createAttemptReports({
    db,
    graphs,
    recordAssetEvents,
    keepsPlans: statistics.keepsPlans,
    maxInfrastructureRetries: options.maxInfrastructureRetries ?? 0,
    hitlState: options.hitlState,
    givesUpSlot: (tenantId, worker) => contention?.givesUpSlot(tenantId, worker) ?? false,
    triggererLost: ({ tenantId, attemptId }, text) =>
      reports.ended({ tenantId, triggererId: attemptId }, { hasFailed: false, text }),
    onEnded: options.traces?.attemptsEnded,
    onFinished({ answers, effects }) {
      statistics.tasksEnded();
      for (const { next } of answers) if (next) executor?.adopt(next.attempt, next.instance.given_by);
      applyEffects(effects);
    },
    activity,
  });

  const reports = createTriggerReports({
    db,
    graphs,
    feed,
    finish: attempts.end,
    recordWatchedAssets,
    onEffects,
    ended: async (ref, how) => triggerers?.ended(ref, how),
    activity,
  });

  const recovery = createRecovery({
    db,
    graphs,
    leases,
    attempts,
    ...(executor?.explainSilence && { explainSilence: executor.explainSilence }),
    startForgottenRuns: starter.startForgotten,
    dispatchCallbacks,
    triggerers,
    awaited,
    requestClaim: () => dispatcher?.requestClaim(),
    onEffects,
    log,
  });

  async function stopSuperseded({ holds, cancel }: Executor): Promise<void> {
    const held = holds();
    if (held.length === 0) return;
    const live = await attempts.findLive(held);
    const over = held.map(({ attemptId }) => attemptId).filter((id) => !live.has(id));
    if (over.length > 0) cancel(over);
  }

  /**
   * Creates a run. If the DAG has an author's timetable, a worker first says which interval a manual run at this moment
   * covers.
   */
  async function trigger(tenantId: string, run: NewRun, extras: TriggerOptions = {}): Promise<TriggerResult> {
    const result = await triggerKnown(tenantId, run, extras);
    if (result.kind !== 'ask_timetable') return result;
    const { at, versionNumber } = result;
    const asked = await askManual(db, { tenantId, dagId: run.dagId }, { at, versionNumber, wake: wakeWorkers });
    if (asked.kind === 'failed') return { kind: 'timetable_failed', problem: asked.problem };
    const { start, end, run_id: runId } = asked.answer;
    const known = { logicalDate: at, dataInterval: { start, end }, ...(runId !== undefined && { runId }), ...run };
    const again = await triggerKnown(tenantId, known, extras);
    return again.kind === 'ask_timetable' ? { kind: 'timetable_failed', problem: 'it gave no interval' } : again;
  }

  async function triggerKnown(tenantId: string, run: NewRun, extras: TriggerOptions): Promise<CreateRunResult> {
    const slots = dispatcher?.reserve(SLOTS_OF_A_TRIGGER, tenantId) ?? NO_SLOTS;
    const { result, attempts: claimed } = await triggers
      .trigger({ tenantId, run, slots, ...extras })
      .catch((error: unknown) => {
        dispatcher?.handOut(slots, []);
        throw error;
      });
    dispatcher?.handOut(slots, claimed);
    if (result.kind === 'created') {
      applyEffects(result.effects);
      if (!dispatcher) notifyOthers();
    }
    return result;
  }

  function onNotified(): void {
    dispatcher?.requestClaim();
    if (triggerers) onTriggers();
    background.run('looking for what another process has left to do', async () => {
      await due.run();
      await awaited?.refresh();
      await starter.startForgotten();
      await dispatchCallbacks();
    });
  }

  async function tick(): Promise<void> {
    if (!dispatcher) return;
    const seen = { ...(await glance(db)), steadyMs: performance.now() };
    if (seen.isDue) await due.run();
    else if (seen.nextAt !== null) due.wakeAt(seen.nextAt);
    if (seen.hasClaimable) dispatcher.requestClaim();
    await statistics.refresh();
    await recovery.tick(seen);
  }

  return {
    attempts,
    async askRange(key, range) {
      const versionNumber = await findNewestVersion(db.shared, key);
      if (versionNumber === undefined) return { kind: 'failed', problem: 'there is no such DAG' };
      return askRange(db, key, { ...range, versionNumber, wake: wakeWorkers });
    },
    triggers: triggerers && reports,
    graphs,
    createRun,
    trigger: (...wanted) => activity.track(trigger(...wanted)),
    applyToRun: createApplyToRun(graphs),
    applyEffects,
    requestClaim,
    onNotified,
    tenantEnabled() {
      if (dispatcher) onNotified();
      notifyOthers();
    },
    onStops() {
      feed.wake();
      if (executor) background.run('stopping what another process has superseded', () => stopSuperseded(executor));
    },
    async dagUnpaused(tenantId, dagId) {
      if (triggerers) await triggerers.lookAround(); // its assets are watched again
      await releasePaused(db, { tenantId, dagId });
      await starter.startRunsOf({ tenantId, dagId });
      requestClaim();
    },
    tick: () => activity.track(tick()),
    idle: activity.idle,
    stopTriggerers() {
      triggerers?.stop();
      feed.close();
    },
    async stop() {
      due.stop();
      feed.close();
      const idle = background.stop();
      await dispatcher?.stop();
      await contention?.stop();
      await idle;
    },
  };
}
