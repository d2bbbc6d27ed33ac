/**
 * Runs attempts on workers of other hosts. A worker serves queues of one tenant. Each queue is a lane of its own, so
 * one that is full or has no workers delays no other. The process that has the stream of a worker claims for it.
 */
import type { ManagedExecutor } from '../../engine/executor.ts';
import type { Attempt, AttemptRef, Attempts, Failure } from '../../engine/shared/attempts.ts';
import { remoteLane } from '../../engine/shared/lanes.ts';
import type { Lanes, Routed, Routing } from '../../engine/shared/lanes.ts';
import { createJoinSide } from '../../agents/workers/join.ts';
import { createWorkerAttempts, orderedTask } from '../worker-attempts.ts';
import type { WorkerAttemptsOptions } from '../worker-attempts.ts';
import { createRemoteWorkers } from './remote-workers.ts';
import type { RemoteWorker, RemoteWorkersOptions } from './remote-workers.ts';
import type { AgentService } from '../../agents/agent-service.ts';
import type { AgentCredentials } from '../../agents/credentials.ts';

export type RemoteExecutorOptions = Omit<RemoteWorkersOptions, 'given' | 'onRoom' | 'service'> & {
  service: WorkerAttemptsOptions['service'] & Pick<AgentService, 'workers' | 'joinWith' | 'refuseStagingWith'>;
  credentials: AgentCredentials;
  attempts: Pick<Attempts, 'lost' | 'triggererLost'>;
  routing: Routing;
  /** True when the listener for agents uses TLS. */
  hasTls: boolean;
};

/** How many lost workers are remembered, to explain why their attempts were silent. */
const REMEMBERED = 1_000;

export function createRemoteExecutor(options: RemoteExecutorOptions): ManagedExecutor {
  const { db, service, credentials, attempts, routing, log } = options;
  const listeners: (() => void)[] = [];
  const tellCapacity = (): void => listeners.forEach((listener) => listener());
  const given = createWorkerAttempts({ service, credentials, attempts, onRoom: tellCapacity, log });
  const workers = createRemoteWorkers({ ...options, given, onRoom: tellCapacity });
  /** The worker of each attempt. */
  const ranOn = new Map<string, string>();
  service.joinWith(createJoinSide({ db, credentials, hasTls: options.hasTls, log }));
  service.refuseStagingWith(({ attemptId }) => {
    if (!given.has(attemptId)) return;
    throw new Error(
      'the DAG stages files, and remote workers share no directory with others: pass values or an object store instead, or run the task with another executor',
    );
  });

  function lanes(): Lanes {
    const rooms = workers.withRoom().filter(({ free }) => free > 0);
    const roomFor = (task: Routed) => mostRoom(rooms.filter(({ worker }) => serves(worker, task)));
    return {
      ...routing,
      open: [...new Set(rooms.flatMap(({ worker }) => worker.queues.map((queue) => remoteLane({ ...worker, queue }))))],
      suits: (task) => roomFor(task) !== undefined,
      take(task) {
        const room = roomFor(task);
        if (room) room.free -= 1;
      },
    };
  }

  function remember(attemptId: string, worker: RemoteWorker): void {
    ranOn.set(attemptId, `worker ${worker.name} on ${worker.hostname}`);
    const [oldest] = ranOn.keys();
    if (ranOn.size > REMEMBERED && oldest !== undefined) ranOn.delete(oldest);
  }

  function place(attempt: Attempt): void {
    const { worker } = mostRoom(workers.withRoom().filter(({ worker: one }) => serves(one, attempt))) ?? {};
    if (!worker) {
      const text = `the workers of queue ${attempt.queue} went away before it was given to one`;
      attempts
        .lost(attempt, { cause: 'agent_lost', text }, { hasBegun: false })
        .catch((error: unknown) =>
          log.warn(
            { code: 'SVC3009', err: error, attempt: attempt.attemptId },
            'an attempt without a worker waits for its lease',
          ),
        );
      return;
    }
    worker.served += 1;
    remember(attempt.attemptId, worker);
    given.accept(orderedTask(attempt), worker.id);
  }

  return {
    capacity() {
      given.forgetSilent();
      return workers.withRoom().reduce((sum, { free }) => sum + Math.max(free, 0), 0);
    },
    lanes,
    dispatch: (claimed) => claimed.forEach(place),
    adopt(attempt, endedId) {
      const workerId = endedId === null ? undefined : given.workerOf(endedId);
      const worker = workers.all().find(({ id }) => id === workerId);
      if (!worker) return;
      if (!given.has(attempt.attemptId)) worker.served += 1;
      remember(attempt.attemptId, worker);
      given.adopt(orderedTask(attempt), worker.id);
    },
    holds: () => given.all(),
    cancel: given.cancel,
    explainSilence: ({ attemptId }: AttemptRef): Failure | undefined => {
      const where = ranOn.get(attemptId);
      return where === undefined ? undefined : { cause: 'agent_lost', text: `nothing was heard of ${where}` };
    },
    onCapacity: (listener) => void listeners.push(listener),
    // Work of the control plane itself: several.ts gives it to another executor, and the remote one is never alone.
    dispatchCallbacks: refuseOwnWork,
    triggererPer: 'environment',
    dispatchTriggerers: refuseOwnWork,
    cancelTriggerers: () => {},
    start: workers.start,
    isConnected: () => workers.withRoom().length > 0,
    async close() {
      given.close();
      await workers.close();
    },
  };
}

function refuseOwnWork(): never {
  throw new Error('unreachable: remote workers run tasks only');
}

const serves = ({ tenantId, queues }: RemoteWorker, task: Pick<Routed, 'tenantId' | 'queue'>): boolean =>
  tenantId === task.tenantId && queues.includes(task.queue);

/** Picks the worker with the most room, which spreads attempts. Undefined: there is no room. */
function mostRoom<Room extends { free: number }>(rooms: readonly Room[]): Room | undefined {
  return rooms.filter(({ free }) => free > 0).toSorted((a, b) => b.free - a.free)[0];
}
