import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { watchPods } from '@svc/testing/kubernetes/watch-pods.ts';
import { eventually } from '@svc/testing/eventually.ts';

const DAG = `
import os, time
from airflow.sdk import dag, task

@dag(schedule=None)
def flow():
    @task
    def extract():
        print("hello from", os.uname().nodename, "as", os.getuid())
        return {"rows": 7}

    @task
    def load(value):
        print("loaded", value["rows"])

    load(extract())

flow()
`;

let namespace: TestNamespace;
let server: ClusterControlPlane;
beforeAll(async () => {
  namespace = await createTestNamespace('attempts');
  server = await startClusterControlPlane(namespace.name);
});
afterAll(async () => {
  await server?.close();
  await namespace?.[Symbol.asyncDispose]();
});

/** The task image has no client of Kubernetes, which such a file imports. */
const OVERRIDDEN = `
import os
from kubernetes.client import models as k8s
from airflow.sdk import DAG, task

container = k8s.V1Container(name="base", env=[k8s.V1EnvVar(name="TEAM", value="blue")])
override = k8s.V1Pod(spec=k8s.V1PodSpec(containers=[container]))
override.metadata = k8s.V1ObjectMeta(labels={"team": "blue"})

with DAG("overridden", schedule=None):
    @task(executor_config={"pod_override": override})
    def only():
        return os.environ["TEAM"]
    only()
`;

const pods = async () => (await core.listNamespacedPod({ namespace: namespace.name })).items;

describe('an attempt', () => {
  it('runs in a pod of its own, hands its value on, and its pod is removed', async () => {
    await server.addDag('flow', DAG);
    const runId = await server.trigger('flow');
    const { state } = await server.ended('flow', runId, 200);
    const log = await server.log('flow', runId, 'extract');
    expect({ state, log }).toMatchObject({ state: 'success', log: expect.stringContaining('as 10001') });
    expect(log).toMatch(/hello from svc-[0-9a-f-]{36} /);
    expect(await server.log('flow', runId, 'load')).toContain('loaded 7');
    await eventually(async () => expect(await pods()).toEqual([]));
  });

  it('has what the models of the client say of its pod, in an image without the client', async () => {
    await server.addDag('overridden', OVERRIDDEN);
    // Its pod is there for a few seconds, which a list of all pods may miss.
    const labelled = new Set<string | undefined>();
    const stopWatching = await watchPods(namespace.name, ({ metadata }) => {
      if (metadata?.labels?.['team'] === 'blue') labelled.add(metadata.name);
    });
    const runId = await server.trigger('overridden');
    expect((await server.ended('overridden', runId, 200)).state).toBe('success');
    await eventually(() => expect(labelled.size).toBe(1));
    stopWatching();
    const path = `/dags/overridden/dagRuns/${encodeURIComponent(runId)}/taskInstances/only/xcomEntries/return_value?deserialize=true`;
    expect(await server.api('GET', path)).toMatchObject({ value: 'blue' });
  });
});
