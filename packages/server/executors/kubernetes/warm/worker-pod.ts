/**
 * The pod of a warm worker: that of an attempt, with another program and without anything of the attempt. Pure.
 *
 * What a pod is made of is its shape. Tasks of a version whose pods would be the same share a pool. A setting that
 * makes sense for only one attempt excludes a task from pools.
 */
import { createHash } from 'node:crypto';
import type { V1Container, V1Pod } from '@kubernetes/client-node';
import { WORKER_VARIABLE } from '@svc/proto/marked-processes.ts';
import type { TaskPodFacts, VersionPodFacts } from '../pod-facts.ts';
import { LABEL } from '../pod-names.ts';
import type { PodIdentity } from '../pod-names.ts';
import { buildPod } from '../pod-spec.ts';
import type { PodInput } from '../pod-spec.ts';
import { TASK_CONTAINER } from '../pod-verdict.ts';
import { workerAnnotations, workerLabels, workerPodName } from './worker-identity.ts';
import type { PoolIdentity, WarmIdentity } from './worker-identity.ts';

/** What pods of workers have in common with those of attempts. */
export type WorkerPodInput = Pick<
  PodInput,
  'image' | 'isOwnImage' | 'settings' | 'controlPlane' | 'credential' | 'owner'
> & { task: Pick<TaskPodFacts, 'resources' | 'execution' | 'override'> };

/** A placeholder identity: the run, the task and the try mean nothing for a worker, and the pod contains none of it. */
const nobody = (pool: PoolIdentity): PodIdentity => ({
  kind: 'task',
  tenantId: pool.tenantId,
  dagId: pool.dagId,
  run: 0,
  taskId: '',
  mapIndex: -1,
  tryNumber: 0,
  versionNumber: pool.versionNumber,
  attemptId: '',
  dispatch: 1,
});

const OF_ATTEMPTS = new Set<string>([LABEL.run, LABEL.task, LABEL.try, LABEL.attempt, 'svc.dev/identity']);

const withoutAttempt = (names: Readonly<Record<string, string>> | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(names ?? {}).filter(([name]) => !OF_ATTEMPTS.has(name)));

export function buildWorkerPod(worker: WarmIdentity, input: WorkerPodInput): V1Pod {
  const { task, ...rest } = input;
  const pod = buildPod({
    ...rest,
    identity: nobody(worker),
    runId: '',
    resources: task.resources,
    execution: task.execution,
    override: task.override,
    stagingClaim: undefined,
  });
  const { namespace, installation } = input.settings;
  return {
    ...pod,
    metadata: {
      name: workerPodName(worker.workerId),
      ...(namespace !== '' && { namespace }),
      labels: { ...withoutAttempt(pod.metadata?.labels), ...workerLabels(worker, installation) },
      annotations: { ...withoutAttempt(pod.metadata?.annotations), ...workerAnnotations(worker, input.owner) },
    },
    spec: {
      ...pod.spec,
      containers: (pod.spec?.containers ?? []).map((container) =>
        container.name === TASK_CONTAINER ? working(container, worker.workerId) : container,
      ),
    },
  };
}

const working = (container: V1Container, workerId: string): V1Container => ({
  ...container,
  args: ['work'],
  env: [...(container.env ?? []), { name: WORKER_VARIABLE, value: workerId }],
});

/** Equal for pods that differ only in their owner. */
export function shapeOf(pool: Omit<PoolIdentity, 'shape'>, input: WorkerPodInput): string {
  const pod = buildWorkerPod({ ...pool, shape: '', workerId: '' }, { ...input, owner: '' });
  return createHash('sha256').update(JSON.stringify(pod)).digest('hex').slice(0, 16);
}

/** Staged files, deadlines of a pod and other containers belong to one attempt. */
export function mayBeWarm(facts: VersionPodFacts, task: TaskPodFacts | undefined): task is TaskPodFacts {
  if (!task || facts.staging || task.problems.length > 0) return false;
  const spec = task.override?.spec as Partial<V1Pod['spec']>;
  const others = (spec?.containers ?? []).some(({ name }) => name !== TASK_CONTAINER);
  return !others && (spec?.initContainers ?? []).length === 0 && spec?.activeDeadlineSeconds === undefined;
}
