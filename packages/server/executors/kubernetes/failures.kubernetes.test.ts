import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { eventually } from '@svc/testing/eventually.ts';

const PATIENT = { withinMs: 120_000, everyMs: 200 };

const DAG = `
import os, time
from datetime import datetime
from kubernetes.client import models as k8s
from airflow.sdk import DAG, task

def laid_over(**container):
    spec = {name: container.pop(name) for name in ("node_selector", "active_deadline_seconds", "priority_class_name") if name in container}
    return {"pod_override": k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container(name="base", **container)], **spec))}

def one(name, **container):
    with DAG(name, schedule=None) as dag:
        @task(executor_config=laid_over(**container))
        def only():
            print("it runs")
            if name == "hungry":
                block = [bytearray(64 * 1024 * 1024) for _ in range(64)]
            if name in ("waits", "overdue"):
                time.sleep(600)
            if name == "dies":
                os.kill(1, 9)
                os._exit(1)
        only()
    return dag

plain = one("plain")
no_image = one("no_image", image="registry.invalid/none:1", image_pull_policy="IfNotPresent")
never_pulled = one("never_pulled", image="none:1", image_pull_policy="Never")
bad_name = one("bad_name", image="Not An Image")
no_config_map = one("no_config_map", env=[k8s.V1EnvVar(name="A", value_from=k8s.V1EnvVarSource(config_map_key_ref=k8s.V1ConfigMapKeySelector(name="nope", key="a")))])
hungry = one("hungry", resources=k8s.V1ResourceRequirements(limits={"memory": "160Mi"}))
no_node = one("no_node", node_selector={"kind": "of-another-planet"})
overdue = one("overdue", active_deadline_seconds=8)
waits = one("waits")
greedy = one("greedy", resources=k8s.V1ResourceRequirements(limits={"cpu": "4000"}))
`;

let namespace: TestNamespace;
let server: ClusterControlPlane;
beforeAll(async () => {
  namespace = await createTestNamespace('failures');
  server = await startClusterControlPlane(namespace.name, { 'executor.pod_start_timeout': '12s' });
  await server.addDag('all', DAG);
});
afterAll(async () => {
  await server?.close();
  await namespace?.[Symbol.asyncDispose]();
});

type Instance = { state: string; failure_reason: string | null; failure_detail: string | null; try_number: number };
const instance = (dagId: string, runId: string): Promise<Instance> =>
  server.api('GET', `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/only`);
const waitOf = async (dagId: string, runId: string): Promise<string> => {
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/only/dependencies`;
  const { dependencies } = await server.api<{ dependencies: { reason: string }[] }>('GET', path);
  return dependencies.map(({ reason }) => reason).join('; ');
};
const pods = async () => (await core.listNamespacedPod({ namespace: namespace.name })).items;

async function fails(dagId: string) {
  const runId = await server.trigger(dagId);
  await server.ended(dagId, runId, 250);
  const { state, failure_reason: reason, failure_detail: detail, try_number: tryNumber } = await instance(dagId, runId);
  const log = await server.log(dagId, runId, 'only');
  return { state, reason, detail, tryNumber, last: log.trimEnd().split('\n').at(-1) ?? '', log };
}

describe('a pod that cannot start is tried three times, and then the task has failed', () => {
  it.each([
    ['no_image', 'image_unavailable', 'registry.invalid/none:1'],
    ['never_pulled', 'image_unavailable', 'ErrImageNeverPull'],
    ['bad_name', 'image_unavailable', 'InvalidImageName'],
    ['no_config_map', 'container_not_started', 'configmap "nope" not found'],
  ])('%s', async (dagId, cause, text) => {
    const { state, reason, detail, last, log } = await fails(dagId);
    expect({ state, reason }).toEqual({ state: 'failed', reason: expect.stringMatching(`^${cause}: `) });
    expect(detail).toContain(text);
    expect(last).toContain('The task could not be started');
    expect(last).toContain(text);
    expect(log).toContain('(1 of 3)');
    expect(log).toContain('(2 of 3)');
  });

  it('says while it waits that no node takes it, and gives up in time', async () => {
    const runId = await server.trigger('no_node');
    await eventually(
      async () => expect(await waitOf('no_node', runId)).toMatch(/no node.*didn't match Pod's node/),
      PATIENT,
    );
    await server.ended('no_node', runId, 250);
    const { failure_reason: reason, failure_detail: detail } = await instance('no_node', runId);
    expect(reason).toMatch(/^pod_not_started: /);
    expect(detail).toContain("didn't match Pod's node affinity/selector");
  });
});

describe('a pod that ends before its time', () => {
  it('out of memory is known by its limit', async () => {
    const { state, reason, detail, last } = await fails('hungry');
    expect({ state, reason }).toEqual({ state: 'failed', reason: expect.stringMatching(/^out_of_memory: /) });
    expect(`${detail} ${last}`).toMatch(/memory/);
  });

  it('past its deadline is told so', async () => {
    const { reason } = await fails('overdue');
    expect(reason).toMatch(/^pod_deadline: /);
  });

  it('deleted by hand is told so, and what it said before is kept', async () => {
    const runId = await server.trigger('waits');
    await eventually(async () => (await instance('waits', runId)).state === 'running', PATIENT);
    await eventually(async () => (await server.log('waits', runId, 'only')).includes('it runs'), PATIENT);
    const [pod] = await pods();
    await core.deleteNamespacedPod({ namespace: namespace.name, name: pod?.metadata?.name ?? '' });
    await server.ended('waits', runId, 250);
    const { failure_reason: reason } = await instance('waits', runId);
    expect(reason).toMatch(/^pod_deleted: /);
    expect(await server.log('waits', runId, 'only')).toContain('it runs');
  });
});

describe('a task that is marked while it runs', () => {
  it('loses its pod, after its last words', async () => {
    const runId = await server.trigger('waits');
    await eventually(async () => (await server.log('waits', runId, 'only')).includes('it runs'), PATIENT);
    await server.api('PATCH', `/dags/waits/dagRuns/${encodeURIComponent(runId)}/taskInstances/only`, {
      new_state: 'success',
    });
    await eventually(async () => expect(await pods()).toEqual([]), PATIENT);
    expect((await instance('waits', runId)).state).toBe('success');
  });
});

describe('a namespace whose quota is used up', () => {
  it('is a reason to wait, and the task runs when there is room', async () => {
    const quota = { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } };
    await core.createNamespacedResourceQuota({ namespace: namespace.name, body: quota });
    await eventually(async () => {
      const found = await core.readNamespacedResourceQuota({ namespace: namespace.name, name: 'none' });
      return found.status?.hard?.['pods'] === '0';
    }, PATIENT);
    const runId = await server.trigger('plain');
    await eventually(async () => expect(await waitOf('plain', runId)).toContain('exceeded quota'), PATIENT);
    await core.deleteNamespacedResourceQuota({ namespace: namespace.name, name: 'none' });
    expect((await server.ended('plain', runId, 250)).state).toBe('success');
    expect((await instance('plain', runId)).try_number).toBe(1);
  });
});
