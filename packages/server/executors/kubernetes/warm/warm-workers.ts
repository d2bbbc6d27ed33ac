/**
 * The warm workers that this process knows: by their pods, which all processes see, and by the streams that it has.
 *
 * The process that gets the stream of a worker adopts it. The identity of a worker was signed when its pod exchanged
 * its token, and is compared with the annotations of the pod.
 */
import type { AgentService } from '../../../agents/agent-service.ts';
import type { NoteAttempt } from '../../../agents/attempt-notes.ts';
import type { AgentLog } from '../../../agents/collaborators.ts';
import type { WorkerScope } from '../../../agents/credentials.ts';
import { RpcError } from '../../../agents/rpc-errors.ts';
import type { WorkerInfo } from '../../../agents/workers/worker-hub.ts';
import type { NextInstance } from '../../../engine/shared/attempts.ts';
import type { WorkerAttempts } from '../../worker-attempts.ts';
import type { PodFailure } from '../pod-verdict.ts';
import type { SeenPod } from '../pod-watch.ts';
import { judgeSkew } from './version-skew.ts';
import { stateOf } from './warm-worker.ts';
import type { WarmState, WarmWorker } from './warm-worker.ts';
import { poolKey, warmWorkerOf, workerPodName } from './worker-identity.ts';
import type { WarmIdentity } from './worker-identity.ts';

type WarmWorkersOptions = {
  service: Pick<AgentService, 'workers'>;
  given: WorkerAttempts;
  podOf: (name: string) => SeenPod | undefined;
  /** True when all pods of the cluster are known. */
  hasSynced: () => boolean;
  startTimeoutMs: number;
  /** The version of svc of this process. */
  version: string;
  note: NoteAttempt;
  /** Called when its stream is open. */
  onConnected: (worker: WarmWorker, info: WorkerInfo) => void;
  /** Called when its pod is gone. */
  onGone: (worker: WarmWorker, why: string) => void;
  /** Called when its agent is too old, as are the agents of all pods of its image. */
  onRefused: (worker: WarmWorker, version: string) => void;
  takesNew: (worker: WarmWorker) => boolean;
  mayRun: (worker: WarmWorker, next: NextInstance) => boolean;
  log: AgentLog;
};

type WarmWorkers = {
  get(workerId: string): WarmWorker | undefined;
  ofPool(key: string): WarmWorker[];
  all(): WarmWorker[];
  running(worker: WarmWorker): number;
  state(worker: WarmWorker): WarmState;
  learn(identity: WarmIdentity, how: { isExpected: boolean; madeAt: number }): WarmWorker;
  /** Makes it take no more attempts and leave when it is idle. Returns false when it was drained before. */
  drain(worker: WarmWorker, why: string): boolean;
  /** Removes a worker whose pod is gone. What it ran is lost. */
  forget(worker: WarmWorker, failure: PodFailure): void;
  /** Removes a worker whose pod was never created. */
  unlearn(workerId: string): boolean;
};

/** A worker whose stream broke may continue at another process. After this time its attempts belong to that process. */
export const AWAY_MS = 60_000;

export function createWarmWorkers(options: WarmWorkersOptions): WarmWorkers {
  const { service, given, podOf, note, log } = options;
  const workers = new Map<string, WarmWorker>();
  service.workers.adoptWith(adopt);

  const running = ({ identity }: WarmWorker): number => given.of(identity.workerId).length;

  function learn(identity: WarmIdentity, how: { isExpected: boolean; madeAt: number }): WarmWorker {
    const known = workers.get(identity.workerId);
    if (known) return known;
    const worker: WarmWorker = {
      identity,
      pool: poolKey(identity),
      knownSince: Date.now(),
      ...how,
      announced: undefined,
      hostname: '',
      readyAt: undefined,
      // A worker that existed before this process lost its connection to the previous one, and connects here soon.
      lostContactAt: how.isExpected || options.hasSynced() ? undefined : Date.now(),
      served: 0,
      idleSince: Date.now(),
      isGiven: false,
      draining: '',
    };
    workers.set(identity.workerId, worker);
    return worker;
  }

  async function adopt(
    { workerId, scope }: { workerId: string; scope: WorkerScope },
    info: WorkerInfo,
  ): Promise<boolean> {
    if (scope.kind !== 'warm') return false;
    if (!options.hasSynced()) throw new RpcError('unavailable', 'the pods of this control plane are not known yet');
    const pod = podOf(workerPodName(workerId));
    const identity = warmWorkerOf(pod?.annotations);
    // The watch may not have reported its new pod yet. The worker asks again.
    if (!pod && !workers.has(workerId)) throw new RpcError('unavailable', 'the pod of this worker is not known yet');
    const madeAt = Date.parse(pod?.createdAt ?? '') || Date.now();
    const worker = workers.get(workerId) ?? (identity && learn(identity, { isExpected: false, madeAt }));
    if (!worker || !isOf(worker.identity, scope)) {
      throw new RpcError('denied', 'the pod of this worker is not what its credential says');
    }
    const skew = judgeSkew(options.version, info.version);
    if (skew === 'refuse') {
      options.onRefused(worker, info.version);
      throw new RpcError('denied', `svc ${options.version} takes no workers of svc ${info.version}: they are too old`);
    }
    if (skew === 'drain') worker.draining = `its agent (svc ${info.version}) is too new for svc ${options.version}`;
    announce(worker);
    return true;
  }

  function announce(worker: WarmWorker): void {
    const { workerId } = worker.identity;
    worker.announced = service.workers.announce(workerId, {
      connected(info) {
        Object.assign(worker, { hostname: info.hostname, lostContactAt: undefined, idleSince: Date.now() });
        worker.readyAt ??= Date.now();
        for (const { issuedAt: _issuedAt, expiresAt: _expiresAt, ...own } of info.running) {
          if (!given.has(own.attemptId)) given.adopt(own, workerId);
        }
        given.connected(workerId);
        if (worker.draining !== '') tellDrain(worker);
        options.onConnected(worker, info);
      },
      disconnected: () => void (worker.lostContactAt = Date.now()),
      takesNew: () => options.takesNew(worker),
      mayRun: (next) => options.mayRun(worker, next),
    });
    given.add(workerId, { announced: worker.announced, hostname: () => worker.hostname });
  }

  return {
    get: (workerId) => workers.get(workerId),
    ofPool: (key) => [...workers.values()].filter(({ pool }) => pool === key),
    all: () => [...workers.values()],
    running,
    state: (worker) => stateOf(worker, running(worker), options.startTimeoutMs),
    learn,
    drain(worker, why) {
      if (worker.draining !== '') return false;
      worker.draining = why;
      log.info({ worker: worker.identity.workerId, why }, 'a warm worker is drained');
      tellDrain(worker);
      return true;
    },
    forget(worker, failure) {
      const { workerId } = worker.identity;
      workers.delete(workerId);
      worker.announced?.dismiss();
      for (const identity of given.of(workerId)) {
        void note(identity, `The task was lost: ${failure.cause}: ${failure.text}`, 'error');
      }
      given.lose(given.remove(workerId), failure);
      options.onGone(worker, `${failure.cause}: ${failure.text}`);
    },
    unlearn: (workerId) => workers.delete(workerId),
  };
}

/** Sent again when its stream is back. */
function tellDrain({ announced, draining }: WarmWorker): void {
  announced?.send({ drain: { reason: draining } });
}

const isOf = (identity: WarmIdentity, scope: WorkerScope): boolean =>
  identity.tenantId === scope.tenantId &&
  identity.dagId === scope.dagId &&
  identity.versionNumber === scope.versionNumber &&
  identity.shape === scope.pool;
