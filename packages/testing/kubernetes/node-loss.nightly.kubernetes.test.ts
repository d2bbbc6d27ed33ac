/**
 * A node that is gone, with its kubelet and what it ran. There is one, so that everything waits until it is back:
 *
 *   the machine dies     its containers and its kubelet end; the cluster notices after 50 s, and we after the lease
 *   its Node is removed  as a cloud does it for a machine that is gone; the cluster removes its pods after 40 s
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

/** Longer than the cluster takes to miss a node, which is what is to be told. */
const LEASE = '90s';
const ADDRESS = `${HOST_ADDRESS}:19191`;
const PATIENT = { withinMs: 240_000, everyMs: 500 };

const DAGS = `
import time
from airflow.sdk import DAG, task

def one(name):
    with DAG(name, schedule=None) as dag:
        @task
        def only():
            print("it runs", flush=True)
            time.sleep(900)
        only()
    return dag

machine = one("machine")
removed = one("removed")
`;

let namespace: TestNamespace;
let server: ClusterControlPlane;
beforeAll(async () => {
  namespace = await createTestNamespace('node-loss');
  server = await startClusterControlPlane(namespace.name, {
    'executor.unreachable_after': LEASE,
    'scheduler.max_infrastructure_retries': '0', // the task fails with the cause of its first loss
    'server.grpc_addr': ADDRESS,
  });
  await server.addDag('all', DAGS);
});
afterAll(async () => {
  await server?.close();
  await namespace?.[Symbol.asyncDispose]();
});

async function start(dagId: string): Promise<string> {
  const runId = await server.trigger(dagId);
  await eventually(async () => (await server.log(dagId, runId, 'only')).includes('it runs'), PATIENT);
  // The task may speak before the kubelet tells the cluster that it runs.
  await eventually(async () => {
    const labelled = { namespace: namespace.name, labelSelector: `svc.dev/dag=${dagId}` };
    const { items } = await core.listNamespacedPod(labelled);
    return items.some(({ status }) => status?.containerStatuses?.some(({ ready }) => ready));
  }, PATIENT);
  return runId;
}

async function outcome(dagId: string, runId: string) {
  await server.ended(dagId, runId, 500);
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/only`;
  const found = await server.api<{ failure_reason: string }>('GET', path);
  return { reason: found.failure_reason, log: await server.log(dagId, runId, 'only') };
}

const isReady = async (name: string): Promise<boolean> =>
  (await core.readNode({ name })).status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

describe.runIf(CLUSTER_STATE)('a node that is gone', () => {
  it('is why its tasks have failed', { timeout: 600_000 }, async () => {
    const node = (await core.listNode()).items[0]?.metadata?.name ?? '';
    const machine = await start('machine');
    {
      using _held = await holdComponent('kubelet');
      // Nobody is left to say what became of them.
      for (const pid of (await findVictims([ADDRESS])).agents) killProcess(pid);
      const lost = await outcome('machine', machine);
      expect(lost.reason).toMatch(/^node_lost: /);
      expect(lost.log.trimEnd().split('\n').at(-1)).toContain(`the node ${node}`);
    }
    await eventually(() => isReady(node), PATIENT);

    const removed = await start('removed');
    {
      using _held = await holdComponent('kubelet');
      await core.deleteNode({ name: node });
      const lost = await outcome('removed', removed);
      expect(lost.reason).toMatch(/^node_lost: /);
      expect(lost.log).toContain('node_lost');
    }
    await eventually(() => isReady(node), PATIENT);
    await eventually(async () => {
      expect((await core.listNamespacedPod({ namespace: namespace.name })).items).toEqual([]);
    }, PATIENT);
  });
});
