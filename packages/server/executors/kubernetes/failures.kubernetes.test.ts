import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REGISTRY, core, scheduling } from '@svc/testing/kubernetes/cluster.ts';
import { makeImageTools, BASE_IMAGE } from '@svc/testing/kubernetes/images.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { createPod, untilEnded } from '@svc/testing/kubernetes/pods.ts';
import { eventually } from '@svc/testing/eventually.ts';

/** The task image, but as root; and with a program that is not there. */
const ROOT_IMAGE = `${REGISTRY}/as-root:1`;
const NO_PROGRAM_IMAGE = `${REGISTRY}/no-program:1`;
/** There is one of it in the cluster, so that whoever has it can be in the way of another. */
const SLOT = 'example.com/slot';

const PATIENT = { withinMs: 240_000, everyMs: 200 };
/** Pods that could start must do so within it on a busy machine. */
const START_TIMEOUT = '120s';
/**
 * Pods that cannot start take it three times, so they have a control plane of their own. Within it, a busy kubelet has to say
 * why it does not start them.
 */
const SHORT_TIMEOUT = '30s';
const THREE_STARTS = { timeout: 600_000 };

/** A pod override as a plain dict: the base image has no client of Kubernetes, whose V1Pod says the same. */
const DAG = `
import os, time
from airflow.sdk import DAG, task

def one(name, container={}, **spec):
    override = {"spec": {**spec, "containers": [{"name": "base", **container}]}}
    with DAG(name, schedule=None) as dag:
        @task(executor_config={"pod_override": override})
        def only():
            print("it runs", flush=True)
            if name == "hungry":
                block = [bytearray(64 * 1024 * 1024) for _ in range(64)]
            if name.startswith("waits") or name == "overdue":
                time.sleep(600)
        only()
    return dag

plain = one("plain")
no_image = one("no_image", {"image": "${REGISTRY}/none:1"})
never_pulled = one("never_pulled", {"image": "none:1", "imagePullPolicy": "Never"})
bad_name = one("bad_name", {"image": "Not An Image"})
runs_as_root = one("runs_as_root", {"image": "${ROOT_IMAGE}"})
no_program = one("no_program", {"image": "${NO_PROGRAM_IMAGE}"})
waits_for_room = one("waits_for_room", {"resources": {"limits": {"${SLOT}": "1"}, "requests": {"${SLOT}": "1"}}})
no_config_map = one("no_config_map", {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "nope", "key": "a"}}}]})
no_volume = one("no_volume", {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}, volumes=[{"name": "v", "configMap": {"name": "nope"}}])
hungry = one("hungry", {"resources": {"limits": {"memory": "200Mi"}}})
no_node = one("no_node", nodeSelector={"kind": "of-another-planet"})
overdue = one("overdue", activeDeadlineSeconds=12)
waits_for_hand = one("waits_for_hand")
waits_for_mark = one("waits_for_mark")
waits_for_drain = one("waits_for_drain")
`;

let namespace: TestNamespace;
let namespaceOfStuck: TestNamespace;
let server: ClusterControlPlane;
let impatient: ClusterControlPlane;
beforeAll(async () => {
  using tools = makeImageTools();
  tools.pushImage('as-root:1', `FROM ${BASE_IMAGE}\nUSER 0:0\n`);
  tools.pushImage('no-program:1', `FROM ${BASE_IMAGE}\nENTRYPOINT ["/no/such/program"]\n`);
  namespaceOfStuck = await createTestNamespace('stuck');
  impatient = await startClusterControlPlane(namespaceOfStuck.name, { 'executor.pod_start_timeout': SHORT_TIMEOUT });
  await impatient.addDag('all', DAG);
  for (const dagId of STUCK) runs.set(dagId, impatient.trigger(dagId));
  namespace = await createTestNamespace('failures');
  server = await startClusterControlPlane(namespace.name, {
    'executor.pod_start_timeout': START_TIMEOUT,
    'scheduler.max_infrastructure_retries': '0', // a task fails with the cause of its first loss
  });
  await server.addDag('all', DAG);
  for (const dagId of ENDING) runs.set(dagId, server.trigger(dagId));
});
afterAll(async () => {
  await Promise.all([server?.close(), impatient?.close()]);
  await namespace?.[Symbol.asyncDispose]();
  await namespaceOfStuck?.[Symbol.asyncDispose]();
});

type Instance = { state: string; failure_reason: string | null; failure_detail: string | null; try_number: number };
const instance = (dagId: string, runId: string, plane = server): Promise<Instance> =>
  plane.api('GET', `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/only`);
const waitOf = async (dagId: string, runId: string): Promise<string> => {
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/only/dependencies`;
  const { dependencies } = await server.api<{ dependencies: { reason: string }[] }>('GET', path);
  return dependencies.map(({ reason }) => reason).join('; ');
};
const pods = async () => (await core.listNamespacedPod({ namespace: namespace.name })).items;

/** All at once: most of the time is spent waiting. */
const STUCK = [
  'no_image',
  'never_pulled',
  'bad_name',
  'runs_as_root',
  'no_program',
  'no_config_map',
  'no_volume',
  'no_node',
];
const ENDING = ['hungry', 'overdue'];
const runs = new Map<string, Promise<string>>();

async function outcomeOf(dagId: string, plane = server) {
  const runId = (await runs.get(dagId)) ?? '';
  await plane.ended(dagId, runId, 500);
  const { state, failure_reason: reason, failure_detail: detail } = await instance(dagId, runId, plane);
  const log = await plane.log(dagId, runId, 'only');
  return { state, reason, detail, last: log.trimEnd().split('\n').at(-1) ?? '', log };
}

describe('a pod that cannot start is tried three times, and then the task has failed', () => {
  it.each([
    ['no_image', 'image_unavailable', '/none:1'],
    ['never_pulled', 'image_unavailable', 'ErrImageNeverPull'],
    ['bad_name', 'image_unavailable', 'InvalidImageName'],
    ['runs_as_root', 'container_not_started', 'runAsNonRoot'],
    ['no_program', 'container_not_started', '/no/such/program'],
    ['no_config_map', 'container_not_started', 'configmap "nope" not found'],
    ['no_volume', 'pod_not_started', 'configmap "nope" not found'],
    ['no_node', 'pod_not_started', "didn't match Pod's node affinity/selector"],
  ])('%s', THREE_STARTS, async (dagId, cause, text) => {
    const { state, reason, detail, last, log } = await outcomeOf(dagId, impatient);
    expect({ state, reason }, log).toEqual({ state: 'failed', reason: expect.stringMatching(`^${cause}: `) });
    expect(detail).toContain(text);
    expect(last).toContain('The task could not be started');
    expect(last).toContain(text);
    expect(log).toContain('(1 of 3)');
    expect(log).toContain('(2 of 3)');
    expect(log).not.toContain('it runs');
  });
});

describe('a pod that ends before its time', () => {
  it('out of memory is known, with its limit', async () => {
    const { state, reason, detail, last } = await outcomeOf('hungry');
    expect({ state, reason }).toEqual({ state: 'failed', reason: expect.stringMatching(/^out_of_memory: /) });
    expect(`${detail} ${last}`).toMatch(/memory/);
  });

  it('past its deadline is told so', async () => {
    expect((await outcomeOf('overdue')).reason).toMatch(/^pod_deadline: /);
  });

  it('deleted by hand is told so, and what it said before is kept', async () => {
    const { runId, pod } = await running('waits_for_hand');
    await core.deleteNamespacedPod({ namespace: namespace.name, name: pod });
    await server.ended('waits_for_hand', runId, 250);
    const { failure_reason: reason } = await instance('waits_for_hand', runId);
    expect(reason).toMatch(/^pod_deleted: /);
    expect(await server.log('waits_for_hand', runId, 'only')).toContain('it runs');
  });

  it('evicted, as a node is drained, is told so', async () => {
    const { runId, pod } = await running('waits_for_drain');
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace: namespace.name } };
    await core.createNamespacedPodEviction({ namespace: namespace.name, name: pod, body });
    await server.ended('waits_for_drain', runId, 250);
    expect((await instance('waits_for_drain', runId)).failure_reason).toMatch(/^pod_evicted: /);
  });
});

describe('a pod in the way of one of higher priority', () => {
  const priority = 'svc-test-important';
  const at = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: priority }, value: 1_000 };
  beforeAll(async () => {
    const path = `/status/capacity/${SLOT.replace('/', '~1')}`;
    const { items } = await core.listNode();
    await core.patchNodeStatus({
      name: items[0]?.metadata?.name ?? '',
      body: [{ op: 'add', path, value: '1' }],
    });
    await scheduling.createPriorityClass({ body: at });
  });
  afterAll(() => scheduling.deletePriorityClass({ name: priority }));

  it('is told so when it had to go', async () => {
    const { runId } = await running('waits_for_room');
    const slot = { [SLOT]: '1' };
    await createPod({
      namespace: namespace.name,
      name: 'important',
      container: { image: BASE_IMAGE, args: ['--version'], resources: { limits: slot, requests: slot } },
      spec: { priorityClassName: priority },
    });
    await server.ended('waits_for_room', runId, 250);
    expect((await instance('waits_for_room', runId)).failure_reason).toMatch(/^pod_preempted: /);
    expect((await untilEnded({ namespace: namespace.name, name: 'important' })).exitCode).toBe(0);
  });
});

describe('a task that is marked while it runs', () => {
  it('loses its pod, after its last words', async () => {
    const { runId, pod } = await running('waits_for_mark');
    const path = `/dags/waits_for_mark/dagRuns/${encodeURIComponent(runId)}/taskInstances/only`;
    await server.api('PATCH', path, { new_state: 'success' });
    await eventually(async () => !(await pods()).some(({ metadata }) => metadata?.name === pod), PATIENT);
    expect((await instance('waits_for_mark', runId)).state).toBe('success');
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

async function running(dagId: string): Promise<{ runId: string; pod: string }> {
  const runId = await server.trigger(dagId);
  await eventually(async () => (await server.log(dagId, runId, 'only')).includes('it runs'), PATIENT);
  const found = (await pods()).find(({ metadata }) => metadata?.labels?.['svc.dev/dag'] === dagId);
  return { runId, pod: found?.metadata?.name ?? '' };
}
