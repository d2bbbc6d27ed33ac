/**
 * Runs attempts on this machine: one `svc-agent work` process, which gets its orders over the agent RPC.
 *
 *   stopped ──start──▶ starting ──it connects──▶ connected ──stream breaks──▶ starting (the process reconnects)
 *                          ▲                         │
 *                          └──── pause, growing ◀────┴── the process ends: its attempts are reported lost at once
 *
 * worker-attempts.ts has the states of its attempts.
 */
import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackoff } from '@svc/spec/backoff.ts';
import { WORKER_VARIABLE, endMarkedProcesses } from '@svc/proto/marked-processes.ts';
import { TASK_USER_VARIABLE } from '@svc/proto/task-user.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { AgentService } from '../agents/agent-service.ts';
import type { AgentLog } from '../agents/collaborators.ts';
import type { AgentCredentials } from '../agents/credentials.ts';
import type { AnnouncedWorker } from '../agents/workers/worker-hub.ts';
import type { CallbackJob, ManagedExecutor, TriggererJob } from '../engine/executor.ts';
import type { Attempt, Attempts, NextInstance } from '../engine/shared/attempts.ts';
import { callbackIdentity } from './callback-identity.ts';
import { triggererIdentity } from './triggerer-identity.ts';
import { createConnectionTester } from './connection-test.ts';
import { startAgentProcess } from './agent-process.ts';
import type { AgentProcess } from './agent-process.ts';
import type { LocalWorkerRow } from './local-worker-row.ts';
import type { StagingFolders } from './staging-folders.ts';
import type { TaskSettings } from './task-settings.ts';
import { createWorkerAttempts, orderedTask } from './worker-attempts.ts';
import type { OrderedIdentity } from './worker-attempts.ts';

export type SubprocessExecutorOptions = {
  service: Pick<AgentService, 'workers' | 'observe' | 'startEarly' | 'readStartFacts' | 'stageFilesWith'>;
  credentials: AgentCredentials;
  attempts: Pick<Attempts, 'lost' | 'triggererLost'>;
  /** `executor.agent_path`. */
  agentPath: string;
  /** `executor.subprocess_workdir`; empty: the directory of this process. */
  workdir: string;
  /** `executor.parallelism`. */
  parallelism: number;
  /** The address at which the agent reaches the service: `host:port`. Called when a process is started. */
  controlPlane: () => string;
  /** Serves the direct connection to its agent. Without it the agent connects over the network, as others do. */
  serveLine?: ((socket: Duplex) => void) | undefined;
  /** PEM file of the authority that signed the service's certificate. Empty without TLS. */
  tlsCa?: string;
  /** The user that runs author code. Without one it is the user of the agent. */
  taskUser?: TaskUser | undefined;
  /** `executor.isolation`. Without it, the agent's own default. */
  isolation?: 'together' | 'apart';
  /** Variables that the operator sets for every task. */
  taskSettings?: TaskSettings;
  /** Given when there are several executors: true for a task of this one. */
  mayRun?: (next: NextInstance) => boolean;
  /** The row of its worker, for people. */
  row?: (running: () => number) => LocalWorkerRow;
  /** The directories in which runs stage files. */
  staging?: StagingFolders;
  /** What the agent inherits, except for the control plane's own settings. */
  env: Readonly<Record<string, string | undefined>>;
  log: AgentLog;
};

type Worker = { id: string; announced: AnnouncedWorker; process: AgentProcess; startedAt: number };

const PAUSES = { firstMs: 100, longestMs: 10_000 };
/** After a process has lived this long, the next one is started at once. */
const STEADY_MS = 30_000;
const STOP_PATIENCE_MS = 15_000;
/**
 * Active attempts of a run above which the worker is saturated: each processor then has several more to continue with.
 */
const CROWD = 4 * availableParallelism();

export function createSubprocessExecutor(options: SubprocessExecutorOptions): ManagedExecutor {
  const { service, credentials, attempts, parallelism, log } = options;
  const listeners: (() => void)[] = [];
  let worker: Worker | undefined;
  const closing = new AbortController();
  const isClosing = (): boolean => closing.signal.aborted;
  const pauseFor = (ms: number): Promise<void> => sleep(ms, undefined, { signal: closing.signal }).catch(() => {});

  const { staging } = options;
  if (staging) service.stageFilesWith(staging.ensure);

  const tellCapacity = (): void => listeners.forEach((listener) => listener());

  const given = createWorkerAttempts({ service, credentials, attempts, onRoom: tellCapacity, log });
  const row = options.row?.(() => given.all().filter(({ kind }) => kind === 'task').length);

  async function run(): Promise<void> {
    const pauses = createBackoff(PAUSES);
    while (!isClosing()) {
      const current = await launch();
      if (!current) return;
      const how = await current.process.ended;
      worker = undefined;
      current.announced.dismiss();
      void row?.ended(how);
      if (!isClosing())
        log.error({ code: 'SVC3002', agent: current.process.pid, how }, 'the agent has ended: it is started again');
      await failInFlight(current, how);
      if (Date.now() - current.startedAt > STEADY_MS) pauses.reset();
      await pauseFor(pauses.next());
    }
  }

  /** Returns undefined when the executor was closed in the meantime, because no code would end the process. */
  async function launch(): Promise<Worker | undefined> {
    const id = randomUUID();
    const token = await credentials.issueWorker(id);
    if (isClosing()) return undefined;
    const announced = service.workers.announce(id, {
      connected(info) {
        row?.connected(id, info);
        given.connected(id);
        given.giveWaiting(id); // accepted between two processes
        tellCapacity();
      },
      disconnected() {
        log.warn({ code: 'SVC3003', worker: id }, 'the agent is not connected');
        row?.disconnected(id);
      },
      isCrowded: (ofRun) => given.of(id).filter((one) => one.run === ofRun).length > CROWD,
      ...(options.mayRun && { mayRun: options.mayRun }),
    });
    const settings = {
      ...options.taskSettings,
      SVC_AGENT_TOKEN: token,
      SVC_AGENT_CONTROL_PLANE_ADDR: options.controlPlane(),
      [WORKER_VARIABLE]: id,
      ...(options.tlsCa && { SVC_AGENT_TLS_CA: options.tlsCa }),
      ...(options.isolation && { SVC_AGENT_ISOLATION: options.isolation }),
      ...(options.taskUser && { [TASK_USER_VARIABLE]: JSON.stringify(options.taskUser) }),
    };
    given.add(id, { announced, hostname });
    worker = { id, announced, process: startAgentProcess({ ...options, settings }), startedAt: Date.now() };
    return worker;
  }

  /**
   * The attempts of a dead process have failed, or never began. None of its processes may still run when that is
   * reported.
   */
  async function failInFlight({ id }: Worker, how: string): Promise<void> {
    const lost = given.remove(id);
    const left = await endMarkedProcesses(WORKER_VARIABLE, id, options.taskUser);
    if (left.length > 0)
      log.error({ code: 'SVC3004', processes: left }, 'processes of a dead agent could not be ended');
    given.lose(lost, { cause: 'agent_lost', text: `the agent has ended: ${how}` });
    tellCapacity();
  }

  function freeSlots(): number {
    if (!worker?.announced.isConnected() || isClosing()) return 0;
    given.forgetSilent();
    const taken = given.all().filter(({ kind }) => kind !== 'triggerer').length;
    return Math.max(parallelism - taken, 0);
  }

  function accept(identity: OrderedIdentity): void {
    if (identity.kind === 'task') row?.served();
    given.accept(identity, worker?.id);
  }

  return {
    capacity: freeSlots,
    peers: row && { ownFree: freeSlots, othersFree: row.othersFree },
    dispatch(claimed) {
      for (const attempt of claimed) accept(orderedTask(attempt));
    },
    readyWorker() {
      const ready = worker;
      if (!ready?.announced.isConnected() || isClosing()) return undefined;
      return {
        hostname: hostname(),
        readStartFacts: service.readStartFacts,
        async order(claimed, started) {
          const order = (attempt: Attempt): Promise<void> => {
            row?.served();
            return given.acceptAhead(orderedTask(attempt), ready.id, started);
          };
          await Promise.all(claimed.map(order));
        },
      };
    },
    adopt(attempt) {
      if (!given.has(attempt.attemptId)) row?.served();
      given.adopt(orderedTask(attempt), worker?.id);
    },
    dispatchCallbacks(callbacks: readonly CallbackJob[]) {
      for (const callback of callbacks) accept(callbackIdentity(callback));
    },
    triggererPer: 'environment',
    dispatchTriggerers(jobs: readonly TriggererJob[]) {
      for (const job of jobs) accept(triggererIdentity(job));
    },
    cancelTriggerers: given.cancel,
    holds: () => given.all().filter(({ kind }) => kind === 'task'),
    cancel: given.cancel,
    testConnection: createConnectionTester(options),
    isConnected: () => worker?.announced.isConnected() ?? false,
    onCapacity: (listener) => void listeners.push(listener),
    start() {
      staging?.start();
      void run();
    },
    async close(how) {
      closing.abort();
      given.close();
      await staging?.stop();
      await row?.ended('the control plane has stopped');
      const last = worker;
      if (!last) return;
      if (how === 'leave') return last.process.release();
      last.process.closeInput();
      last.process.signal('SIGTERM');
      const late = sleep(STOP_PATIENCE_MS).then(() => last.process.signal('SIGKILL'));
      await Promise.race([last.process.ended, late]);
      await last.process.ended;
    },
  };
}

/** Returns the address of a listener as a process on the same machine reaches it. */
export function reachableAddress({ host, port }: { host: string; port: number }): string {
  if (host === '0.0.0.0') return `127.0.0.1:${port}`;
  if (host === '::') return `[::1]:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host || hostname()}:${port}`;
}
