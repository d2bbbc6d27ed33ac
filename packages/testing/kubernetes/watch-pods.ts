/** Every state of every pod in a namespace, also of those that are gone soon, until it is told to stop. */
import { Watch } from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { kubeConfig } from './cluster.ts';

export async function watchPods(namespace: string, onPod: (pod: V1Pod) => void): Promise<() => void> {
  const watch = new Watch(kubeConfig);
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const stopping = new AbortController();

  /** The client gives up a stream that is silent for half a minute; the first pod may take longer to come. */
  async function open(): Promise<void> {
    const again = (): void => {
      if (!stopping.signal.aborted) open().catch(() => {}); // the cluster is being taken down
    };
    const stream = await watch.watch(path, {}, (_event, pod: V1Pod) => onPod(pod), again);
    stopping.signal.addEventListener('abort', () => stream.abort());
  }

  await open();
  return () => stopping.abort();
}
