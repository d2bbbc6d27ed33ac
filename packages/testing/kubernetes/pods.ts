/** Pods that tests make themselves, and looks at those that others made. */
import type { V1Container, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { eventually } from '../eventually.ts';
import { core } from './cluster.ts';

export type PodName = { readonly namespace: string; readonly name: string };
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** A busy machine pulls and starts slowly. */
const PATIENCE_MS = 300_000;

/** One container, never started again. */
export function createPod(
  options: PodName & { container: Omit<V1Container, 'name'>; spec?: Partial<V1PodSpec> },
): Promise<V1Pod> {
  const { namespace, name, container, spec } = options;
  return core.createNamespacedPod({
    namespace,
    body: {
      metadata: { name },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 1,
        ...spec,
        containers: [{ name: 'main', ...container }],
      },
    },
  });
}

/** Fails with what the pod's status and events say when it does not come to that. */
export async function untilPhase({ namespace, name }: PodName, ...phases: readonly PodPhase[]): Promise<V1Pod> {
  let seen: V1Pod | undefined;
  try {
    return await eventually(
      async () => {
        seen = await core.readNamespacedPod({ namespace, name });
        return phases.includes(seen.status?.phase as PodPhase) && seen;
      },
      { everyMs: 100, withinMs: PATIENCE_MS },
    );
  } catch (error) {
    const events = await eventsOf({ namespace, name });
    const status = JSON.stringify(seen?.status, null, 2);
    throw new Error(`${name} is not ${phases.join(' or ')}: ${status}\n${events.join('\n')}`, { cause: error });
  }
}

/** Until it has ended one way or the other: the exit code and log of its first container. */
export async function untilEnded(pod: PodName): Promise<{ exitCode: number | undefined; log: string; pod: V1Pod }> {
  const ended = await untilPhase(pod, 'Succeeded', 'Failed');
  const exitCode = ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode;
  return { exitCode, log: await podLog(pod), pod: ended };
}

export const podLog = (pod: PodName): Promise<string> => core.readNamespacedPodLog({ ...pod });

/** As `reason: message`. */
export async function eventsOf({ namespace, name }: PodName): Promise<string[]> {
  const { items } = await core.listNamespacedEvent({ namespace, fieldSelector: `involvedObject.name=${name}` });
  return items.map(({ reason, message }) => `${reason}: ${message}`);
}
