import type { V1Pod } from '@kubernetes/client-node';
import { afterEach, describe, expect, it } from 'vitest';
import { POD_SETTINGS } from '@svc/testing/kubernetes/pod-settings.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { podIdentity } from '@svc/testing/kubernetes/pod-identity.ts';
import type { ManagedExecutor } from '../../engine/executor.ts';
import type { ApiClient } from './api-client.ts';
import { triggererIdentity } from '../triggerer-identity.ts';
import { createKubernetesExecutor } from './kubernetes.ts';
import type { KubernetesExecutorOptions } from './kubernetes.ts';
import { podAnnotations, podLabels, podName } from './pod-names.ts';

let executor: ManagedExecutor | undefined;
afterEach(() => executor?.close('leave'));

const away = async (): Promise<never> => {
  throw new Error('connect ECONNREFUSED');
};

/** A cluster that answers one list and is gone then. */
function start(
  attempts: Partial<KubernetesExecutorOptions['attempts']>,
  {
    warnings = [],
    pods = [],
    stays = false,
    onPost = () => {},
    ...more
  }: Partial<KubernetesExecutorOptions> & {
    warnings?: string[];
    pods?: V1Pod[];
    stays?: boolean;
    onPost?: (body: unknown) => void;
  } = {},
) {
  let isThere = true;
  const get = async (): Promise<never> => {
    if (!isThere) return away();
    isThere = false;
    return { items: pods, metadata: { resourceVersion: '1' } } as never;
  };
  const watch = stays ? () => new Promise<never>(() => {}) : away;
  const post: ApiClient['post'] = async (_path, body) => {
    onPost(body);
    return away();
  };
  const api: ApiClient = { get, post, patch: away, delete: away, watch, close: () => {} };
  const options: KubernetesExecutorOptions = {
    api,
    service: { observe: () => {}, explainStops: () => {}, reviewPodsWith: () => {} },
    credentials: { issueAttempt: async () => 'token' },
    attempts: {
      lost: async () => {},
      triggererLost: async () => {},
      heartbeat: async () => new Set<string>(),
      findLive: async () => new Map(),
      noteWait: async () => {},
      ...attempts,
    },
    note: async () => {},
    readFacts: async () => ({
      image: 'i',
      pythonLine: '3.11',
      staging: undefined,
      tasks: new Map(),
      minIdle: undefined,
    }),
    readRunId: async () => 'manual',
    findRunEnds: async () => new Map(),
    settings: POD_SETTINGS,
    staging: { accessMode: 'ReadWriteMany', size: '', storageClass: '', retentionMs: 0 },
    baseImage: (line) => line,
    tokenTransport: 'envvar',
    processId: 'me',
    readLiveProcesses: async () => new Set(['me']),
    controlPlane: () => 'here:1',
    parallelism: 2,
    concurrency: 2,
    startTimeoutMs: 60_000,
    keepFailedMs: 0,
    log: { debug: () => {}, info: () => {}, warn: (_, text) => void warnings.push(text), error: () => {} },
    lookAfterMs: 5,
    ...more,
  };
  executor = createKubernetesExecutor(options);
  executor.start();
  return executor;
}

describe('while the API server is away', () => {
  it('claimed attempts stay ours: their leases are renewed, and people see what they wait for', async () => {
    const renewed: string[] = [];
    const waits: string[] = [];
    const running = start({
      heartbeat: async (beats) => {
        renewed.push(...beats.map(({ attemptId }) => attemptId));
        return new Set();
      },
      noteWait: async (_, { reason }) => void waits.push(reason),
    });
    await eventually(() => running.capacity() === 2);
    const { kind: _kind, dispatch: _dispatch, ...attempt } = podIdentity();
    running.dispatch([{ ...attempt, queue: 'default', executor: null }]);
    await eventually(() => waits.includes('cluster_unreachable'));
    const before = renewed.length;
    await eventually(() => renewed.length > before + 3);
    expect([running.isConnected(), running.capacity()]).toEqual([false, 1]);
  });

  it('an attempt that is cancelled gives its slot back', async () => {
    const stopped = new Set<string>();
    const running = start({ heartbeat: async () => stopped });
    await eventually(() => running.capacity() === 2);
    const { kind: _kind, dispatch: _dispatch, ...attempt } = podIdentity();
    running.dispatch([{ ...attempt, queue: 'default', executor: null }]);
    expect(running.capacity()).toBe(1);
    stopped.add(attempt.attemptId);
    await eventually(() => running.capacity() === 2);
  });
});

it('a database that is away costs nothing but another look', async () => {
  const warnings: string[] = [];
  start({ heartbeat: away }, { warnings });
  const text = 'kubernetes: pods could not be looked after: tried again';
  await eventually(() => warnings.filter((warning) => warning === text).length > 2);
});

describe('a pod of ours', () => {
  const identity = podIdentity();
  const pod = (status: V1Pod['status']): V1Pod => ({
    metadata: {
      name: podName(identity),
      uid: 'u',
      resourceVersion: '1',
      labels: podLabels(identity, { installation: 'abc', runId: 'manual' }),
      annotations: podAnnotations(identity, { runId: 'manual', owner: 'me' }),
    },
    spec: { nodeName: 'n', containers: [] },
    status: status ?? {},
  });

  it('that has ended may have begun its attempt since that was seen waiting: then it is not run again as the same try', async () => {
    const told: unknown[] = [];
    start(
      {
        findLive: async () => new Map([[identity.attemptId, 'queued' as const]]),
        lost: async (_ref, { cause }, known) => void told.push([cause, known]),
      },
      { pods: [pod({ phase: 'Failed', reason: 'Evicted' })] },
    );
    await eventually(() => expect(told[0]).toEqual(['pod_evicted', { hasBegun: true }]));
  });

  it('did not start in time for want of its image, when that is what it waited for', async () => {
    const notes: string[] = [];
    const waiting = { reason: 'ErrImagePull', message: 'the registry does not answer' };
    start(
      { findLive: async () => new Map([[identity.attemptId, 'queued' as const]]) },
      {
        pods: [
          pod({
            phase: 'Pending',
            containerStatuses: [
              { name: 'task', ready: false, image: 'i', imageID: '', restartCount: 0, state: { waiting } },
            ],
          }),
        ],
        stays: true,
        startTimeoutMs: 10,
        note: async (_identity, text) => void notes.push(text),
      },
    );
    await eventually(() => expect(notes[0]).toMatch(/image_unavailable: after .* the registry does not answer/));
  });

  it('is left to the lease of its attempt once that has begun, should the cluster never hear that it runs', async () => {
    const [renewed, notes]: [string[], string[]] = [[], []];
    let looks = 0;
    start(
      {
        findLive: async () => new Map([[identity.attemptId, 'running' as const]]),
        heartbeat: async (beats) => {
          looks += 1;
          renewed.push(...beats.map(({ attemptId }) => attemptId));
          return new Set();
        },
      },
      {
        pods: [pod({ phase: 'Pending' })],
        stays: true,
        startTimeoutMs: 20, // gone by after four looks
        note: async (_identity, text) => void notes.push(text),
      },
    );
    await eventually(() => looks > 20);
    expect({ renewed, notes }).toEqual({ renewed: [], notes: [] });
  });

  it('explains the silence of its attempt, when the cluster hears nothing of its node either', async () => {
    const running = start(
      { findLive: async () => new Map([[identity.attemptId, 'running' as const]]) },
      {
        pods: [
          pod({
            phase: 'Running',
            conditions: [{ type: 'Ready', status: 'False' }],
            containerStatuses: [
              { name: 'task', ready: true, image: 'i', imageID: '', restartCount: 0, state: { running: {} } },
            ],
          }),
        ],
      },
    );
    await eventually(() => expect(running.explainSilence?.(identity)).toMatchObject({ cause: 'node_lost' }));
    expect(running.explainSilence?.({ ...identity, attemptId: 'another' })).toBeUndefined();
  });
});

describe('a triggerer', () => {
  const job = { tenantId: 't', triggererId: '0b9b2b7e-0000-4000-8000-000000000001', dagId: 'd', versionNumber: 3 };
  const identity = { ...podIdentity(), ...triggererIdentity(job) };

  it('is one pod for its DAG version, and takes no slot from tasks', async () => {
    const made: V1Pod[] = [];
    const running = start({}, { stays: true, onPost: (body) => void made.push(body as V1Pod) });
    await eventually(() => running.capacity() === 2);
    expect(running.triggererPer).toBe('version');
    running.dispatchTriggerers([job, job]);
    await eventually(() => expect(made.length).toBeGreaterThan(0));
    expect([running.capacity(), running.holds()]).toEqual([2, []]);
    expect(new Set(made.map(({ metadata }) => metadata?.name))).toEqual(new Set([`svc-${job.triggererId}`]));
  });

  it('whose pod has ended by itself is told to be lost, so that another one takes over', async () => {
    const lost: string[] = [];
    const pod: V1Pod = {
      metadata: {
        name: podName(identity),
        uid: 'u',
        resourceVersion: '1',
        labels: podLabels(identity, { installation: 'abc', runId: '' }),
        annotations: podAnnotations(identity, { runId: '', owner: 'me' }),
      },
      spec: { nodeName: 'n', containers: [] },
      status: { phase: 'Failed', reason: 'Evicted' },
    };
    start({ triggererLost: async ({ attemptId }, text) => void lost.push(`${attemptId} ${text}`) }, { pods: [pod] });
    await eventually(() => expect(lost[0]).toMatch(new RegExp(`^${job.triggererId} pod_evicted`)));
  });
});
