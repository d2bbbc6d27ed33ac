/**
 * The attempts that workers with a stream have been given, from the order to the end. For every executor whose workers
 * run many attempts: one process of this machine, pods of a pool, machines that have joined.
 *
 *   accept ─▶ given to a worker ─▶ it asks to start ─▶ ended      acceptAhead: its start is written at the same time
 *                 ▲      │ the stream breaks before that: sent again when it is back
 *                 └──────┘
 *   the worker is gone ─▶ what it was running is lost, what it had not started never began
 *
 * Orders have no acknowledgement. Those of attempts that have not started are therefore sent again when the stream is
 * back. The agent recognises an attempt that it has been given before.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackoff } from '@svc/spec/backoff.ts';
import type { AgentService } from '../agents/agent-service.ts';
import { assignmentOf } from '../agents/assignment.ts';
import type { AgentLog } from '../agents/collaborators.ts';
import type { AgentCredentials, AttemptIdentity } from '../agents/credentials.ts';
import type { AnnouncedWorker } from '../agents/workers/worker-hub.ts';
import type { Attempt, Attempts, Failure, StartedAhead } from '../engine/shared/attempts.ts';

export type WorkerAttemptsOptions = {
  service: Pick<AgentService, 'observe' | 'startEarly'>;
  credentials: Pick<AgentCredentials, 'issueAttempt'>;
  attempts: Pick<Attempts, 'lost' | 'triggererLost'>;
  /** Called when an attempt is over or lost, so that its worker has room. Undefined: it had no worker. */
  onRoom: (workerId: string | undefined, attemptId: string) => void;
  /** Called when a worker says, with the end of an attempt, that it takes no more. That end is not recorded yet. */
  onLeaving?: (workerId: string, reason: string) => void;
  log: AgentLog;
};

export type OrderedIdentity = Omit<AttemptIdentity, 'issuedAt'>;

/** A worker that receives orders. `hostname` comes from the agent, and is known after it has connected. */
type OrderedWorker = { announced: AnnouncedWorker; hostname: () => string };

/**
 * `seenAt`: when it was dispatched, started, last named by a heartbeat, or first cancelled. `startedAhead`: set while
 * another transaction writes the start.
 */
type InFlight = {
  identity: OrderedIdentity;
  workerId: string | undefined;
  isStarted: boolean;
  isCancelled: boolean;
  seenAt: number;
  startedAhead?: Promise<StartedAhead> | undefined;
};

export type WorkerAttempts = {
  /** Adds a worker that may get orders. `giveWaiting` gives it the attempts that were accepted without one. */
  add(workerId: string, worker: OrderedWorker): void;
  /** Called when its stream is open, perhaps again. Sends orders that it may have missed, with new credentials. */
  connected(workerId: string): void;
  /** Gives it the attempts that no worker has been given. */
  giveWaiting(workerId: string): void;
  /** Sends it no more orders. Returns its attempts: the caller must report each as lost, or wait for its end. */
  remove(workerId: string): readonly string[];
  /** Accepts an attempt for this worker. Undefined: for the next one that connects. */
  accept(identity: OrderedIdentity, workerId: string | undefined): void;
  /**
   * Accepts an attempt whose start is being written; `started` says whether it runs. Resolves when the order is on the
   * wire.
   */
  acceptAhead(identity: OrderedIdentity, workerId: string, started: Promise<StartedAhead>): Promise<void>;
  /** Adds an attempt that the worker runs already: it was handed over with an end, or the worker reports it. */
  adopt(identity: OrderedIdentity, workerId: string | undefined): void;
  /** Reports those that have not ended as lost. A callback that was under way counts as called. */
  lose(attemptIds: readonly string[], failure: Failure): void;
  /** Cancels those that are here. */
  cancel(attemptIds: readonly string[]): void;
  /** Removes the attempt without a report. */
  drop(attemptId: string): boolean;
  has(attemptId: string): boolean;
  workerOf(attemptId: string): string | undefined;
  /** Unfinished attempts assigned to this worker. */
  of(workerId: string): readonly OrderedIdentity[];
  all(): readonly OrderedIdentity[];
  /** Does what time causes: an attempt that is silent for too long occupies no slot, whatever happened to it. */
  forgetSilent(): void;
  close(): void;
};

const PAUSES = { firstMs: 100, longestMs: 10_000 };
/** How long a connected worker may be silent about an attempt … */
const FORGOTTEN_MS = 5 * 60_000;
/** … and about a cancelled one: its worker ends it within seconds and reports it, unless it never got the order. */
const CANCELLED_MS = 30_000;

export const orderedTask = ({ queue: _queue, executor: _executor, ...attempt }: Attempt): OrderedIdentity => ({
  kind: 'task',
  ...attempt,
});

export function createWorkerAttempts(options: WorkerAttemptsOptions): WorkerAttempts {
  const { service, credentials, attempts, onRoom, log } = options;
  const inFlight = new Map<string, InFlight>();
  const workers = new Map<string, OrderedWorker>();
  const closing = new AbortController();

  service.observe({
    started(attemptId) {
      const known = inFlight.get(attemptId);
      if (known) Object.assign(known, { isStarted: true, seenAt: Date.now() });
    },
    alive(attemptId) {
      const known = inFlight.get(attemptId);
      if (known) known.seenAt = Date.now();
    },
    ended: (attemptId) => void release(attemptId),
    workerLeaves(attemptId, reason) {
      const workerId = inFlight.get(attemptId)?.workerId;
      if (workerId !== undefined) options.onLeaving?.(workerId, reason);
    },
  });

  function release(attemptId: string): InFlight | undefined {
    const known = inFlight.get(attemptId);
    if (!known) return undefined;
    inFlight.delete(attemptId);
    onRoom(known.workerId, attemptId);
    return known;
  }

  async function give(attemptId: string): Promise<void> {
    const known = inFlight.get(attemptId);
    const worker = known?.workerId === undefined ? undefined : workers.get(known.workerId);
    if (!known || !worker?.announced.isConnected()) return; // sent when it connects
    const token = await credentials.issueAttempt(known.identity);
    if (!worker.announced.send({ assignment: assignmentOf(known.identity, token) })) return;
    if (known.identity.kind !== 'task') return;
    service.startEarly(known.identity, { hostname: worker.hostname(), started: known.startedAhead });
  }

  async function tellLost(ref: OrderedIdentity, failure: Failure, hasBegun: boolean): Promise<void> {
    const pauses = createBackoff(PAUSES);
    while (!closing.signal.aborted) {
      try {
        if (ref.kind === 'triggerer') return await attempts.triggererLost(ref, failure.text ?? failure.cause);
        return await attempts.lost(ref, failure, { hasBegun });
      } catch (error) {
        log.warn(
          { code: 'SVC3001', err: error, attempt: ref.attemptId },
          'a lost attempt could not be recorded: tried again',
        );
        await sleep(pauses.next(), undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  const entriesOf = (workerId: string): [string, InFlight][] =>
    [...inFlight].filter(([, known]) => known.workerId === workerId);

  return {
    add: (workerId, worker) => void workers.set(workerId, worker),
    connected(workerId) {
      for (const [attemptId, known] of entriesOf(workerId)) {
        known.seenAt = Date.now();
        if (!known.isStarted) void give(attemptId);
      }
    },
    giveWaiting(workerId) {
      for (const [attemptId, known] of inFlight) {
        if (known.workerId !== undefined) continue;
        known.workerId = workerId;
        known.seenAt = Date.now();
        if (!known.isStarted) void give(attemptId);
      }
    },
    remove(workerId) {
      workers.delete(workerId);
      return entriesOf(workerId).map(([attemptId]) => attemptId);
    },
    accept(identity, workerId) {
      inFlight.set(identity.attemptId, fresh(identity, workerId, false));
      void give(identity.attemptId);
    },
    async acceptAhead(identity, workerId, started) {
      const known: InFlight = { ...fresh(identity, workerId, false), startedAhead: started };
      inFlight.set(identity.attemptId, known);
      void started.then((ones) => {
        known.startedAhead = undefined; // from now on the database has the result
        const isGone = inFlight.get(identity.attemptId) !== known;
        // Its worker was given up before the attempt was stored. It cannot have begun, because no start was answered.
        if (isGone && ones?.has(identity.attemptId)) void tellLost(identity, GONE_AHEAD, false);
      });
      await give(identity.attemptId);
    },
    adopt(identity, workerId) {
      inFlight.set(identity.attemptId, fresh(identity, workerId, true));
    },
    lose(attemptIds, failure) {
      for (const attemptId of attemptIds) {
        const known = release(attemptId);
        if (!known || known.identity.kind === 'callback') continue;
        // Without an answer to its start, the attempt cannot have begun.
        void tellLost(known.identity, failure, known.isStarted);
      }
    },
    cancel(attemptIds) {
      const ours = attemptIds.filter((id) => inFlight.has(id));
      for (const id of ours) {
        const known = inFlight.get(id);
        if (known && !known.isCancelled) Object.assign(known, { isCancelled: true, seenAt: Date.now() });
      }
      const byWorker = Map.groupBy(ours, (id) => inFlight.get(id)?.workerId);
      for (const [workerId, ids] of byWorker) {
        const worker = workerId === undefined ? undefined : workers.get(workerId);
        worker?.announced.send({ cancel: { attempt_ids: ids, reason: 'cancelled' } });
      }
    },
    drop: (attemptId) => inFlight.delete(attemptId),
    has: (attemptId) => inFlight.has(attemptId),
    workerOf: (attemptId) => inFlight.get(attemptId)?.workerId,
    of: (workerId) => entriesOf(workerId).map(([, { identity }]) => identity),
    all: () => [...inFlight.values()].map(({ identity }) => identity),
    forgetSilent() {
      for (const [attemptId, { seenAt, isCancelled }] of inFlight) {
        if (Date.now() - seenAt > (isCancelled ? CANCELLED_MS : FORGOTTEN_MS)) inFlight.delete(attemptId);
      }
    },
    close: () => closing.abort(),
  };
}

const GONE_AHEAD: Failure = { cause: 'agent_lost', text: 'its worker has ended before it could start' };

const fresh = (identity: OrderedIdentity, workerId: string | undefined, isStarted: boolean): InFlight => ({
  identity,
  workerId,
  isStarted,
  isCancelled: false,
  seenAt: Date.now(),
});
