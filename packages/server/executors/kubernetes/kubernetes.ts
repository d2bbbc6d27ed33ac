/**
 * A pod for every attempt. One watch over all pods of this installation reports their states; the agent in each reports
 * the rest.
 *
 *   attempt-pods.ts    the attempts that this process manages, and what follows from the states of their pods
 *   pod-watch.ts       what the cluster reports about pods
 *   pod-verdict.ts     what the state of a pod means
 *   pod-spec.ts        what a pod is made of
 *   base-images.ts     its image, when the version has none of its own
 *   staging-claims.ts  the volumes of runs that stage files
 *   warm/              pods that run one attempt after another, when `execution.warm_pools_enabled` is on
 *
 * A pod belongs to the process that created it (annotation `svc.dev/owner`). When that process is dead, any other one
 * manages the pod. A pod whose attempt is over is removed.
 */
import type { AgentService } from '../../agents/agent-service.ts';
import type { NoteAttempt } from '../../agents/attempt-notes.ts';
import type { AgentLog } from '../../agents/collaborators.ts';
import type { AgentCredentials } from '../../agents/credentials.ts';
import type { CallbackJob, ManagedExecutor, TriggererJob } from '../../engine/executor.ts';
import type { Attempt, AttemptRef, Attempts, Failure, NextInstance } from '../../engine/shared/attempts.ts';
import { callbackIdentity } from '../callback-identity.ts';
import { triggererIdentity } from '../triggerer-identity.ts';
import type { ApiClient } from './api-client.ts';
import { AttemptPods, MAX_DISPATCHES } from './attempt-pods.ts';
import { createBaseImages } from './base-images.ts';
import type { ReadPodFacts } from './pod-facts.ts';
import { LABEL, OWNER, identityOf, podName } from './pod-names.ts';
import type { PodIdentity } from './pod-names.ts';
import { createPodRequests } from './pod-requests.ts';
import type { CreateAnswer } from './pod-requests.ts';
import { AUDIENCE, TOKEN_SECONDS, createPodReview } from './pod-tokens.ts';
import { buildPod } from './pod-spec.ts';
import type { PodSettings } from './pod-spec.ts';
import { whySilent, whyStopped } from './pod-verdict.ts';
import { createPodWatch } from './pod-watch.ts';
import type { SeenPod } from './pod-watch.ts';
import { createStagingClaims } from './staging-claims.ts';
import type { StagingSettings } from './staging-claims.ts';
import type { FindRunEnds } from '../staging-sweep.ts';
import { createWarmSide } from './warm/warm-side.ts';
import type { WarmOptions } from './warm/warm-side.ts';

export type KubernetesExecutorOptions = {
  api: ApiClient;
  service: Pick<AgentService, 'observe' | 'explainStops' | 'reviewPodsWith'>;
  credentials: Pick<AgentCredentials, 'issueAttempt'>;
  attempts: Pick<Attempts, 'lost' | 'heartbeat' | 'findLive' | 'noteWait' | 'triggererLost'>;
  note: NoteAttempt;
  /** Given when there are several executors: true for a task of this one. */
  mayRun?: ((next: NextInstance) => boolean) | undefined;
  readFacts: ReadPodFacts;
  readRunId: (identity: { tenantId: string; run: number }) => Promise<string | undefined>;
  settings: PodSettings;
  staging: StagingSettings;
  findRunEnds: FindRunEnds;
  /** The image of a version that has none of its own. */
  baseImage: (pythonLine: string) => string;
  tokenTransport: 'envvar' | 'exchange';
  /** The id of this process; `readLiveProcesses` returns the ids of those that are alive. */
  processId: string;
  readLiveProcesses: () => Promise<ReadonlySet<string>>;
  controlPlane: () => string;
  parallelism: number;
  concurrency: number;
  startTimeoutMs: number;
  keepFailedMs: number;
  /** Undefined: each attempt gets a pod of its own. */
  warm?: Omit<WarmOptions, 'count'>;
  countStart?: (start: 'warm' | 'cold') => void;
  log: AgentLog;
  /** Shorter in tests. */
  lookAfterMs?: number;
};

/** A sixth of the lease of a waiting attempt, and often enough to find what was missed. */
const LOOK_AFTER_MS = 10_000;
/** Attempts that wait for warm workers, per process. */
const MAX_WAITING = 2_000;

const taskIdentity = ({ queue: _queue, executor: _executor, ...attempt }: Attempt): Omit<PodIdentity, 'dispatch'> => ({
  kind: 'task',
  ...attempt,
});

export function createKubernetesExecutor(options: KubernetesExecutorOptions): ManagedExecutor {
  const { api, attempts, settings, log, lookAfterMs = LOOK_AFTER_MS } = options;
  const requests = createPodRequests(api, settings.namespace);
  const bases = createBaseImages({ tagged: options.baseImage });
  const { namespace, installation } = settings;
  const claims = createStagingClaims({ ...options, namespace, installation, settings: options.staging });
  const listeners: (() => void)[] = [];
  const tellCapacity = (): void => listeners.forEach((listener) => listener());
  let isClosing = false;
  let timer: NodeJS.Timeout | undefined;
  /** Why the pods cannot be watched. */
  let trouble: string | undefined;

  const watch = createPodWatch({
    api,
    namespace: settings.namespace,
    selector: `${LABEL.managedBy}=svc,${LABEL.installation}=${settings.installation}`,
    onChange(pod) {
      bases.learn(pod);
      if (warm?.changed(pod)) return;
      const identity = identityOf(pod.annotations);
      if (identity && isOurs(pod, identity)) pods.changed(pod, identity);
    },
    onGone(pod) {
      if (warm?.gone(pod)) return;
      const identity = identityOf(pod.annotations);
      if (identity && isOurs(pod, identity)) pods.gone(pod, identity);
    },
    onSynced() {
      void attend(lookAfterStrangers);
      tellCapacity();
    },
    onTrouble: (message) => void (trouble = message),
    log,
  });

  const pods = new AttemptPods({
    requests,
    attempts,
    create,
    note: options.note,
    concurrency: options.concurrency,
    startTimeoutMs: options.startTimeoutMs,
    keepFailedMs: options.keepFailedMs,
    onRoom: tellCapacity,
    podOf: watch.get,
    log,
  });

  const warm =
    options.warm &&
    createWarmSide({
      ...options,
      warm: { ...options.warm, count: (start) => options.countStart?.(start) },
      requests,
      podOf: watch.get,
      hasSynced: watch.hasSynced,
      onRoom: tellCapacity,
      onCold: ({ kind, ...attempt }) => kind === 'task' && pods.hold({ kind, ...attempt }),
    });

  const isOurs = (pod: SeenPod, { attemptId }: PodIdentity): boolean =>
    pods.has(attemptId) || pod.annotations[OWNER] === options.processId;

  options.service.observe({ started: () => {}, alive: () => {}, ended: (attemptId) => pods.reported(attemptId) });
  if (options.tokenTransport === 'exchange') options.service.reviewPodsWith(createPodReview({ api, ...settings }));
  options.service.explainStops(explainStop);

  async function create(identity: PodIdentity): Promise<CreateAnswer> {
    const readRunId = identity.kind === 'triggerer' ? '' : options.readRunId(identity); // it serves many runs
    const [facts, runId] = await Promise.all([options.readFacts(identity), readRunId]);
    if (!facts || runId === undefined) {
      return { kind: 'refused', failure: { cause: 'dispatch_failed', text: 'the DAG version or the run was deleted' } };
    }
    const { dispatch: _dispatch, ...attempt } = identity;
    const task = facts.tasks.get(identity.taskId);
    if (task && task.problems.length > 0) {
      return { kind: 'refused', failure: { cause: 'pod_refused', text: task.problems.join('; ') } };
    }
    const staging =
      facts.staging && identity.kind === 'task' && (await claims.ensure({ ...identity, runId }, facts.staging));
    if (staging && staging.kind !== 'ready') return staging;
    const pod = buildPod({
      identity,
      runId,
      owner: options.processId,
      image: facts.image ?? bases.nameOf(facts.pythonLine),
      isOwnImage: facts.image !== null,
      settings,
      controlPlane: options.controlPlane(),
      credential:
        options.tokenTransport === 'envvar'
          ? { kind: 'token', token: await options.credentials.issueAttempt(attempt) }
          : { kind: 'exchange', audience: AUDIENCE, expirationSeconds: TOKEN_SECONDS },
      resources: task?.resources ?? {},
      execution: task?.execution ?? {},
      override: task?.override,
      stagingClaim: staging ? staging.name : undefined,
    });
    return requests.create(pod, identity.attemptId);
  }

  /** The agent only knows that it was asked to stop. The cluster knows why. */
  function explainStop(attemptId: string): Failure | undefined {
    const own = warm?.podWith(attemptId);
    if (own) return whyStopped(own);
    for (let dispatch = 1; dispatch <= MAX_DISPATCHES; dispatch += 1) {
      const pod = watch.get(podName({ attemptId, dispatch }));
      const why = pod && whyStopped(pod);
      if (why) return why;
    }
    return undefined;
  }

  /** Explains the silence of an agent, and writes the last line of its log, which no agent can write. */
  function explainSilence({ attemptId }: AttemptRef): Failure | undefined {
    const own = warm?.podWith(attemptId);
    if (own) return whySilent(own);
    for (const pod of watch.all()) {
      const identity = pod.labels[LABEL.attempt] === attemptId ? identityOf(pod.annotations) : undefined;
      const why = identity && whySilent(pod);
      if (!why) continue;
      void options.note(identity, `The task was lost: ${why.cause}: ${why.text}`, 'error');
      return why;
    }
    return undefined;
  }

  /** Handles orphan pods, those of dead processes: adopts those with live attempts and removes the others. */
  async function lookAfterStrangers(): Promise<void> {
    const strangers = [...watch.all()].flatMap((pod) => {
      const identity = identityOf(pod.annotations);
      return identity && !pods.has(identity.attemptId) ? [{ pod, identity }] : [];
    });
    if (strangers.length === 0) return;
    const alive = await options.readLiveProcesses();
    const orphans = strangers.filter(({ pod }) => {
      const owner = pod.annotations[OWNER] ?? '';
      return owner === options.processId || !alive.has(owner);
    });
    const tasks = orphans.filter(({ identity }) => identity.kind === 'task');
    const live = await attempts.findLive(tasks.map(({ identity }) => identity));
    for (const { pod, identity } of orphans) {
      // A pod that has ended is judged before it is removed, because its attempt may not know the end.
      if (live.has(identity.attemptId)) pods.adopt(pod, identity);
      else if (identity.kind === 'task' && pod.deletedAt === undefined && isOld(pod)) void requests.remove(pod.name);
      else if (pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') pods.changed(pod, identity);
    }
  }

  /** Failed pods may be kept for a while. */
  const isOld = (pod: SeenPod): boolean =>
    Date.now() - Date.parse(pod.createdAt) > (pod.status.phase === 'Failed' ? options.keepFailedMs : 0);

  /** Never rejects: the database may be unreachable, and the next call does what was not done. */
  async function attend(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ code: 'SVC3025', err: error }, 'kubernetes: pods could not be looked after: tried again');
    }
  }

  async function lookAfter(): Promise<void> {
    // Runs even while the cluster is unreachable, because waiting attempts still belong to this process.
    await attend(() => pods.renewLeases());
    if (warm) await attend(() => warm.renewLeases());
    if (watch.hasSynced() && trouble === undefined) {
      await attend(() => pods.lookAfter());
      await attend(lookAfterStrangers);
      await warm?.lookAfter();
    }
    if (!isClosing) timer = setTimeout(() => void lookAfter(), lookAfterMs).unref();
  }

  return {
    capacity,
    dispatch: (claimed) => claimed.forEach((attempt) => take(taskIdentity(attempt))),
    // The agent of an attempt's own pod takes no other attempt.
    adopt: (attempt, endedId) => warm?.adopt(attempt, endedId),
    dispatchCallbacks: (callbacks: readonly CallbackJob[]) =>
      callbacks.forEach((callback) => pods.hold(callbackIdentity(callback))),
    triggererPer: 'version',
    dispatchTriggerers: (jobs: readonly TriggererJob[]) => jobs.forEach((job) => pods.hold(triggererIdentity(job))),
    cancelTriggerers: cancel,
    holds: () => [...pods.tasks(), ...(warm?.holds() ?? [])],
    cancel,
    explainSilence,
    ...(warm && { warmUsage: warm.usage }),
    isConnected: () => watch.hasSynced() && trouble === undefined,
    onCapacity: (listener) => void listeners.push(listener),
    start() {
      watch.start();
      claims.start();
      timer = setTimeout(() => void lookAfter(), lookAfterMs).unref();
    },
    // Pods continue without this process. The next control plane finds them.
    async close() {
      isClosing = true;
      clearTimeout(timer);
      watch.close();
      pods.close();
      await warm?.close();
      await claims.stop();
      api.close();
    },
  };

  function take(identity: Omit<PodIdentity, 'dispatch'>): void {
    if (warm) return warm.take(identity);
    options.countStart?.('cold');
    pods.hold(identity);
  }

  /** An attempt that only waits for its warm pool runs nothing, but the number of waiting attempts is limited. */
  function capacity(): number {
    if (!watch.hasSynced() || isClosing) return 0;
    const room = options.parallelism - pods.size - (warm?.load() ?? 0);
    return Math.max(Math.min(room, MAX_WAITING - (warm?.waiting() ?? 0)), 0);
  }

  function cancel(attemptIds: readonly string[]): void {
    const own = attemptIds.filter((attemptId) => warm?.has(attemptId));
    if (own.length > 0) warm?.cancel(own);
    for (const attemptId of attemptIds) {
      if (own.includes(attemptId)) continue;
      if (pods.has(attemptId)) pods.cancel(attemptId);
      else void removeUnheld(attemptId);
    }
  }

  /** Removes the pod of an attempt that another process manages. */
  async function removeUnheld(attemptId: string): Promise<void> {
    for (const pod of watch.all()) if (pod.labels[LABEL.attempt] === attemptId) await requests.remove(pod.name);
  }
}
