/**
 * Pools of warm workers: pods that run one attempt after another, for tasks of one DAG version whose pods would be
 * alike.
 *
 *   offer ─▶ waits in its pool ─▶ given to an idle worker (worker-attempts.ts) ─▶ ended: the worker takes the next
 *               │ none is idle: the pool grows, for all that wait at once (pool-plan.ts)
 *               └ it may not grow: it waits, and people see the reason
 *
 * A worker belongs to the process that has its stream (warm-workers.ts). The cluster's view of all pods is the basis of
 * all counts, so that no two processes count differently. A dead process loses nothing: workers reconnect, and attempts
 * have leases.
 */
import { randomUUID } from 'node:crypto';
import type { WorkerInfo } from '../../../agents/workers/worker-hub.ts';
import type { Attempt } from '../../../engine/shared/attempts.ts';
import { createWorkerAttempts, orderedTask } from '../../worker-attempts.ts';
import type { OrderedIdentity } from '../../worker-attempts.ts';
import { OWNER } from '../pod-names.ts';
import type { CreateAnswer } from '../pod-requests.ts';
import { DELETED, judgePod, whyStopped } from '../pod-verdict.ts';
import type { PodFailure } from '../pod-verdict.ts';
import type { SeenPod } from '../pod-watch.ts';
import { newPool, tellWaits } from './pool.ts';
import type { Pool, WaitingAttempt } from './pool.ts';
import { planTenant } from './pool-plan.ts';
import type { PoolPlan, PoolState } from './pool-plan.ts';
import type { ShapedTask } from './task-shapes.ts';
import { hasFailedToStart, slowStart, whyWornOut } from './warm-worker.ts';
import type { WarmWorker } from './warm-worker.ts';
import { AWAY_MS, createWarmWorkers } from './warm-workers.ts';
import { poolKey, versionOf, workerPodName } from './worker-identity.ts';
import type { PoolIdentity, WarmIdentity } from './worker-identity.ts';
import type { WarmPoolsOptions } from './warm-options.ts';

export type PoolUsage = { waiting: number; idle: number; busy: number; starting: number };

const MAX_FAILURES = 3;
const PAUSES = { firstMs: 5_000, longestMs: 60_000 };
/** Longer than a worker needs for its last reports. */
const SETTLE_MS = 3_000;
/** How long an attempt waits for an existing worker of its pool before the pool grows. */
const GROW_AFTER_MS = 200;
const NEEDED_ELSEWHERE = 'another DAG of the tenant needs its place';

export type WarmPools = ReturnType<typeof createWarmPools>;

export function createWarmPools(options: WarmPoolsOptions) {
  const { requests, attempts, settings, shapes, log, note } = options;
  const pools = new Map<string, Pool>();
  const given = createWorkerAttempts({ ...options, onRoom: over, onLeaving });
  const workers = createWarmWorkers({
    ...options,
    given,
    onConnected: (worker, info) => void welcome(worker, info),
    onGone: (worker, why) => options.records.left(worker, why),
    onRefused: ({ pool }, version) => beCold(pools.get(pool), version),
    takesNew: (worker) =>
      worker.draining === '' &&
      !worker.isGiven &&
      !isClosing &&
      whyWornOut(worker, settings) === undefined &&
      pools.get(worker.pool)?.waiting.length === 0,
    mayRun: ({ identity }, next) =>
      (options.mayRun?.(next) ?? true) &&
      next.tenantId === identity.tenantId &&
      next.dagId === identity.dagId &&
      next.versionNumber === identity.versionNumber &&
      shapes.peek(identity)?.tasks.get(next.taskId)?.shape === identity.shape,
  });
  let isClosing = false;
  let isPlanned = false;

  function poolFor(identity: PoolIdentity, task: ShapedTask['task']): Pool {
    const key = poolKey(identity);
    const known = pools.get(key);
    if (known) return known;
    const pool = newPool(identity, task);
    pools.set(key, pool);
    return pool;
  }

  function offer(identity: OrderedIdentity, { shape, task }: ShapedTask): void {
    const pool = poolFor({ ...identity, shape }, task);
    if (pool.isCold) return options.onCold(identity);
    if (given.has(identity.attemptId) || pool.waiting.some((one) => one.identity.attemptId === identity.attemptId))
      return;
    pool.waiting.push({ identity, since: Date.now(), wait: '' });
    assign(pool);
    plan();
  }

  /** Prefers the most recently used worker, so that the others stay idle and leave. */
  function assign(pool: Pool): void {
    if (pool.waiting.length === 0 || isClosing) return;
    const idle = workers
      .ofPool(pool.key)
      .filter((worker) => workers.state(worker) === 'idle')
      .sort((a, b) => b.idleSince - a.idleSince);
    for (const worker of idle) {
      const why = whyWornOut(worker, settings);
      if (why !== undefined) {
        workers.drain(worker, why);
        continue;
      }
      const next = pool.waiting.shift();
      if (!next) return;
      worker.served += 1;
      options.count((worker.readyAt ?? Infinity) <= next.since ? 'warm' : 'cold');
      given.accept(next.identity, worker.identity.workerId);
    }
  }

  /** Called when an attempt of one of our workers has ended, or was lost. */
  function over(workerId: string | undefined): void {
    const worker = workerId === undefined ? undefined : workers.get(workerId);
    if (worker && workers.running(worker) === 0) rest(worker);
    options.onRoom();
  }

  /**
   * Called before the end of its attempt is recorded, so that the worker gets none of the attempts that follow that
   * end.
   */
  function onLeaving(workerId: string, reason: string): void {
    const worker = workers.get(workerId);
    if (worker && workers.drain(worker, reason)) plan();
  }

  function rest(worker: WarmWorker): void {
    worker.idleSince = Date.now();
    const why = worker.isGiven ? NEEDED_ELSEWHERE : whyWornOut(worker, settings);
    const pool = pools.get(worker.pool);
    if (why !== undefined) workers.drain(worker, why);
    else if (pool && worker.draining === '') assign(pool);
    plan();
  }

  /** Handles a stream that is open, perhaps after a restart of this process. Its pool is then created again. */
  async function welcome(worker: WarmWorker, info: WorkerInfo): Promise<void> {
    const { identity } = worker;
    // A known worker need not wait for its row. For another worker, the row has the number of its attempts.
    const recorded = options.records.came(worker, info, workers.state(worker));
    if (!worker.isExpected) await recorded;
    const known = pools.get(worker.pool);
    if (known) Object.assign(known, { failures: 0, retryAt: 0, trouble: undefined });
    else {
      const version = await shapes.get(identity).catch(() => undefined);
      const task = [...(version?.tasks.values() ?? [])].find(({ shape }) => shape === identity.shape);
      if (task) poolFor(identity, task.task);
      else workers.drain(worker, 'no task has pods like it any more');
    }
    if (workers.running(worker) === 0) rest(worker);
    options.onRoom();
  }

  /** Plans once for everything that happens in one turn, so that growth is one step. */
  function plan(): void {
    if (isPlanned || isClosing) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      if (!isClosing && options.hasSynced()) planNow();
    });
  }

  function planNow(): void {
    const limits = { maxSize: settings.maxPoolSize, cap: settings.maxPodsPerTenant };
    for (const own of Map.groupBy(pools.values(), ({ identity }) => identity.tenantId).values()) {
      const plans = planTenant(own.map(stateOfPool), limits);
      for (const pool of own) {
        pool.plan = plans.get(pool.key);
        if (pool.plan) follow(pool, pool.plan);
      }
    }
  }

  function stateOfPool({ key, identity, waiting, isUnused, minIdle }: Pool): PoolState {
    const counts = { busy: 0, idle: 0, starting: 0, draining: 0, elsewhere: 0 };
    for (const worker of workers.ofPool(key)) counts[workers.state(worker)] += 1;
    const ready = isUnused ? 0 : minIdle;
    // A busy worker may be free in a moment, but a pod takes seconds to start.
    const isPatient = counts.busy + counts.idle > 0;
    const old = waiting.filter(({ since }) => !isPatient || Date.now() - since >= GROW_AFTER_MS).length;
    if (old < waiting.length) setTimeout(plan, GROW_AFTER_MS).unref();
    return { key, version: versionOf(identity), waiting: old, minIdle: ready, ...counts };
  }

  function follow(pool: Pool, { create, giveIdle, giveBusy, target }: PoolPlan): void {
    if (!pool.isCold && Date.now() >= pool.retryAt) for (let made = 0; made < create; made += 1) make(pool);
    const own = workers.ofPool(pool.key).filter(({ draining }) => draining === '');
    const idle = own.filter((one) => workers.state(one) === 'idle').sort((a, b) => a.idleSince - b.idleSince);
    for (const worker of idle.splice(0, giveIdle)) workers.drain(worker, NEEDED_ELSEWHERE);
    const giving = own.filter(({ isGiven }) => isGiven).length;
    const busy = own.filter((one) => workers.state(one) === 'busy' && !one.isGiven);
    for (const worker of busy.slice(0, Math.max(0, giveBusy - giving))) worker.isGiven = true;
    let surplus = own.length - giveIdle - target;
    for (const worker of idle) {
      const isLongIdle = pool.isUnused || Date.now() - worker.idleSince >= settings.idleTtlMs;
      if (surplus <= 0 || !isLongIdle) continue;
      workers.drain(worker, pool.isUnused ? 'nobody uses its DAG version any more' : 'it was idle for long');
      surplus -= 1;
    }
  }

  function make(pool: Pool): void {
    const identity: WarmIdentity = { workerId: randomUUID(), ...pool.identity };
    workers.learn(identity, { isExpected: true, madeAt: Date.now() });
    void create(identity, pool.task).then((answer) => {
      if (answer.kind === 'created') return pool.refusals.forget();
      if (!workers.unlearn(identity.workerId)) return;
      if (answer.kind === 'refused') {
        if (!answer.mayPass || pool.refusals.isToBeBelieved()) return fail(pool, answer.failure);
        pool.trouble = { reason: 'pod_refused', detail: answer.failure.text };
        return later(pool, options.pauses?.firstMs ?? 1_000);
      }
      pool.trouble = answer.wait;
      later(pool, Math.max(answer.afterMs ?? 0, options.pauses?.firstMs ?? 1_000));
    });
  }

  async function create(identity: WarmIdentity, task: ShapedTask['task']): Promise<CreateAnswer> {
    try {
      const pod = await options.buildPod(identity, task);
      if (pod) return await requests.create(pod, identity.workerId);
      return { kind: 'refused', failure: { cause: 'dispatch_failed', text: 'the DAG version was deleted' } };
    } catch (error) {
      const detail = (error as Error).message;
      return { kind: 'later', wait: { reason: 'pod_waits', detail }, afterMs: undefined };
    }
  }

  function later(pool: Pool, ms: number): void {
    pool.retryAt = Date.now() + ms;
    setTimeout(plan, ms + 1).unref();
  }

  /** A worker did not start, and none of the author's code has run. Its waiting attempts do not wait forever. */
  function fail(pool: Pool, failure: PodFailure): void {
    if (Date.now() < pool.retryAt) return; // only the first of several simultaneous failures counts
    pool.failures += 1;
    const { firstMs, longestMs } = options.pauses ?? PAUSES;
    pool.trouble = { reason: 'pod_restarts', detail: `${failure.text}; a worker could not be started` };
    log.warn({ code: 'SVC3020', dag: pool.identity.dagId, ...failure }, 'a warm worker could not be started');
    later(pool, Math.min(longestMs, firstMs * 2 ** (pool.failures - 1)));
    if (pool.failures < MAX_FAILURES) return;
    pool.failures = 0;
    for (const { identity } of pool.waiting.splice(0)) {
      void note(identity, `The task could not be started: ${failure.cause}: ${failure.text}`, 'error');
      // If it cannot be recorded now, it is found when the lease expires.
      attempts.lost(identity, failure, { hasBegun: false, hasGivenUp: true }).catch(() => {});
    }
    options.onRoom();
  }

  /** The control plane would refuse every pod of this image, so the attempts get pods of their own. */
  function beCold(pool: Pool | undefined, version: string): void {
    if (!pool || pool.isCold) return;
    pool.isCold = true;
    const details = { dag: pool.identity.dagId, agent: version, own: options.version };
    log.warn(
      { code: 'SVC3021', ...details },
      'the agents of an image are too old for warm workers: its attempts get pods of their own',
    );
    for (const { identity } of pool.waiting.splice(0)) options.onCold(identity);
  }

  /** Handles a change of a worker's pod that the watch reports. */
  function changed(pod: SeenPod, identity: WarmIdentity): void {
    const verdict = judgePod(pod);
    if (verdict.kind === 'ended') return gone(pod, identity, verdict.failure);
    const isExpected = pod.annotations[OWNER] === options.processId;
    const worker = workers.learn(identity, { isExpected, madeAt: Date.parse(pod.createdAt) || Date.now() });
    const pool = pools.get(worker.pool);
    if (pod.deletedAt !== undefined && worker.draining === '') worker.draining = 'its pod is deleted';
    if (verdict.kind === 'unable') {
      workers.forget(worker, verdict.failure);
      void requests.remove(pod.name);
      if (pool && isExpected) fail(pool, verdict.failure);
    } else if (pool && verdict.kind === 'waiting') pool.trouble = verdict.wait;
    plan();
  }

  function gone(pod: SeenPod, identity: WarmIdentity, failure: PodFailure = whyStopped(pod) ?? DELETED): void {
    const worker = workers.get(identity.workerId);
    if (worker) {
      const neverCame = worker.readyAt === undefined && worker.isExpected && worker.draining === '';
      workers.forget(worker, failure);
      const pool = pools.get(worker.pool);
      if (pool && neverCame && hasFailedToStart(pod)) fail(pool, failure);
    }
    if (pod.deletedAt === undefined && options.podOf(pod.name)) void requests.remove(pod.name);
    setTimeout(() => void settle(pod.name, failure), options.settleMs ?? SETTLE_MS).unref();
    plan();
  }

  /** The process that assigned its attempts has reported their loss by now, unless that process is dead too. */
  async function settle(podName: string, failure: PodFailure): Promise<void> {
    if (isClosing) return;
    const left = await options.findAttemptsOn(podName).catch(() => []); // their leases find them
    for (const attempt of left) {
      void note({ kind: 'task', ...attempt }, `The task was lost: ${failure.cause}: ${failure.text}`, 'error');
      attempts.lost(attempt, failure, { hasBegun: true }).catch(() => {});
    }
  }

  /** Does what time causes. */
  function lookAfter(): void {
    given.forgetSilent();
    for (const pool of pools.values()) assign(pool);
    for (const worker of workers.all()) {
      const awayFor = worker.lostContactAt === undefined ? 0 : Date.now() - worker.lostContactAt;
      if (awayFor > AWAY_MS) for (const { attemptId } of given.of(worker.identity.workerId)) given.drop(attemptId);
      if (worker.readyAt === undefined && worker.isExpected) lookAtStart(worker);
      else if (workers.state(worker) === 'idle' && whyWornOut(worker, settings)) rest(worker);
    }
    for (const [key, pool] of pools) {
      const isEmpty = pool.waiting.length === 0 && pool.minIdle === 0 && workers.ofPool(key).length === 0;
      if (isEmpty && !pool.isCold) pools.delete(key);
    }
    plan();
  }

  /** A worker whose pod runs may be connected to another process. A worker without any connection leaves on its own. */
  function lookAtStart(worker: WarmWorker): void {
    const pod = options.podOf(workerPodName(worker.identity.workerId));
    const verdict = pod && judgePod(pod);
    const age = Date.now() - worker.knownSince;
    if (age < options.startTimeoutMs || (verdict && verdict.kind !== 'waiting')) return;
    const failure = slowStart(verdict?.wait, age);
    workers.forget(worker, failure);
    void requests.remove(workerPodName(worker.identity.workerId));
    const pool = pools.get(worker.pool);
    if (pool) fail(pool, failure);
  }

  /** Writes the rows of workers, and carries out what people request through them. */
  async function touch(): Promise<void> {
    const all = workers
      .all()
      .map((worker) => ({ worker, state: workers.state(worker), running: workers.running(worker) }));
    for (const [workerId, why] of await options.records.touch(all)) {
      const worker = workers.get(workerId);
      if (worker && workers.drain(worker, why)) plan();
    }
  }

  const waiting = (): WaitingAttempt[] => [...pools.values()].flatMap((pool) => pool.waiting);

  /** Renews the leases of attempts that have no worker yet. */
  async function renewLeases(): Promise<void> {
    const idle = waiting().map(({ identity }) => identity);
    if (idle.length > 0) cancel([...(await attempts.heartbeat(idle))]);
  }

  function cancel(attemptIds: readonly string[]): void {
    const ids = new Set(attemptIds);
    for (const pool of pools.values()) pool.waiting = pool.waiting.filter((one) => !ids.has(one.identity.attemptId));
    given.cancel(attemptIds);
    plan();
  }

  return {
    offer,
    changed,
    gone,
    /** Called when a worker was handed the attempt with the end of another. */
    adopt(attempt: Attempt, endedId: string | null): void {
      const workerId = endedId === null ? undefined : given.workerOf(endedId);
      const worker = workerId === undefined ? undefined : workers.get(workerId);
      if (worker && !given.has(attempt.attemptId)) {
        worker.served += 1;
        options.count('warm');
      }
      if (worker) given.adopt(orderedTask(attempt), workerId);
    },
    has: (attemptId: string): boolean =>
      given.has(attemptId) || waiting().some(({ identity }) => identity.attemptId === attemptId),
    cancel,
    lookAfter,
    renewLeases,
    tellWaits: (): void => tellWaits([...pools.values()], settings, attempts.noteWait),
    touch,
    /** Sets how many workers of the pool must be ready. */
    want(identity: PoolIdentity, task: ShapedTask['task'], minIdle: number): void {
      poolFor(identity, task).minIdle = Math.min(minIdle, settings.maxPoolSize);
    },
    pools: () => [...pools.values()],
    /** True when the pool has workers that are not connected here. */
    hasElsewhere: (key: string): boolean =>
      workers.ofPool(key).some((worker) => worker.readyAt === undefined || worker.lostContactAt !== undefined),
    plan,
    holds: (): readonly OrderedIdentity[] => [...given.all(), ...waiting().map(({ identity }) => identity)],
    /**
     * The number that counts against the capacity: running attempts, and those for which workers start. Others that
     * wait do not count.
     */
    load: (): number => {
      const starting = workers.all().filter((worker) => workers.state(worker) === 'starting').length;
      return given.all().length + Math.min(waiting().length, starting);
    },
    waiting: (): number => waiting().length,
    usage(): PoolUsage {
      const states = workers.all().map(workers.state);
      const count = (state: string): number => states.filter((one) => one === state).length;
      return { waiting: waiting().length, idle: count('idle'), busy: count('busy'), starting: count('starting') };
    },
    /** Returns the pod to which an attempt was given. */
    podWith(attemptId: string): SeenPod | undefined {
      const workerId = given.workerOf(attemptId);
      return workerId === undefined ? undefined : options.podOf(workerPodName(workerId));
    },
    close(): void {
      isClosing = true;
      given.close();
    },
  };
}
