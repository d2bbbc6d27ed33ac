/**
 * The attempts that workers with a stream have been given, from the order to the end. For every executor whose workers run
 * many attempts: one process of this machine, pods of a pool, machines that have joined.
 *
 *   accept ─▶ given to a worker ─▶ it asks to start ─▶ ended      acceptAhead: its start is being written meanwhile
 *                 ▲      │ the stream breaks before that: sent again when it is back
 *                 └──────┘
 *   the worker is gone ─▶ what it was running is lost, what it had not begun was never begun
 *
 * An order travels without an acknowledgement, so those of attempts that have not started are sent again when the stream
 * comes back; the agent knows an attempt it has been given before.
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
  /** An attempt is over, or lost: its worker has room. Undefined: it had none. */
  onRoom: (workerId: string | undefined, attemptId: string) => void;
  /** A worker says, with the end of one of its attempts, that it takes no more. That end is not recorded yet. */
  onLeaving?: (workerId: string, reason: string) => void;
  log: AgentLog;
};

export type OrderedIdentity = Omit<AttemptIdentity, 'issuedAt'>;

/** A worker as orders go to it; `hostname` as the agent says it, known when it has connected. */
type OrderedWorker = { announced: AnnouncedWorker; hostname: () => string };

/**
 * `seenAt`: when it was dispatched, started, last named by a heartbeat, or first cancelled. `startedAhead`: while the start is
 * being written that somebody else makes.
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
  /** Orders may go to this worker. What has been accepted without one is sent when it connects, if `takesWaiting`. */
  add(workerId: string, worker: OrderedWorker): void;
  /** Its stream stands, perhaps again: what it may not have heard of is sent with fresh credentials. */
  connected(workerId: string): void;
  /** What nobody has been given yet goes to this worker. */
  giveWaiting(workerId: string): void;
  /** No more orders go to it. Answers with what it had; each is to be told lost, or is still to end by itself. */
  remove(workerId: string): readonly string[];
  /** To be run by this worker; undefined: by whoever comes. */
  accept(identity: OrderedIdentity, workerId: string | undefined): void;
  /** … and `started` says whether it runs. Resolves when the order is on its way. */
  acceptAhead(identity: OrderedIdentity, workerId: string, started: Promise<StartedAhead>): Promise<void>;
  /** The worker runs it already: it was handed over with the end of another, or the worker says so. */
  adopt(identity: OrderedIdentity, workerId: string | undefined): void;
  /** Of these, what has not ended meanwhile. A callback that was under way has been called, as far as anybody can know. */
  lose(attemptIds: readonly string[], failure: Failure): void;
  /** Only those that are here. True for each that was told to a worker. */
  cancel(attemptIds: readonly string[]): void;
  /** Not to be carried any more, and nobody is told. */
  drop(attemptId: string): boolean;
  has(attemptId: string): boolean;
  workerOf(attemptId: string): string | undefined;
  /** What the worker has been given and has not ended. */
  of(workerId: string): readonly OrderedIdentity[];
  all(): readonly OrderedIdentity[];
  /** What only time brings about: an attempt of which nothing is heard any more holds no slot, whatever became of it. */
  forgetSilent(): void;
  close(): void;
};

const PAUSES = { firstMs: 100, longestMs: 10_000 };
/** An attempt of which a connected worker has said nothing for so long … */
const FORGOTTEN_MS = 5 * 60_000;
/** … and one that was cancelled: its worker ends it within seconds and says so, unless it has never heard of it. */
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
        log.warn({ err: error, attempt: ref.attemptId }, 'a lost attempt could not be recorded: tried again');
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
        known.startedAhead = undefined; // from now on it is known to whoever asks the database
        const isGone = inFlight.get(identity.attemptId) !== known;
        // Its worker was given up before there was an attempt to give up. Nobody can have begun what nobody was answered.
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
        // What the agent did not ask for it was not given, and so cannot have begun.
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
