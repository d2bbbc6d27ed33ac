import { describe, expect, it } from 'vitest';
import type { V1ContainerState, V1PodStatus } from '@kubernetes/client-node';
import { judgePod, whySilent } from './pod-verdict.ts';
import type { SeenPod } from './pod-watch.ts';

const pod = (status: V1PodStatus, more: Partial<SeenPod> = {}): SeenPod => ({
  name: 'svc-x',
  uid: 'u',
  resourceVersion: '1',
  createdAt: '2026-01-01T00:00:00Z',
  deletedAt: undefined,
  labels: {},
  annotations: {},
  nodeName: 'n',
  image: 'task-image',
  memoryLimit: '64Mi',
  deadlineSeconds: undefined,
  status,
  ...more,
});

const container = (state: V1ContainerState, name = 'task') => ({
  name,
  state,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
});
const withState = (state: V1ContainerState, phase = 'Pending'): SeenPod =>
  pod({ phase, containerStatuses: [container(state)] });
const condition = (type: string, status: string, reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
});

describe('a pod that has not started', () => {
  it('waits, and says for what when the cluster does', () => {
    expect(judgePod(pod({ phase: 'Pending' }))).toEqual({ kind: 'waiting', wait: undefined });
    const unschedulable = condition(
      'PodScheduled',
      'False',
      'Unschedulable',
      '0/1 nodes are available: 1 Insufficient cpu.',
    );
    expect(judgePod(pod({ phase: 'Pending', conditions: [unschedulable] }))).toEqual({
      kind: 'waiting',
      wait: { reason: 'pod_unschedulable', detail: '0/1 nodes are available: 1 Insufficient cpu.' },
    });
    const unbound = condition(
      'PodScheduled',
      'False',
      'Unschedulable',
      'pod has unbound immediate PersistentVolumeClaims',
    );
    expect(judgePod(pod({ phase: 'Pending', conditions: [unbound] }))).toMatchObject({
      wait: { reason: 'volume_pending' },
    });
    expect(judgePod(withState({ waiting: { reason: 'ErrImagePull', message: 'not found' } }))).toEqual({
      kind: 'waiting',
      wait: { reason: 'image_pull', detail: 'ErrImagePull: not found' },
    });
  });

  it.each([
    ['ImagePullBackOff', 'image_unavailable'],
    ['ErrImageNeverPull', 'image_unavailable'],
    ['InvalidImageName', 'image_unavailable'],
    ['CreateContainerConfigError', 'container_not_started'],
    ['CreateContainerError', 'container_not_started'],
    ['RunContainerError', 'container_not_started'],
  ])('cannot start as it is: %s', (reason, cause) => {
    expect(judgePod(withState({ waiting: { reason, message: 'why' } }))).toEqual({
      kind: 'unable',
      failure: { cause, text: `${reason}: why` },
    });
  });

  it('cannot start when its program cannot be executed, or an init container failed', () => {
    const terminated = { exitCode: 128, reason: 'StartError', message: 'exec: no such file' };
    expect(judgePod(withState({ terminated }, 'Failed'))).toMatchObject({
      kind: 'unable',
      failure: { cause: 'container_not_started', text: 'StartError: exec: no such file' },
    });
    const failedInit = pod({
      phase: 'Pending',
      initContainerStatuses: [container({ terminated: { exitCode: 3, reason: 'Error' } }, 'prepare')],
    });
    expect(judgePod(failedInit)).toMatchObject({
      kind: 'unable',
      failure: { text: 'the init container prepare ended with exit code 3 (Error)' },
    });
  });
});

describe('a pod that has started', () => {
  it('runs while its container does, whatever sidecars do', () => {
    const running = pod({
      phase: 'Running',
      containerStatuses: [container({ terminated: { exitCode: 1 } }, 'sidecar'), container({ running: {} })],
    });
    expect(judgePod(running)).toEqual({ kind: 'running' });
  });

  it.each<[string, SeenPod, string, string]>([
    [
      'out of memory',
      withState({ terminated: { exitCode: 137, reason: 'OOMKilled' } }, 'Failed'),
      'out_of_memory',
      'its limit is 64Mi',
    ],
    [
      'no result',
      withState({ terminated: { exitCode: 1, reason: 'Error', message: 'svc-agent: gone' } }, 'Failed'),
      'agent_lost',
      'exit code 1 and reported no result: svc-agent: gone',
    ],
    ['evicted', pod({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' }), 'pod_evicted', 'low on memory'],
    ['deadline', pod({ phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' }), 'pod_deadline', 'too long'],
    ['node lost', pod({ phase: 'Failed', reason: 'NodeLost' }), 'node_lost', 'NodeLost'],
    ['not admitted', pod({ phase: 'Failed', reason: 'OutOfcpu', message: 'no cpu' }), 'pod_refused', 'no cpu'],
    [
      'preempted',
      pod({
        phase: 'Failed',
        conditions: [condition('DisruptionTarget', 'True', 'PreemptionByScheduler', 'for another')],
        containerStatuses: [container({ terminated: { exitCode: 143 } })],
      }),
      'pod_preempted',
      'PreemptionByScheduler: for another',
    ],
    [
      'deleted',
      pod(
        { phase: 'Failed', containerStatuses: [container({ terminated: { exitCode: 143 } })] },
        { deletedAt: '2026-01-01T00:00:01Z' },
      ),
      'pod_deleted',
      'somebody deleted',
    ],
  ])('has ended: %s', (_, seen, cause, text) => {
    expect(judgePod(seen)).toEqual({ kind: 'ended', failure: { cause, text: expect.stringContaining(text) } });
  });
});

describe('a pod whose agent is silent', () => {
  const silent = (ready: string, more: NonNullable<V1PodStatus['conditions']> = []): SeenPod =>
    pod({
      phase: 'Running',
      conditions: [condition('Ready', ready, '', ''), ...more],
      containerStatuses: [{ ...container({ running: {} }), ready: true }],
    });

  it('was lost with its node when the cluster hears nothing of that either', () => {
    expect(whySilent(silent('False'))).toEqual({ cause: 'node_lost', text: expect.stringContaining('the node n') });
    const tainted = condition('DisruptionTarget', 'True', 'DeletionByTaintManager', 'Taint manager: deleting');
    expect(whySilent(silent('False', [tainted]))).toMatchObject({ cause: 'node_lost' });
  });

  it('is simply silent when its node is well', () => {
    expect(whySilent(silent('True'))).toBeUndefined();
  });
});
