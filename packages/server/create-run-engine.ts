/**
 * Creates what runs tasks: the scheduler, the service for agents, and the executor that carries attempts to them. A
 * process that only serves the API has a scheduler without an executor: it writes what users cause and notifies the
 * other processes.
 */
import type { StoppedParts } from './stop-parts.ts';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { createAgentCredentials } from './agents/credentials.ts';
import { createAgentService } from './agents/agent-service.ts';
import { createAttemptNotes } from './agents/attempt-notes.ts';
import { createAttemptLease } from './agents/attempt-lease.ts';
import { createTaskTrigger } from './agents/task-trigger.ts';
import { executorNames, hasExecutor } from './config/executor-names.ts';
import type { Config } from './config/load.ts';
import { sessionUrl } from './db/database-path.ts';
import type { Database } from './db/database.ts';
import { readTaskAssetEvents } from './db/assets/task-events.ts';
import { executorsOf } from './executors/executor-types.ts';
import type { ExecutorFactory } from './executors/executor-context.ts';
import { reachableAddress } from './executors/subprocess.ts';
import type { LogStore } from './logs/store.ts';
import type { Leases } from './engine/advance/silent-attempts.ts';
import type { RunEffects } from './engine/advance/run-effects.ts';
import { createBackfillRunner } from './engine/runs/backfills.ts';
import { createDueDeadlines } from './engine/runs/deadlines.ts';
import { createRunEndFollower } from './engine/runs/follow-run-end.ts';
import { clearRuns } from './engine/edit/clear-many.ts';
import { createLogRetention } from './logs/retention.ts';
import { createRetention } from './retention/background.ts';
import { createLogRemoval } from './retention/remove-logs.ts';
import { createAssetRuns, recordAssetEvents } from './engine/runs/asset-events.ts';
import type { Attempts } from './engine/shared/attempts.ts';
import { nowIso } from '@svc/spec/clock.ts';
import { createDagGraphs } from './engine/shared/dag-graphs.ts';
import type { DueSource } from './engine/due-work.ts';
import { createScheduler } from './engine/scheduler.ts';
import type { Scheduler } from './engine/scheduler.ts';
import { noEffects } from './engine/advance/run-effects.ts';
import { putQuestions, recordAnswer } from './engine/runs/timetable-questions.ts';
import { createTimetableRuns } from './engine/runs/timetable-runs.ts';
import type { ManagedExecutor } from './engine/executor.ts';
import { createNotifications } from './engine/notifications.ts';
import { loadRuns } from './engine/sql/attempts.ts';
import { sendNotification } from './engine/sql/notify.ts';
import { foldWork } from './db/work/fold-work.ts';
import type { RunTraces } from './telemetry/runs/run-traces.ts';
import type { WatchedPair } from './tls/watched-pair.ts';
import type { Keyring } from './vault/keyring.ts';
import { stateLimitsOf } from './xcom/state-limits.ts';
import { createValueCollector } from './xcom/stored/collector.ts';
import type { StoredValues } from './xcom/stored/stored-values.ts';
import type { ValueCache } from './xcom/value-cache.ts';

export type RunEngine = {
  readonly scheduler: Scheduler;
  /** Opens the listener for agents. `start` starts the agents when the database is ready. */
  listen(): Promise<void>;
  start(): void;
  /** True when an agent is connected that could take attempts. */
  hasAgent(): boolean;
  /** True while an agent waits for an answer. */
  isBusy(): boolean;
  /** Undefined in a process whose executor cannot test connections. */
  readonly testConnection: ManagedExecutor['testConnection'];
  /** Undefined without warm workers. */
  readonly warmUsage: ManagedExecutor['warmUsage'];
  /** The address for agents. Undefined in a process without an executor. */
  agentAddress(): string | undefined;
  /** The parts to stop, in this order. */
  readonly parts: StoppedParts;
};

/** The most runs that one look at the timetables creates. The next look continues a backlog. */
const RUNS_AT_ONCE = 100;

type EngineInput = {
  config: Config;
  db: Database;
  keyring: Keyring;
  logs: LogStore;
  valueCache: ValueCache;
  storedValues: StoredValues;
  logger: Logger;
  /** The certificate of the listener for agents. Null: without TLS. */
  tls?: WatchedPair | null;
  /** The id of this process, as in its heartbeats. */
  processId: string;
  /** Called when an attempt starts: in an existing worker, or in a pod that is started for it. */
  onAttemptStarts?: (start: 'warm' | 'cold') => void;
  /** Sends spans of runs. */
  traces?: RunTraces;
  /** Called when an alert may have to be sent. */
  onAlerts?: () => void;
  /** Replaces the executor of `executor.type`. Null: none. */
  createExecutor?: ExecutorFactory | null | undefined;
};

/** True when this process runs tasks. */
export const runsTasks = (config: Config): boolean => config.server.role !== 'api' && config.scheduler.enabled;

export function createRunEngine(input: EngineInput): RunEngine {
  const { config, db, logger } = input;
  // The scheduler and the executor need each other, so one of them is bound later.
  const attempts: Attempts = {
    start: (...args) => scheduler.attempts.start(...args),
    finish: (...args) => scheduler.attempts.finish(...args),
    finishAndTakeNext: (...args) => scheduler.attempts.finishAndTakeNext(...args),
    heartbeat: (...args) => scheduler.attempts.heartbeat(...args),
    lost: (...args) => scheduler.attempts.lost(...args),
    triggererLost: (...args) => scheduler.attempts.triggererLost(...args),
    findLive: (...args) => scheduler.attempts.findLive(...args),
    noteWait: (...args) => scheduler.attempts.noteWait(...args),
  };
  const workers = runsTasks(config) ? createWorkers(input, attempts, () => scheduler) : null;
  const notifications = createNotifications({
    url: sessionUrl(config),
    send: (channel, from) => sendNotification(db, channel, from),
    onNotified: workers && (() => scheduler.onNotified()),
    onStops: () => scheduler.onStops(),
    onAlerts: () => input.onAlerts?.(),
  });
  const scheduler: Scheduler = createScheduler({
    db,
    graphs: createDagGraphs({ isApiOnly: workers === null }),
    executor: workers?.executor ?? null,
    dispatch: { bufferSize: config.scheduler.dispatchBufferSize, workers: config.scheduler.dispatchWorkers },
    leases: leasesOf(config),
    maxInfrastructureRetries: config.scheduler.maxInfrastructureRetries,
    // The web UI of Airflow 3.2 offers no answer to a task in a state that it does not know.
    hitlState: config.ui.airflowVersion === '3.2.2' ? 'deferred' : 'awaiting_input',
    recordAssetEvents,
    foldWork: async () => {
      // The export by StatsD sends the facts that it folds.
      if (config.metrics.statsdHost === '') await foldWork(db, { perTask: config.metrics.perTask });
    },
    dueSources: [
      () => dueTimetables(),
      () => dueQuestions(),
      () => dueAssets(),
      () => dueBackfills(),
      () => dueDeadlines(),
    ],
    ...(input.traces && { traces: input.traces }),
    onDagRunsEnded: (dag) => followRunEnd(dag),
    notifyOthers: () => notifications.notifyOthers(),
    notifyStops: () => notifications.notifyStops(),
    log: logger,
  });
  const onEffects = (effects: RunEffects): void => scheduler.applyEffects(effects);
  const timetables = createTimetableRuns({ db, createRun: scheduler.createRun, onEffects, log: logger });
  const assetRuns = createAssetRuns({ db, createRun: scheduler.createRun, onEffects, log: logger });
  const backfills = createBackfillRunner({ db, tools: scheduler, onEffects, log: logger });
  const followRunEnd = createRunEndFollower({ db, timetables, assetRuns, backfills });
  const dueDeadlines = createDueDeadlines({ db, graphs: scheduler.graphs });
  const logRetention = createLogRetention({ logs: input.logs, retentionMs: config.logs.retention, log: logger });
  const valueCollector = createValueCollector({ values: input.storedValues, log: logger });
  const retention = createRetention({
    db,
    logs: createLogRemoval({ db, logs: input.logs }),
    retentionMs: config.scheduler.retention,
    clearsStatesOnSuccess: config.stateStore.clearOnSuccess,
    holder: `a scheduler on ${hostname()}`,
    log: logger,
  });

  async function dueTimetables(): ReturnType<DueSource> {
    const { nextDueAt } = await timetables.createDue({ now: nowIso(), limit: RUNS_AT_ONCE });
    return { effects: [], nextAt: nextDueAt };
  }

  async function dueQuestions(): ReturnType<DueSource> {
    const { put, nextAt } = await putQuestions(db);
    return { effects: put > 0 ? [{ ...noEffects(), hasCallbacks: true }] : [], nextAt };
  }

  async function dueAssets(): ReturnType<DueSource> {
    await assetRuns.considerAll();
    return { effects: [], nextAt: null };
  }

  async function dueBackfills(): ReturnType<DueSource> {
    await backfills.advance();
    return { effects: [], nextAt: null };
  }

  return {
    scheduler,
    listen: async () => workers?.listen(),
    start() {
      notifications.listen();
      workers?.executor.start();
      if (!workers) return;
      logRetention.start();
      valueCollector.start();
      retention.start();
    },
    testConnection: workers?.executor.testConnection,
    warmUsage: workers?.executor.warmUsage,
    hasAgent: () => workers?.executor.isConnected() ?? false,
    isBusy: () => workers?.isBusy() ?? false,
    agentAddress: () => workers?.address(),
    parts: {
      triggerers: async () => scheduler.stopTriggerers(),
      retention: () => Promise.all([logRetention.stop(), retention.stop(), valueCollector.stop()]),
      notifications: () => notifications.stop(),
      executor: () => workers?.executor.close('stop'),
      'agent service': () => workers?.closeService(),
      scheduler: () => scheduler.stop(),
    },
  };
}

/**
 * The cluster reports when a pod has ended. An attempt in a pod is therefore given up because of silence only if the
 * cluster cannot report either. Until then it continues without the control plane.
 */
const leasesOf = (config: Config): Leases => ({
  queuedMs: config.scheduler.attemptLease,
  runningMs: hasExecutor(config, 'orchestrator') ? config.executor.unreachableAfter : config.scheduler.attemptLease,
});

/** Clears every task of a run, so that it starts from the beginning. */
async function clearWholeRun(
  db: Database,
  scheduler: Scheduler,
  ref: { tenantId: string; run: number },
): Promise<void> {
  const run = (await loadRuns(db.shared, [ref])).get(ref.run);
  if (!run) return;
  await clearRuns(db, scheduler, {
    tenantId: ref.tenantId,
    dagId: run.dag_id,
    runs: [{ id: run.id, runId: run.run_id }],
    options: { ...EVERYTHING, tasks: null },
  });
}

const EVERYTHING = {
  onlyFailed: false,
  resetRun: true,
  onLatestVersion: false,
  preventRunning: false,
  includeUpstream: false,
  includeDownstream: false,
} as const;

type Workers = {
  executor: ManagedExecutor;
  isBusy(): boolean;
  address(): string | undefined;
  listen(): Promise<void>;
  closeService(): Promise<void>;
};

function createWorkers(input: EngineInput, attempts: Attempts, scheduler: () => Scheduler): Workers | null {
  const { config, db, keyring, logs, valueCache, storedValues, logger } = input;
  const createExecutor = input.createExecutor === undefined ? executorsOf(executorNames(config)) : input.createExecutor;
  if (!createExecutor) return null;
  const credentials = createAgentCredentials({
    secret: config.auth.jwt.secret,
    maxAttemptLifetimeMs: config.auth.maxAttemptCredentialLifetime,
  });
  const service = createAgentService({
    address: config.server.grpcAddr,
    tls: input.tls ?? null,
    db,
    keyring,
    attempts,
    credentials,
    lease: createAttemptLease({
      db,
      leaseMs: leasesOf(config).runningMs,
      // A network cannot separate an agent on the same machine from this process.
      isCutOffPossible: executorNames(config).some((name) => name !== 'subprocess'),
    }),
    logs,
    valueCache,
    storedValues,
    triggerRun: createTaskTrigger({ db, scheduler, clearWholeRun: (ref) => clearWholeRun(db, scheduler(), ref) }),
    answerTimetable: async (answer) => {
      const { dueAt } = await recordAnswer(db, answer);
      if (dueAt !== null) scheduler().applyEffects({ ...noEffects(), dueAt });
    },
    triggers() {
      const { triggers } = scheduler();
      if (!triggers) throw new Error('unreachable: agents talk to a process with an executor');
      return triggers;
    },
    readAssetEvents: (query) => readTaskAssetEvents(db.shared, query),
    settings: {
      scoping: config.auth.secretScoping,
      livenessMode: config.auth.secretLivenessMode,
      xcomInlineMaxBytes: config.xcom.inlineMaxBytes,
      xcomMaxBytes: config.xcom.maxBytes,
      stateStore: { ...stateLimitsOf(config), clearOnSuccess: config.stateStore.clearOnSuccess },
      baseUrl: config.server.baseUrl,
      notesInLogs: hasExecutor(config, 'orchestrator'),
      traceparent: input.traces?.traceparent,
    },
    log: logger,
  });
  let address: string | undefined;
  const executor = createExecutor({
    config,
    db,
    processId: input.processId,
    note: createAttemptNotes({ db, logs, log: logger }),
    service,
    credentials,
    attempts,
    controlPlane: () => config.executor.agentControlPlaneAddr || address || config.server.grpcAddr,
    countStart: (start) => input.onAttemptStarts?.(start),
    log: logger,
  });
  return {
    executor,
    isBusy: service.isBusy,
    address: () => address,
    async listen() {
      address = reachableAddress(await service.listen());
    },
    closeService: () => service.close(),
  };
}
