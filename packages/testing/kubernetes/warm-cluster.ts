/** The warm side of the Kubernetes executor, with a cluster that makes what it is asked for and workers that a test lets connect. */
import { EventEmitter } from 'node:events';
import type { V1Pod } from '@kubernetes/client-node';
import type { Order } from '@svc/proto/agent-service.ts';
import { POD_SETTINGS } from './pod-settings.ts';
import { createAgentCredentials } from '@svc/server/agents/credentials.ts';
import type { VerifiedAttempt } from '@svc/server/agents/credentials.ts';
import type { AttemptObserver } from '@svc/server/agents/service-options.ts';
import { createWorkerHub } from '@svc/server/agents/workers/worker-hub.ts';
import type { Attempt, Failure } from '@svc/server/engine/shared/attempts.ts';
import type { ManagedExecutor } from '@svc/server/engine/executor.ts';
import type { NewWorker, WorkerOrders } from '@svc/server/db/workers/workers.ts';
import type { ApiClient, ApiError, WatchEvent } from '@svc/server/executors/kubernetes/api-client.ts';
import { createKubernetesExecutor } from '@svc/server/executors/kubernetes/kubernetes.ts';
import type { TaskPodFacts, VersionPodFacts } from '@svc/server/executors/kubernetes/pod-facts.ts';
import type { WarmSettings } from '@svc/server/executors/kubernetes/warm/pool.ts';
import type { WarmPoolsOptions } from '@svc/server/executors/kubernetes/warm/warm-options.ts';
import type { UsedVersion } from '@svc/server/executors/kubernetes/warm/ready-versions.ts';
import { scopeOf, warmWorkerOf } from '@svc/server/executors/kubernetes/warm/worker-identity.ts';

export const TASK: TaskPodFacts = { resources: {}, execution: {}, override: undefined, problems: [] };
const LARGE: TaskPodFacts = { ...TASK, resources: { memory: '4Gi' } };
export const FACTS: VersionPodFacts = {
  image: null,
  pythonLine: '3.12',
  staging: undefined,
  tasks: new Map([
    ['a', TASK],
    ['b', TASK],
    ['large', LARGE],
  ]),
  minIdle: undefined,
};
const SETTINGS: WarmSettings = {
  minIdle: 0,
  maxPoolSize: 3,
  maxAttempts: 50,
  maxLifetimeMs: 3_600_000,
  idleTtlMs: 300_000,
  maxPodsPerTenant: 100,
};

/** Between processes: whose workers are idle, and what is sent. */
export type Bus = { idle: string[]; listeners: ((text: string) => void)[] };

export type Worker = { id: string; pod: V1Pod; orders: Order[]; close(): void };

const nameIn = (path: string): string => path.split('/').at(-1) ?? '';

/** A cluster that makes what it is asked for, and workers that connect when a test says so. */
export function startWarmCluster(
  input: {
    settings?: Partial<WarmSettings>;
    facts?: VersionPodFacts;
    used?: UsedVersion[];
    there?: V1Pod[];
    served?: number;
    bus?: Bus;
    me?: string;
    onHost?: Awaited<ReturnType<WarmPoolsOptions['findAttemptsOn']>>;
    /** What the API server says to a new pod instead of taking it. */
    refusal?: () => ApiError | undefined;
  } = {},
) {
  const pods = new Map((input.there ?? []).map((pod): [string, V1Pod] => [pod.metadata?.name ?? '', pod]));
  const bodies: V1Pod[] = [];
  const lost: { attemptId: string; failure: Failure; hasBegun: boolean | undefined }[] = [];
  const waits: string[] = [];
  const counts = { warm: 0, cold: 0 };
  const { bus = { idle: [], listeners: [] } } = input;
  const rows = new Map<string, NewWorker>();
  const asked = new Map<string, Omit<WorkerOrders, 'id'>>();
  const observers: AttemptObserver[] = [];
  let tell: ((event: WatchEvent) => void) | undefined;
  let version = 1;
  const change = (type: WatchEvent['type'], pod: V1Pod): void => {
    version += 1;
    pod.metadata = { ...pod.metadata, resourceVersion: String(version) };
    tell?.({ type, object: structuredClone(pod) });
  };
  const api: ApiClient = {
    get: async (path) => {
      const named = pods.get(nameIn(path));
      return (named ?? { items: [...pods.values()], metadata: { resourceVersion: '1' } }) as never;
    },
    async post(_path, body) {
      const refusal = input.refusal?.();
      if (refusal) throw refusal;
      const pod = body as V1Pod;
      bodies.push(pod);
      const made = {
        ...pod,
        metadata: { ...pod.metadata, uid: `uid ${bodies.length}`, creationTimestamp: new Date() },
      };
      pods.set(pod.metadata?.name ?? '', made);
      change('ADDED', made);
      return made as never;
    },
    patch: async () => ({}) as never,
    async delete(path) {
      const pod = pods.get(nameIn(path));
      pods.delete(nameIn(path));
      if (pod) change('DELETED', pod);
      return {} as never;
    },
    watch: (_path, _query, { onEvent }) => {
      tell = onEvent;
      return new Promise(() => {});
    },
    close: () => {},
  };
  const credentials = createAgentCredentials({ secret: 'x'.repeat(32), maxAttemptLifetimeMs: 0 });
  const hub = createWorkerHub(credentials);
  const service = {
    observe: (observer: AttemptObserver) => void observers.push(observer),
    explainStops: () => {},
    reviewPodsWith: () => {},
    startEarly: () => {},
    workers: hub,
  };
  const executor = createKubernetesExecutor({
    api,
    service,
    credentials,
    attempts: {
      lost: async ({ attemptId }, failure, known) => void lost.push({ attemptId, failure, hasBegun: known?.hasBegun }),
      triggererLost: async () => {},
      heartbeat: async () => new Set<string>(),
      findLive: async () => new Map(),
      noteWait: async (_ref, { reason }) => void waits.push(reason),
    },
    note: async () => {},
    readFacts: async () => input.facts ?? FACTS,
    readRunId: async () => 'manual',
    findRunEnds: async () => new Map(),
    settings: POD_SETTINGS,
    staging: { accessMode: 'ReadWriteMany', size: '', storageClass: '', retentionMs: 0 },
    baseImage: (line) => `base:${line}`,
    tokenTransport: 'exchange',
    processId: input.me ?? 'me',
    readLiveProcesses: async () => new Set(['me']),
    controlPlane: () => 'here:1',
    parallelism: 16,
    concurrency: 4,
    startTimeoutMs: 60_000,
    keepFailedMs: 0,
    countStart: (how) => void (counts[how] += 1),
    warm: {
      settings: { ...SETTINGS, ...input.settings },
      findUsed: async (others) => input.used ?? others.map((ref) => ({ ...ref, isCurrent: false })),
      version: '0.7.0',
      service,
      rows: {
        async record(worker) {
          rows.set(worker.id, worker);
          return { served: input.served ?? 0 };
        },
        touch: async (signs) =>
          signs.flatMap(({ id }) => {
            const order = asked.get(id);
            return order ? [{ id, ...order }] : [];
          }),
        remove: async ({ id }) => void rows.delete(id),
      },
      findAttemptsOn: async () => input.onHost ?? [],
      settleMs: 1,
      neighbours: {
        findIdle: async () => bus.idle,
        send: async (text) => bus.listeners.forEach((listener) => listener(text)),
        listen(onText) {
          bus.listeners.push(onText);
          return { stop: async () => {} };
        },
      },
      pauses: { firstMs: 1, longestMs: 2 },
    },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    lookAfterMs: 5,
  });
  executor.start();
  started.push(executor);

  const connected = new Set<string>();

  /** The agent in the pod opens its stream. */
  async function connect(pod: V1Pod, more: { version?: string; running?: VerifiedAttempt[] } = {}): Promise<Worker> {
    const identity = warmWorkerOf(pod.metadata?.annotations);
    if (!identity) throw new Error('this is no pod of a worker');
    const orders: Order[] = [];
    const stream = Object.assign(new EventEmitter(), {
      write: (order: Order) => orders.push(order) > 0,
      end: () => stream.emit('close'),
    });
    const info = { hostname: pod.metadata?.name ?? '', pid: 1, version: '0.7.0', running: [], ...more };
    await hub.attach({ workerId: identity.workerId, scope: scopeOf(identity) }, info, stream as never);
    connected.add(identity.workerId);
    return { id: identity.workerId, pod, orders, close: () => void stream.emit('close') };
  }

  return {
    executor,
    hub,
    bodies,
    pods,
    lost,
    waits,
    counts,
    rows,
    asked,
    connect,
    async connectAll(): Promise<Worker[]> {
      const fresh = bodies.filter((pod) => !connected.has(warmWorkerOf(pod.metadata?.annotations)?.workerId ?? ''));
      return Promise.all(fresh.map((pod) => connect(pod)));
    },
    begin: (attemptId: string) => observers.forEach((one) => one.started(attemptId)),
    end: (attemptId: string) => observers.forEach((one) => one.ended(attemptId)),
    /** As the report of its end says, before it is recorded. */
    leave: (attemptId: string, reason: string) => observers.forEach((one) => one.workerLeaves?.(attemptId, reason)),
    endPod(pod: V1Pod, state: object, phase = 'Failed'): void {
      pod.status = { phase, containerStatuses: [{ name: 'task', state } as never] };
      change('MODIFIED', pod);
    },
  };
}

const started: ManagedExecutor[] = [];

/** After each test. */
export async function closeWarmClusters(): Promise<void> {
  for (const executor of started.splice(0)) await executor.close('leave');
}

let next = 0;
export const attempt = (taskId = 'a', more: Partial<Attempt> = {}): Attempt => {
  next += 1;
  return {
    tenantId: 't1',
    run: 1,
    taskId,
    mapIndex: -1,
    attemptId: `attempt ${next}`,
    dagId: 'flow',
    versionNumber: 1,
    tryNumber: 1,
    queue: 'default',
    executor: null,
    ...more,
  };
};

export const ordered = ({ orders }: Worker): string[] =>
  orders.flatMap(({ assignment }) => assignment?.attempt_id ?? []);
export const drained = ({ orders }: Worker): boolean => orders.some(({ drain }) => drain);
