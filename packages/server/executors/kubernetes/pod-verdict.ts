/**
 * What the state of a pod means for its attempt. Pure.
 *
 *   waiting    it has not started yet; `wait` says why, if there is a reason
 *   unable     it cannot start as it is: a person has to change something, or time has to pass
 *   running    its container runs, whatever the agent in it reports
 *   ended      its container has ended, or will never start
 */
import type { V1ContainerStatus, V1PodCondition } from '@kubernetes/client-node';
import type { FailureCause } from '@svc/spec/failure-causes.ts';
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import type { SeenPod } from './pod-watch.ts';

export type PodWait = { reason: WaitReason; detail: string };
export type PodFailure = { cause: FailureCause; text: string };

export type PodVerdict =
  | { kind: 'waiting'; wait: PodWait | undefined }
  | { kind: 'unable'; failure: PodFailure }
  | { kind: 'running' }
  | { kind: 'ended'; failure: PodFailure };

/** The name of our container. Others may be an author's sidecars. */
export const TASK_CONTAINER = 'task';

/** Reasons of the kubelet for containers that it could not create. Each needs a person, or at least another try. */
const UNABLE: Readonly<Record<string, FailureCause>> = {
  ImagePullBackOff: 'image_unavailable',
  ErrImageNeverPull: 'image_unavailable',
  InvalidImageName: 'image_unavailable',
  ImageInspectError: 'image_unavailable',
  CreateContainerConfigError: 'container_not_started',
  CreateContainerError: 'container_not_started',
  RunContainerError: 'container_not_started',
  CrashLoopBackOff: 'container_not_started',
};

/** Why the cluster ended the pod (condition DisruptionTarget). */
const DISRUPTIONS: Readonly<Record<string, FailureCause>> = {
  PreemptionByScheduler: 'pod_preempted',
  DeletionByTaintManager: 'node_lost',
  EvictionByEvictionAPI: 'pod_evicted',
  DeletionByPodGC: 'node_lost',
  TerminationByKubelet: 'pod_evicted',
};

export function judgePod(pod: SeenPod): PodVerdict {
  const { status } = pod;
  const container = status.containerStatuses?.find(({ name }) => name === TASK_CONTAINER);
  const terminated = container?.state?.terminated;
  if (terminated) return judgeEnd(pod, container, terminated);
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return { kind: 'ended', failure: podFailure(pod) };
  if (container?.state?.running) return { kind: 'running' };
  return judgeStart(pod, container);
}

function judgeStart({ status }: SeenPod, container: V1ContainerStatus | undefined): PodVerdict {
  const failedInit = status.initContainerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (failedInit) {
    const { exitCode, reason } = failedInit.state?.terminated ?? { exitCode: 1, reason: '' };
    const text = `the init container ${failedInit.name} ended with exit code ${exitCode} (${reason})`;
    return { kind: 'unable', failure: { cause: 'container_not_started', text } };
  }
  const all = [...(status.initContainerStatuses ?? []), ...(container ? [container] : [])];
  for (const { state, image } of all) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    const cause = UNABLE[reason];
    if (cause) return { kind: 'unable', failure: { cause, text: sentence(reason, message || image) } };
    if (reason === 'ErrImagePull') {
      return { kind: 'waiting', wait: { reason: 'image_pull', detail: sentence(reason, message) } };
    }
  }
  const scheduled = conditionOf(status.conditions, 'PodScheduled');
  if (scheduled?.status === 'False') {
    const detail = scheduled.message ?? scheduled.reason ?? '';
    return { kind: 'waiting', wait: { reason: waitOf(detail), detail } };
  }
  return { kind: 'waiting', wait: undefined };
}

const waitOf = (message: string): WaitReason =>
  /persistentvolumeclaim/i.test(message) ? 'volume_pending' : 'pod_unschedulable';

type Terminated = NonNullable<NonNullable<V1ContainerStatus['state']>['terminated']>;

function judgeEnd(pod: SeenPod, container: V1ContainerStatus, terminated: Terminated): PodVerdict {
  const { reason = '', message = '', exitCode, signal } = terminated;
  if (reason === 'OOMKilled') {
    const limit = pod.memoryLimit === undefined ? '' : `, its limit is ${pod.memoryLimit}`;
    return { kind: 'ended', failure: { cause: 'out_of_memory', text: `the container ran out of memory${limit}` } };
  }
  // The program could not be executed, so none of the author's code has run.
  if (reason === 'StartError' || reason === 'ContainerCannotRun') {
    return { kind: 'unable', failure: { cause: 'container_not_started', text: sentence(reason, message) } };
  }
  const disruption = disruptionOf(pod);
  if (disruption) return { kind: 'ended', failure: disruption };
  if (pod.status.reason === 'DeadlineExceeded') return { kind: 'ended', failure: podFailure(pod) };
  if (pod.deletedAt !== undefined) return { kind: 'ended', failure: DELETED };
  const how = signal ? `was killed by signal ${signal}` : `ended with exit code ${exitCode}`;
  const said = message.trim() === '' ? '' : `: ${message.trim()}`;
  const text = `the container ${container.name} ${how} and reported no result${said}`;
  return { kind: 'ended', failure: { cause: 'agent_lost', text } };
}

/** The failure of a pod that ended as a whole. */
function podFailure(pod: SeenPod): PodFailure {
  const { reason = '', message = '' } = pod.status;
  const disruption = disruptionOf(pod);
  if (disruption) return disruption;
  const text = sentence(reason, message);
  switch (reason) {
    case 'Evicted':
      return { cause: 'pod_evicted', text };
    case 'Preempting':
      return { cause: 'pod_preempted', text };
    case 'DeadlineExceeded':
      return { cause: 'pod_deadline', text };
    case 'NodeLost':
    case 'NodeShutdown':
    case 'Terminated':
      return { cause: 'node_lost', text };
    case 'OutOfcpu':
    case 'OutOfmemory':
    case 'OutOfpods':
    case 'NodeAffinity':
    case 'UnexpectedAdmissionError':
      return { cause: 'pod_refused', text };
    default:
      return { cause: 'agent_lost', text: text || 'the pod ended and reported no result' };
  }
}

/** Why the cluster is ending the pod, if known. The agent in it only knows that it was asked to stop. */
function disruptionOf({ status }: SeenPod): PodFailure | undefined {
  const condition = conditionOf(status.conditions, 'DisruptionTarget');
  if (condition?.status !== 'True') return undefined;
  const cause = DISRUPTIONS[condition.reason ?? ''] ?? 'pod_evicted';
  return { cause, text: sentence(condition.reason ?? '', condition.message ?? '') };
}

/** Does the same for a pod whose agent reports that it was stopped. The kubelet stops a pod before it reports why. */
export function whyStopped(pod: SeenPod, now = Date.now()): PodFailure | undefined {
  const { deadlineSeconds, status } = pod;
  const runsSince = Date.parse(String(status.startTime));
  if (deadlineSeconds !== undefined && now - runsSince >= deadlineSeconds * 1_000) {
    return { cause: 'pod_deadline', text: `DeadlineExceeded: activeDeadlineSeconds is ${deadlineSeconds}` };
  }
  return disruptionOf(pod) ?? (pod.deletedAt === undefined ? undefined : DELETED);
}

/** For a pod that runs according to the cluster, but whose agent was silent for a long time. */
export function whySilent(pod: SeenPod): PodFailure | undefined {
  const { status, nodeName } = pod;
  const container = status.containerStatuses?.find(({ name }) => name === TASK_CONTAINER);
  // The cluster marks the pods of an unreachable node as not ready, although the node itself had reported its
  // containers as ready.
  const isUnheard = container?.ready === true && conditionOf(status.conditions, 'Ready')?.status === 'False';
  return (
    disruptionOf(pod) ??
    (isUnheard ? { cause: 'node_lost', text: `the cluster hears nothing of the node ${nodeName} either` } : undefined)
  );
}

export const DELETED: PodFailure = { cause: 'pod_deleted', text: 'somebody deleted the pod of the task' };

const conditionOf = (conditions: V1PodCondition[] | undefined, type: string): V1PodCondition | undefined =>
  conditions?.find((condition) => condition.type === type);

const sentence = (reason: string, message: string): string =>
  [reason, message].filter((part) => part !== '').join(': ');
