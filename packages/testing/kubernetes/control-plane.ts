/** A control plane beside the cluster, as an operator runs one with a kubeconfig: its tasks are pods of a namespace of the test. */
import { startLiveServer } from '../server/live-server.ts';
import type { LiveServer } from '../server/live-server.ts';
import { HOST_ADDRESS } from './cluster.ts';
import { BASE_REPOSITORY } from './images.ts';

export type ClusterControlPlane = LiveServer & {
  /** All lines of a try, as text. */
  log(dagId: string, runId: string, taskId: string, tryNumber?: number): Promise<string>;
};

export async function startClusterControlPlane(
  namespace: string,
  settings: Record<string, string> = {},
): Promise<ClusterControlPlane> {
  const server = await startLiveServer({
    'executor.type': 'orchestrator',
    'executor.task_namespace': namespace,
    'executor.base_image_repository': BASE_REPOSITORY,
    'server.grpc_addr': `${HOST_ADDRESS}:0`,
    ...settings,
  });
  return Object.assign(server, {
    async log(dagId: string, runId: string, taskId: string, tryNumber = 1): Promise<string> {
      const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/logs/${tryNumber}`;
      const response = await fetch(`${server.url}/api/v2${path}`, {
        headers: { authorization: `Bearer ${server.token}`, accept: 'text/plain' },
      });
      return response.text();
    },
  });
}
