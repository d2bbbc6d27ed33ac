/**
 * The remote workers whose streams this process has. The process that gets the stream of a worker adopts it; its
 * identity was signed when it joined. Its row (db/workers) is written every two seconds, and the answer contains
 * requests of people.
 *
 *   adopted ─▶ connected ─▶ stream breaks ─▶ comes back here, or to another process, which owns the row from then on
 *                  │                    └─▶ away for longer than a lease: lost. What it ran was silent for as long
 *                  └─▶ drained: told, ends what it runs, leaves: gone
 *                  └─▶ token revoked: dismissed, what it ran is lost
 */
import type { AgentService } from '../../agents/agent-service.ts';
import type { AgentLog } from '../../agents/collaborators.ts';
import type { WorkerScope } from '../../agents/credentials.ts';
import { RpcError } from '../../agents/rpc-errors.ts';
import type { AnnouncedWorker, WorkerInfo } from '../../agents/workers/worker-hub.ts';
import type { Database } from '../../db/database.ts';
import { isTokenLive } from '../../db/workers/worker-tokens.ts';
import { TOUCH_EVERY_MS, recordWorker, removeWorker, touchWorkers } from '../../db/workers/workers.ts';
import type { NewWorker, WorkerOrders, WorkerSign } from '../../db/workers/workers.ts';
import type { NextInstance } from '../../engine/shared/attempts.ts';
import type { WorkerAttempts } from '../worker-attempts.ts';
import { judgeSkew } from '../kubernetes/warm/version-skew.ts';

export type RemoteWorker = {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly queues: readonly string[];
  readonly slots: number;
  announced: AnnouncedWorker | undefined;
  hostname: string;
  /** Makes this process the owner of its row. */
  readonly record: () => Promise<void>;
  /** When one of its attempts last had a heartbeat. */
  heardAt: number;
  /** Since when it has no stream. */
  awaySince: number | undefined;
  served: number;
  /** Why it takes no more attempts; empty while it does. */
  draining: string;
};

export type RemoteWorkersOptions = {
  db: Database;
  processId: string;
  service: Pick<AgentService, 'workers' | 'observe'>;
  given: WorkerAttempts;
  /** After this silence, other workers have its attempts. */
  leaseMs: number;
  /** The version of svc of this process. */
  version: string;
  mayRun: (next: NextInstance) => boolean;
  /** Called when there may be room. */
  onRoom: () => void;
  log: AgentLog;
};

export type RemoteWorkers = {
  all(): readonly RemoteWorker[];
  /** Returns the workers that take attempts now, and how many. */
  withRoom(): readonly { worker: RemoteWorker; free: number }[];
  start(): void;
  close(): Promise<void>;
};

export function createRemoteWorkers(options: RemoteWorkersOptions): RemoteWorkers {
  const { db, processId, service, given, log } = options;
  const workers = new Map<string, RemoteWorker>();
  let timer: NodeJS.Timeout | undefined;
  let touching: Promise<void> = Promise.resolve();
  service.workers.adoptWith(adopt);
  const hear = (attemptId: string): void => {
    const worker = workers.get(given.workerOf(attemptId) ?? '');
    if (worker) worker.heardAt = Date.now();
  };
  service.observe({
    started: hear,
    alive: hear,
    ended() {},
    workerLeaves(attemptId, reason) {
      const worker = workers.get(given.workerOf(attemptId) ?? '');
      if (worker) drain(worker, reason);
    },
  });

  const running = ({ id }: RemoteWorker): number => given.of(id).length;
  const takesNew = ({ announced, draining }: RemoteWorker): boolean =>
    announced?.isConnected() === true && draining === '';

  async function adopt(
    { workerId, scope }: { workerId: string; scope: WorkerScope },
    info: WorkerInfo,
  ): Promise<boolean> {
    const { kind, tenantId, name, queues, slots, tokenId } = scope;
    if (kind !== 'remote') return false;
    if (name === undefined || queues === undefined || slots === undefined || tokenId === undefined)
      throw new RpcError('denied', 'the credential of this worker says too little: join again');
    if (!(await isTokenLive(db.shared, { tenantId, id: tokenId })))
      throw new RpcError('denied', 'the token this worker joined with was revoked, or its tenant is disabled');
    const skew = judgeSkew(options.version, info.version);
    if (skew === 'refuse')
      throw new RpcError('denied', `svc ${options.version} takes no workers of svc ${info.version}: they are too old`);
    const draining = skew === 'drain' ? `its agent (svc ${info.version}) is too new for svc ${options.version}` : '';
    const worker: RemoteWorker = {
      id: workerId,
      tenantId,
      name,
      queues,
      slots,
      announced: undefined,
      hostname: info.hostname,
      record: () => recordWorker(db, row),
      heardAt: 0,
      awaySince: undefined,
      served: 0,
      draining,
    };
    const row: NewWorker = {
      id: workerId,
      tenantId,
      kind: 'remote',
      name,
      pool: scope.pool,
      queues,
      tokenId,
      hostname: info.hostname,
      pid: info.pid,
      agentVersion: info.version,
      state: draining === '' ? 'idle' : 'draining',
      slots,
      owner: processId,
    };
    await worker.record();
    workers.set(workerId, worker);
    announce(worker);
    return true;
  }

  function announce(worker: RemoteWorker): void {
    worker.announced = service.workers.announce(worker.id, {
      connected(info) {
        Object.assign(worker, { hostname: info.hostname, awaySince: undefined });
        for (const { issuedAt: _issuedAt, expiresAt: _expiresAt, ...own } of info.running) {
          if (!given.has(own.attemptId)) given.adopt(own, worker.id);
        }
        given.connected(worker.id);
        if (worker.draining !== '') tellDrain(worker);
        void touchSoon();
        options.onRoom();
      },
      disconnected() {
        worker.awaySince = Date.now();
        log.warn({ code: 'SVC3005', worker: worker.id, name: worker.name }, 'a remote worker is not connected');
        void touchSoon();
      },
      shownAs: worker.name,
      takesNew: () => takesNew(worker),
      mayRun: (next) => next.tenantId === worker.tenantId && worker.queues.includes(next.queue) && options.mayRun(next),
    });
    given.add(worker.id, { announced: worker.announced, hostname: () => worker.name });
  }

  /** Forgets the worker without a report: its attempts end on their own, or were silent for a lease. */
  function forget(worker: RemoteWorker): void {
    workers.delete(worker.id);
    worker.announced?.dismiss();
    for (const attemptId of given.remove(worker.id)) given.drop(attemptId);
  }

  function signOf(worker: RemoteWorker): WorkerSign {
    const now = running(worker);
    const signed = { id: worker.id, running: now, attemptsServed: worker.served };
    // A drained worker has closed its stream and finishes its attempts.
    if (worker.draining !== '') return { ...signed, state: 'draining' };
    return { ...signed, state: worker.awaySince !== undefined ? 'lost' : now > 0 ? 'busy' : 'idle' };
  }

  function heed(worker: RemoteWorker, orders: WorkerOrders): void {
    if (orders.isRevoked) {
      const text = `the token of worker ${worker.name} was revoked, or its tenant is disabled`;
      log.warn({ code: 'SVC3006', worker: worker.id, name: worker.name }, text);
      workers.delete(worker.id);
      given.cancel(given.of(worker.id).map(({ attemptId }) => attemptId));
      worker.announced?.dismiss();
      given.lose(given.remove(worker.id), { cause: 'agent_lost', text });
      void end(worker, 'gone', text);
      return;
    }
    if (orders.drain) {
      const { by, why } = orders.drain;
      drain(worker, `drained by ${by}${why === '' ? '' : `: ${why}`}`);
    }
  }

  function drain(worker: RemoteWorker, why: string): void {
    if (worker.draining !== '') return;
    worker.draining = why;
    log.info({ worker: worker.id, name: worker.name, why }, 'a remote worker is drained');
    tellDrain(worker); // sent again when its stream is back
  }

  const end = (worker: RemoteWorker, state: 'gone' | 'lost', why: string): Promise<void> =>
    removeWorker(db, { id: worker.id, owner: processId, state, why }).catch((error: unknown) =>
      log.warn({ code: 'SVC3007', err: error, worker: worker.id }, 'could not save the end of a worker'),
    );

  async function touch(): Promise<void> {
    const all = [...workers.values()];
    const orders = new Map((await touchWorkers(db, processId, all.map(signOf))).map((order) => [order.id, order]));
    for (const worker of all) {
      if (workers.get(worker.id) !== worker) continue;
      const order = orders.get(worker.id);
      if (!order) {
        if (worker.awaySince !== undefined) forget(worker); // another process has its stream
        else await worker.record(); // it was connected elsewhere, and is back
        continue;
      }
      heed(worker, order);
      if (worker.awaySince === undefined) continue;
      // A drained worker without running attempts has left.
      if (worker.draining !== '' && running(worker) === 0) {
        forget(worker);
        await end(worker, 'gone', worker.draining);
      } else if (Date.now() - Math.max(worker.awaySince, worker.heardAt) > options.leaseMs) {
        const isIdle = running(worker) === 0;
        forget(worker);
        await end(worker, isIdle ? 'gone' : 'lost', isIdle ? 'it has closed its stream' : 'nothing was heard of it');
      }
    }
  }

  /** Runs once at a time. */
  function touchSoon(): Promise<void> {
    touching = touching
      .then(touch)
      .catch((error: unknown) => log.warn({ code: 'SVC3008', err: error }, 'could not save worker heartbeats'));
    return touching;
  }

  return {
    all: () => [...workers.values()],
    withRoom: () =>
      [...workers.values()].filter(takesNew).map((worker) => ({ worker, free: worker.slots - running(worker) })),
    start() {
      timer = setInterval(() => void touchSoon(), TOUCH_EVERY_MS);
      timer.unref();
    },
    async close() {
      clearInterval(timer);
      await touching;
    },
  };
}

const tellDrain = ({ announced, draining }: RemoteWorker): void =>
  void announced?.send({ drain: { reason: draining } });
