/** The provider cncf.kubernetes as it is on the index, in a task pod: KubernetesPodOperator makes pods beside it. */
import type { V1Pod } from '@kubernetes/client-node';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { core } from './cluster.ts';
import { startClusterControlPlane } from './control-plane.ts';
import type { ClusterControlPlane } from './control-plane.ts';
import { BASE_IMAGE, PYTHON_LINE, makeImageTools } from './images.ts';
import type { ImageTools } from './images.ts';
import { createTestNamespace } from './namespace.ts';
import type { TestNamespace } from './namespace.ts';
import { createPodMaker } from './pod-maker.ts';
import { podOperatorEnvironment } from './pod-operator-environment.ts';
import { watchPods } from './watch-pods.ts';

const HEAD = (dagId: string) => `
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.sdk import DAG, task

with DAG("${dagId}", schedule=None, default_args={
    "kubernetes_conn_id": "cluster", "namespace": "NAMESPACE", "image": "IMAGE",
    "startup_check_interval_seconds": 1, "cmds": ["python", "-c"],
}):
`;
const PODS = `${HEAD('pods')}
    says = KubernetesPodOperator(
        task_id="says", name="says",
        arguments=["import os; print('in', os.uname().nodename, 'for', os.environ['WHO'])"],
        env_vars={"WHO": "{{ ti.task_id }} of {{ dag.dag_id }}"}, labels={"kept-by": "pod-operator-test"},
    )
    gives = KubernetesPodOperator(
        task_id="gives", name="gives", do_xcom_push=True,
        arguments=["open('/airflow/xcom/return.json', 'w').write('{\\"rows\\": 7}')"],
    )
    fails = KubernetesPodOperator(
        task_id="fails", name="fails", arguments=["print('going wrong'); raise SystemExit(7)"],
    )
    skips = KubernetesPodOperator(
        task_id="skips", name="skips", arguments=["raise SystemExit(3)"], skip_on_exit_code=3,
    )

    @task
    def rows(given):
        return given["rows"]

    rows(gives.output)
`;
const DEFERRED = `${HEAD('deferred')}
    KubernetesPodOperator(
        task_id="waits", name="waits", deferrable=True, poll_interval=1, arguments=["print('waited for')"],
    )
`;

let namespace: TestNamespace;
let server: ClusterControlPlane;
let tools: ImageTools;
const seen = new Map<string, V1Pod>();
let stopWatching = (): void => {};

beforeAll(async () => {
  const python = await podOperatorEnvironment();
  const packages = join(dirname(dirname(python)), 'lib', `python${PYTHON_LINE}`, 'site-packages');
  if (!existsSync(packages)) throw new Error(`set PYTHON to a Python ${PYTHON_LINE}: the image has that one`);
  tools = makeImageTools();
  // Behind what the image has: its own packages stay as they are.
  const image = tools.pushImage(
    'pod-operator:1',
    [
      `FROM ${BASE_IMAGE}`,
      'USER 0:0',
      'COPY . /opt/packages',
      `RUN echo /opt/packages > "$(python -c 'import site; print(site.getsitepackages()[0])')/packages.pth"`,
      'USER 10001:10001',
      '',
    ].join('\n'),
    packages,
  );
  namespace = await createTestNamespace('pod-operator');
  server = await startClusterControlPlane(namespace.name);
  await server.api('POST', '/connections', {
    connection_id: 'cluster',
    conn_type: 'kubernetes',
    extra: JSON.stringify({
      kube_config: await createPodMaker(namespace.name),
      xcom_sidecar_container_image: BASE_IMAGE,
    }),
  });
  for (const [dagId, text] of Object.entries({ pods: PODS, deferred: DEFERRED })) {
    const given = text.replace('NAMESPACE', namespace.name).replace('IMAGE', BASE_IMAGE);
    await server.addDag(dagId, given, undefined, image);
  }
  stopWatching = await watchPods(namespace.name, (pod) => void seen.set(pod.metadata?.name ?? '', pod));
});
afterAll(async () => {
  stopWatching();
  await server?.close();
  tools?.[Symbol.dispose]();
  await namespace?.[Symbol.asyncDispose]();
});

/** Of a run of the DAG: states by task, with the logs of all when they are not as wanted. */
async function run(dagId: string, wanted: Record<string, string>): Promise<string> {
  const runId = await server.trigger(dagId);
  await server.ended(dagId, runId, 500);
  const instances = await server.instances(dagId, runId);
  const states = Object.fromEntries(instances.map(({ task_id: id, state }) => [id, state]));
  const logs = await Promise.all(Object.keys(states).map((id) => server.log(dagId, runId, id)));
  expect(states, logs.join('\n')).toEqual(wanted);
  return runId;
}

const left = async () => (await core.listNamespacedPod({ namespace: namespace.name })).items;

it('makes pods by a connection, follows their logs, takes their value and removes them', async () => {
  const wanted = { says: 'success', gives: 'success', rows: 'success', fails: 'failed', skips: 'skipped' };
  const runId = await run('pods', wanted);
  expect(await server.log('pods', runId, 'says')).toMatch(/in says-\S+ for says of pods/);
  expect(await server.log('pods', runId, 'fails')).toContain('going wrong');
  const path = `/dags/pods/dagRuns/${encodeURIComponent(runId)}/taskInstances/rows/xcomEntries/return_value?deserialize=true`;
  expect(await server.api('GET', path)).toMatchObject({ value: 7 });

  const made = [...seen.values()].filter(({ metadata }) => metadata?.labels?.['kept-by'] === 'pod-operator-test');
  expect(made).toHaveLength(1);
  expect(made[0]?.metadata?.labels).toMatchObject({ dag_id: 'pods', task_id: 'says' });
  expect(made[0]?.spec?.containers[0]?.image).toBe(BASE_IMAGE);
  // Ours by the control plane, theirs by the operator.
  await eventually(async () => expect(await left()).toEqual([]), { withinMs: 240_000 });
}, 600_000);

it('lets the triggerer wait for the pod of a deferred task', async () => {
  const runId = await run('deferred', { waits: 'success' });
  expect(await server.log('deferred', runId, 'waits')).toContain('waited for');
  await eventually(async () => expect(await left()).toEqual([]), { withinMs: 240_000 });
}, 600_000);
