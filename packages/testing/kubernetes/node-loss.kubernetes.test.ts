/**
 * A node that dies with its kubelet and what it ran. A cluster takes 50 s to mark the pods of such a node as not ready; here the
 * test does that in its place. node-loss.nightly.kubernetes.test.ts waits for the cluster.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findVictims, killProcess } from '../chaos/runs-processes.ts';
import { eventually } from '../eventually.ts';
import { CLUSTER_STATE, HOST_ADDRESS, core } from './cluster.ts';
import { holdComponent } from './components.ts';
import { startClusterControlPlane } from './control-plane.ts';
import type { ClusterControlPlane } from './control-plane.ts';
import { createTestNamespace } from './namespace.ts';
import type { TestNamespace } from './namespace.ts';

const ADDRESS = `${HOST_ADDRESS}:19192`;
const PATIENT = { withinMs: 240_000, everyMs: 300 };

const DAG = `
import time
from airflow.sdk import DAG, task

with DAG("machine", schedule=None):
    @task
    def only():
        print("it runs", flush=True)
        time.sleep(900)
    only()
`;

let namespace: TestNamespace;
let server: ClusterControlPlane;
beforeAll(async () => {
  namespace = await createTestNamespace('node-loss');
  server = await startClusterControlPlane(namespace.name, {
    'executor.unreachable_after': '1m',
    'scheduler.max_infrastructure_retries': '0', // the task fails with the cause of its first loss
    'server.grpc_addr': ADDRESS,
  });
  await server.addDag('machine', DAG);
});
afterAll(async () => {
  await server?.close();
  await namespace?.[Symbol.asyncDispose]();
});

const isReady = async (): Promise<boolean> => {
  const { items } = await core.listNamespacedPod({ namespace: namespace.name });
  return items.some(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
};

/** As the cluster does it for every pod of a node that it does not hear of. */
async function markNotReady(): Promise<void> {
  const { items } = await core.listNamespacedPod({ namespace: namespace.name });
  for (const { metadata, status } of items) {
    const index = status?.conditions?.findIndex(({ type }) => type === 'Ready') ?? -1;
    const body = [{ op: 'replace', path: `/status/conditions/${index}/status`, value: 'False' }];
    await core.patchNamespacedPodStatus({ namespace: namespace.name, name: metadata?.name ?? '', body });
  }
}

describe.runIf(CLUSTER_STATE)('a node that dies', () => {
  it('is named as the reason why its tasks have failed', { timeout: 400_000 }, async () => {
    const node = (await core.listNode()).items[0]?.metadata?.name ?? '';
    const runId = await server.trigger('machine');
    await eventually(async () => (await server.log('machine', runId, 'only')).includes('it runs'), PATIENT);
    await eventually(isReady, PATIENT); // the task may speak before the kubelet tells the cluster that it runs
    {
      using _held = await holdComponent('kubelet');
      for (const pid of (await findVictims([ADDRESS])).agents) killProcess(pid);
      await markNotReady();
      await server.ended('machine', runId, 300);
    }
    const path = `/dags/machine/dagRuns/${encodeURIComponent(runId)}/taskInstances/only`;
    const { failure_reason: reason } = await server.api<{ failure_reason: string }>('GET', path);
    expect(reason).toMatch(/^node_lost: /);
    const log = await server.log('machine', runId, 'only');
    expect(log.trimEnd().split('\n').at(-1)).toContain(`the node ${node}`);
    await eventually(async () => {
      expect((await core.listNamespacedPod({ namespace: namespace.name })).items).toEqual([]);
    }, PATIENT);
  });
});
