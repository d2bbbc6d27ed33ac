/**
 * The warm workers that this process knows: by their pods, which all processes see, and by the streams that it holds.
 *
 * A worker is adopted by whoever gets its stream. Who it is was signed when its pod exchanged its token, and is compared with
 * what the pod says.
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
  /** Is everything known that the cluster has? */
  hasSynced: () => boolean;
  startTimeoutMs: number;
  /** Of svc, here. */
  version: string;
  note: NoteAttempt;
  /** Its stream stands. */
  onConnected: (worker: WarmWorker, info: WorkerInfo) => void;
  /** Its pod is no more. */
  onGone: (worker: WarmWorker, why: string) => void;
  /** Its agent is too old to be understood, and so are those of all pods of its image. */
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
  /** It takes no more, and leaves when it is idle. False: it was asked before. */
  drain(worker: WarmWorker, why: string): boolean;
  /** Its pod is no more: what it ran is lost. */
  forget(worker: WarmWorker, failure: PodFailure): void;
  /** One whose pod was never made. */
  unlearn(workerId: string): boolean;
};

/** A worker whose stream broke may go on at another process: after so long what it was given is that one's. */
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
      // One that was there before us lost contact with the process before us, and comes here in a moment.
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
    // Its pod may be so new that the watch has not told of it: it asks again.
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

/** Told again when its stream comes back. */
function tellDrain({ announced, draining }: WarmWorker): void {
  announced?.send({ drain: { reason: draining } });
}

const isOf = (identity: WarmIdentity, scope: WorkerScope): boolean =>
  identity.tenantId === scope.tenantId &&
  identity.dagId === scope.dagId &&
  identity.versionNumber === scope.versionNumber &&
  identity.shape === scope.pool;
