/** Several control planes on one database and one namespace, behind one address, as a chart with replicas makes them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import { freePort } from '../services/free-port.ts';
import { HOST_ADDRESS } from './cluster.ts';
import { startClusterControlPlane } from './control-plane.ts';
import type { ClusterControlPlane } from './control-plane.ts';
import { startServiceProxy } from './service-proxy.ts';
import type { ServiceProxy } from './service-proxy.ts';

export type ControlPlanes = {
  readonly all: readonly ClusterControlPlane[];
  readonly service: ServiceProxy;
  readonly databaseUrl: string;
  close(): Promise<void>;
};

export async function startControlPlanes(input: {
  namespace: string;
  count: number;
  settings?: Record<string, string>;
}): Promise<ControlPlanes> {
  const logs = await mkdtemp(join(tmpdir(), 'svc-logs-'));
  const database = await startScratchCluster();
  const databaseUrl = await database.createDatabase();
  // The next life of a control plane is where the last one was.
  const ports = await Promise.all(Array.from({ length: input.count }, () => freePort(HOST_ADDRESS)));
  const service = await startServiceProxy({ host: HOST_ADDRESS, ports });
  const all: ClusterControlPlane[] = [];
  const close = async (): Promise<void> => {
    for (const each of all) await each.close();
    service.close();
    await database.remove();
    await rm(logs, { recursive: true, force: true });
  };
  try {
    for (const port of ports) {
      const own = {
        'database.url': databaseUrl,
        'logs.dir': logs,
        'server.grpc_addr': `${HOST_ADDRESS}:${port}`,
        'executor.agent_control_plane_addr': service.address,
      };
      all.push(await startClusterControlPlane(input.namespace, { ...own, ...input.settings }));
    }
    return { all, service, databaseUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}
