/**
 * Puts together what runs tasks: the scheduler, the service agents talk to, and the executor that carries attempts to them.
 * A process that only serves the API has a scheduler without an executor: it writes what users cause and wakes the others.
 */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { createAgentCredentials } from './agents/credentials.ts';
import { createAgentService } from './agents/agent-service.ts';
import { createAttemptLease } from './agents/attempt-lease.ts';
import { createTaskTrigger } from './agents/task-trigger.ts';
import type { Config } from './config/load.ts';
import type { Database } from './db/database.ts';
import { readTaskAssetEvents } from './db/assets/task-events.ts';
import { createSubprocessExecutor, reachableAddress } from './executors/subprocess.ts';
import type { SubprocessExecutor } from './executors/subprocess.ts';
import type { LogStore } from './logs/store.ts';
import type { RunEffects } from './engine/advance/apply-to-runs.ts';
import { createBackfillRunner } from './engine/runs/backfills.ts';
import { createRunEndFollower } from './engine/runs/follow-run-end.ts';
import { clearRuns } from './engine/edit/clear-many.ts';
import { createLogRetention } from './logs/retention.ts';
import { createAssetRuns, recordAssetEvents } from './engine/runs/asset-events.ts';
import type { Attempts } from './engine/attempts.ts';
import { nowIso } from '@svc/spec/clock.ts';
import { createDagGraphs } from './engine/dag-graphs.ts';
import { createScheduler } from './engine/scheduler.ts';
import type { Scheduler } from './engine/scheduler.ts';
import { createTimetableRuns } from './engine/runs/timetable-runs.ts';
import { createWakeUps } from './engine/notifications.ts';
import type { Keyring } from './vault/keyring.ts';

export type RunEngine = {
  readonly scheduler: Scheduler;
  /** Opens the listener for agents; they are started by `start`, when the database is ready. */
  listen(): Promise<void>;
  start(): void;
  /** Is an agent connected that could take work? */
  hasAgent(): boolean;
  /** Where agents connect; undefined in a process without an executor. */
  agentAddress(): string | undefined;
  stop(): Promise<void>;
};

/** Runs that one look at the timetables creates at most; a backlog goes on at the next look. */
const RUNS_AT_ONCE = 100;

type EngineInput = { config: Config; db: Database; keyring: Keyring; logs: LogStore; logger: Logger };

/** Does this process run tasks? */
export const runsTasks = (config: Config): boolean => config.server.role !== 'api' && config.scheduler.enabled;

export function createRunEngine(input: EngineInput): RunEngine {
  const { config, db, logger } = input;
  // The scheduler knows the executor and the executor the scheduler: one of them has to be met later.
  const attempts: Attempts = {
    start: (...args) => scheduler.attempts.start(...args),
    finish: (...args) => scheduler.attempts.finish(...args),
    finishAndGoOn: (...args) => scheduler.attempts.finishAndGoOn(...args),
    heartbeat: (...args) => scheduler.attempts.heartbeat(...args),
    lost: (...args) => scheduler.attempts.lost(...args),
  };
  const workers = runsTasks(config) ? createWorkers(input, attempts, () => scheduler) : null;
  const wakeUps = createWakeUps({
    url: config.database.url,
    notify: (channel, from) => sql`select pg_notify(${channel}, ${from})`.execute(db.shared),
    onWake: workers && (() => scheduler.wokenFromOutside()),
  });
  const scheduler: Scheduler = createScheduler({
    db,
    graphs: createDagGraphs(),
    executor: workers?.executor ?? null,
    dispatch: { bufferSize: config.scheduler.dispatchBufferSize, workers: config.scheduler.dispatchWorkers },
    leaseMs: config.scheduler.attemptLease,
    recordAssetEvents,
    timeCauses: [() => timetableCause(), () => assetCause(), () => backfillCause()],
    onRunEnded: (ended) => followRunEnd(ended),
    say: () => wakeUps.say(),
    log: logger,
  });
  const onEffects = (effects: RunEffects): void => scheduler.applyEffects(effects);
  const timetables = createTimetableRuns({ db, createRun: scheduler.createRun, onEffects, log: logger });
  const assetRuns = createAssetRuns({ db, createRun: scheduler.createRun, onEffects, log: logger });
  const backfills = createBackfillRunner({ db, tools: scheduler, onEffects, log: logger });
  const followRunEnd = createRunEndFollower({ db, timetables, assetRuns, backfills });
  const retention = createLogRetention({ logs: input.logs, retentionMs: config.logs.retention, log: logger });

  async function timetableCause(): Promise<{ effects: RunEffects[]; nextAt: string | null }> {
    const { nextDueAt } = await timetables.createDue({ now: nowIso(), limit: RUNS_AT_ONCE });
    return { effects: [], nextAt: nextDueAt };
  }

  async function assetCause(): Promise<{ effects: RunEffects[]; nextAt: string | null }> {
    await assetRuns.considerAll();
    return { effects: [], nextAt: null };
  }

  async function backfillCause(): Promise<{ effects: RunEffects[]; nextAt: string | null }> {
    await backfills.advance();
    return { effects: [], nextAt: null };
  }

  return {
    scheduler,
    listen: async () => workers?.listen(),
    start() {
      wakeUps.listen();
      workers?.executor.start();
      if (workers) retention.start();
    },
    hasAgent: () => workers?.executor.isConnected() ?? false,
    agentAddress: () => workers?.address(),
    async stop() {
      await retention.stop();
      await wakeUps.stop();
      await workers?.close();
      await scheduler.stop();
    },
  };
}

/** Every task of a run again, from the beginning. */
async function clearWholeRun(
  db: Database,
  scheduler: Scheduler,
  ref: { tenantId: string; run: number },
): Promise<void> {
  const run = await db
    .tenant(ref.tenantId)
    .selectFrom('dag_runs')
    .selectAll()
    .where('id', '=', ref.run)
    .executeTakeFirst();
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
  executor: SubprocessExecutor;
  address(): string | undefined;
  listen(): Promise<void>;
  close(): Promise<void>;
};

function createWorkers(input: EngineInput, attempts: Attempts, scheduler: () => Scheduler): Workers | null {
  const { config, db, keyring, logs, logger } = input;
  if (config.executor.type !== 'subprocess') {
    logger.warn(
      'executor.type is "orchestrator", which this version does not have: runs will wait; set it to "subprocess" to run tasks on this machine',
    );
    return null;
  }
  const { cert, key } = config.server.grpcTls;
  const credentials = createAgentCredentials({
    secret: config.auth.jwt.secret,
    maxAttemptLifetimeMs: config.auth.maxAttemptCredentialLifetime,
  });
  const service = createAgentService({
    address: config.server.grpcAddr,
    tls: cert !== '' && key !== '' ? { cert, key } : null,
    db,
    keyring,
    attempts,
    credentials,
    lease: createAttemptLease({ db, leaseMs: config.scheduler.attemptLease }),
    logs,
    triggerRun: createTaskTrigger({ db, scheduler, clearWholeRun: (ref) => clearWholeRun(db, scheduler(), ref) }),
    readAssetEvents: (query) => readTaskAssetEvents(db.shared, query),
    settings: {
      scoping: config.auth.secretScoping,
      livenessMode: config.auth.secretLivenessMode,
      xcomMaxBytes: config.xcom.maxBytes,
      baseUrl: '',
    },
    log: logger,
  });
  let address: string | undefined;
  const executor = createSubprocessExecutor({
    service,
    credentials,
    attempts,
    agentPath: config.executor.agentPath,
    workdir: config.executor.subprocessWorkdir,
    parallelism: config.executor.parallelism,
    controlPlane: () => config.executor.agentControlPlaneAddr || address || config.server.grpcAddr,
    tlsCa: cert,
    env: process.env,
    log: logger,
  });
  return {
    executor,
    address: () => address,
    async listen() {
      address = reachableAddress(await service.listen());
    },
    async close() {
      await executor.close('stop');
      await service.close();
    },
  };
}
