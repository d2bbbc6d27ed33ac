/**
 * Runs attempts on this machine: one `svc-agent work` process, given its orders over the agent RPC.
 *
 *   stopped ──start──▶ starting ──it connects──▶ connected ──stream breaks──▶ starting (the process lives, and comes back)
 *                          ▲                         │
 *                          └──── pause, growing ◀────┴── the process ends: its attempts are lost, told at once
 *
 * An order travels without an acknowledgement, so those of attempts that have not started are sent again when the stream
 * comes back; the agent knows an attempt it has been given before.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackoff } from '@svc/spec/backoff.ts';
import { WORKER_VARIABLE, endMarkedProcesses } from '@svc/proto/marked-processes.ts';
import { TASK_USER_VARIABLE } from '@svc/proto/task-user.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { AgentService } from '../agents/agent-service.ts';
import { assignmentOf } from '../agents/assignment.ts';
import type { AgentLog } from '../agents/collaborators.ts';
import type { AgentCredentials, AttemptIdentity } from '../agents/credentials.ts';
import type { AnnouncedWorker } from '../agents/worker-hub.ts';
import type { CallbackJob, ManagedExecutor, TriggererJob } from '../engine/executor.ts';
import type { Attempt, Attempts } from '../engine/shared/attempts.ts';
import { callbackIdentity } from './callback-identity.ts';
import { triggererIdentity } from './triggerer-identity.ts';
import { createConnectionTester } from './connection-test.ts';
import { startAgentProcess } from './agent-process.ts';
import type { AgentProcess } from './agent-process.ts';
import type { StagingFolders } from './staging-folders.ts';
import type { TaskSettings } from './task-settings.ts';

export type SubprocessExecutorOptions = {
  service: Pick<AgentService, 'workers' | 'observe' | 'startEarly' | 'stageFilesWith'>;
  credentials: AgentCredentials;
  attempts: Pick<Attempts, 'lost' | 'triggererLost'>;
  /** `executor.agent_path`. */
  agentPath: string;
  /** `executor.subprocess_workdir`; empty keeps ours. */
  workdir: string;
  /** `executor.parallelism`. */
  parallelism: number;
  /** Where the agent reaches the service: `host:port`. Asked when a process is started. */
  controlPlane: () => string;
  /** PEM file of the authority that signed the service's certificate; empty without TLS. */
  tlsCa?: string;
  /** As whom the agent runs author code; without one, as itself. */
  taskUser?: TaskUser | undefined;
  /** Variables the operator sets for every task. */
  taskSettings?: TaskSettings;
  /** Where runs stage files. */
  staging?: StagingFolders;
  /** What the agent inherits, but for the control plane's own settings. */
  env: Readonly<Record<string, string | undefined>>;
  log: AgentLog;
};

type Identity = Omit<AttemptIdentity, 'issuedAt'>;

/** `seenAt`: when it was dispatched, started, or last named by a heartbeat. */
type InFlight = { identity: Identity; isStarted: boolean; seenAt: number };

type Worker = { id: string; announced: AnnouncedWorker; process: AgentProcess; startedAt: number };

const PAUSES = { firstMs: 100, longestMs: 10_000 };
/** A process that lived this long was fine: the next one is started at once. */
const STEADY_MS = 30_000;
const STOP_PATIENCE_MS = 15_000;
/** An attempt of which a connected agent has reported nothing for so long holds no slot any more, whatever became of it. */
const FORGOTTEN_MS = 5 * 60_000;

export function createSubprocessExecutor(options: SubprocessExecutorOptions): ManagedExecutor {
  const { service, credentials, attempts, parallelism, log } = options;
  const inFlight = new Map<string, InFlight>();
  const listeners: (() => void)[] = [];
  let worker: Worker | undefined;
  const closing = new AbortController();
  const isClosing = (): boolean => closing.signal.aborted;
  const pauseFor = (ms: number): Promise<void> => sleep(ms, undefined, { signal: closing.signal }).catch(() => {});

  const { staging } = options;
  if (staging) service.stageFilesWith(staging.ensure);

  const tellCapacity = (): void => listeners.forEach((listener) => listener());

  service.observe({
    started(attemptId) {
      const known = inFlight.get(attemptId);
      if (known) Object.assign(known, { isStarted: true, seenAt: Date.now() });
    },
    alive(attemptId) {
      const known = inFlight.get(attemptId);
      if (known) known.seenAt = Date.now();
    },
    ended(attemptId) {
      if (inFlight.delete(attemptId)) tellCapacity();
    },
  });

  async function run(): Promise<void> {
    const pauses = createBackoff(PAUSES);
    while (!isClosing()) {
      const current = await launch();
      if (!current) return;
      const how = await current.process.ended;
      worker = undefined;
      current.announced.dismiss();
      if (!isClosing()) log.error({ agent: current.process.pid, how }, 'the agent has ended: it is started again');
      await failInFlight(current, how);
      if (Date.now() - current.startedAt > STEADY_MS) pauses.reset();
      await pauseFor(pauses.next());
    }
  }

  /** Undefined when it was closed meanwhile: nobody would be left to end the process. */
  async function launch(): Promise<Worker | undefined> {
    const id = randomUUID();
    const token = await credentials.issueWorker(id);
    if (isClosing()) return undefined;
    const announced = service.workers.announce(id, {
      connected() {
        // With fresh credentials: the first ones may have waited for long.
        for (const [attemptId, known] of inFlight) {
          known.seenAt = Date.now();
          if (!known.isStarted) void give(attemptId);
        }
        tellCapacity();
      },
      disconnected: () => log.warn({ worker: id }, 'the agent is not connected'),
    });
    const settings = {
      ...options.taskSettings,
      SVC_AGENT_TOKEN: token,
      SVC_AGENT_CONTROL_PLANE_ADDR: options.controlPlane(),
      [WORKER_VARIABLE]: id,
      ...(options.tlsCa && { SVC_AGENT_TLS_CA: options.tlsCa }),
      ...(options.taskUser && { [TASK_USER_VARIABLE]: JSON.stringify(options.taskUser) }),
    };
    worker = { id, announced, process: startAgentProcess({ ...options, settings }), startedAt: Date.now() };
    return worker;
  }

  /** What a dead process was running has failed, or was never begun. Nothing of it may run on when that is told. */
  async function failInFlight({ id }: Worker, how: string): Promise<void> {
    const lost = [...inFlight];
    const left = await endMarkedProcesses(WORKER_VARIABLE, id, options.taskUser);
    if (left.length > 0) log.error({ processes: left }, 'processes of a dead agent could not be ended');
    for (const [attemptId, { identity, isStarted }] of lost) {
      // A callback that was under way has been called, as far as anybody can know.
      if (!inFlight.delete(attemptId) || identity.kind === 'callback') continue;
      // What the agent did not ask for it was not given, and so cannot have begun.
      void tellLost(identity, { text: `the agent has ended: ${how}`, hasBegun: isStarted });
    }
    tellCapacity();
  }

  async function tellLost(ref: Identity, { text, hasBegun }: { text: string; hasBegun: boolean }): Promise<void> {
    const pauses = createBackoff(PAUSES);
    while (!isClosing()) {
      try {
        if (ref.kind === 'triggerer') return await attempts.triggererLost(ref, text);
        return await attempts.lost(ref, { cause: 'agent_lost', text }, { hasBegun });
      } catch (error) {
        log.warn({ err: error, attempt: ref.attemptId }, 'a lost attempt could not be recorded: tried again');
        await pauseFor(pauses.next());
      }
    }
  }

  function accept(identity: Identity): void {
    inFlight.set(identity.attemptId, { identity, isStarted: false, seenAt: Date.now() });
    void give(identity.attemptId);
  }

  async function give(attemptId: string): Promise<void> {
    const known = inFlight.get(attemptId);
    if (!known || !worker?.announced.isConnected()) return; // sent when it connects
    const token = await credentials.issueAttempt(known.identity);
    if (!worker?.announced.send({ assignment: assignmentOf(known.identity, token) })) return;
    if (known.identity.kind === 'task') service.startEarly(known.identity, { hostname: hostname() });
  }

  function freeSlots(): number {
    if (!worker?.announced.isConnected() || isClosing()) return 0;
    for (const [attemptId, { seenAt }] of inFlight) {
      if (Date.now() - seenAt > FORGOTTEN_MS) inFlight.delete(attemptId);
    }
    const triggerers = [...inFlight.values()].filter(({ identity }) => identity.kind === 'triggerer').length;
    return Math.max(parallelism - (inFlight.size - triggerers), 0);
  }

  function cancel(attemptIds: readonly string[]): void {
    const ours = attemptIds.filter((id) => inFlight.has(id));
    if (ours.length > 0) worker?.announced.send({ cancel: { attempt_ids: ours, reason: 'cancelled' } });
  }

  return {
    capacity: freeSlots,
    dispatch(claimed: readonly Attempt[]) {
      for (const { queue: _queue, ...attempt } of claimed) accept({ kind: 'task', ...attempt });
    },
    adopt({ queue: _queue, ...attempt }) {
      const identity: Identity = { kind: 'task', ...attempt };
      inFlight.set(attempt.attemptId, { identity, isStarted: true, seenAt: Date.now() });
    },
    dispatchCallbacks(callbacks: readonly CallbackJob[]) {
      for (const callback of callbacks) accept(callbackIdentity(callback));
    },
    triggererPer: 'environment',
    dispatchTriggerers(jobs: readonly TriggererJob[]) {
      for (const job of jobs) accept(triggererIdentity(job));
    },
    cancelTriggerers: cancel,
    holds: () => [...inFlight.values()].map(({ identity }) => identity).filter(({ kind }) => kind === 'task'),
    cancel,
    testConnection: createConnectionTester(options),
    isConnected: () => worker?.announced.isConnected() ?? false,
    onCapacity: (listener) => void listeners.push(listener),
    start() {
      staging?.start();
      void run();
    },
    async close(how) {
      closing.abort();
      await staging?.stop();
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

/** The address of a listener as a process on the same machine reaches it. */
export function reachableAddress({ host, port }: { host: string; port: number }): string {
  if (host === '0.0.0.0') return `127.0.0.1:${port}`;
  if (host === '::') return `[::1]:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host || hostname()}:${port}`;
}
