import { Metadata, credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent } from '@svc/proto/agent-service.ts';
import { HOST_ADDRESS, core } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { eventually } from '@svc/testing/eventually.ts';

const DAG = `
import os, time
from datetime import timedelta
from airflow.sdk import DAG, task

def where(previous=None):
    return f"{os.uname().nodename}"

with DAG("chain", schedule=None):
    value = None
    for index in range(4):
        value = task(task_id=f"t{index}")(where)(value)

with DAG("held", schedule=None):
    @task(retries=0)
    def hold():
        print("it runs", flush=True)
        time.sleep(float(os.environ.get("HOLD", "20")))
        return os.uname().nodename
    hold()

with DAG("killed", schedule=None):
    @task(retries=0)
    def hold(ti=None):
        print("it runs", flush=True)
        time.sleep(900 if ti.try_number == 1 else 0)
    hold()

with DAG("leaks", schedule=None):
    @task
    def tell():
        path = "/var/run/secrets/svc.dev/token"
        return open(path).read() if os.access(path, os.R_OK) else ""
    tell()
`;
const PATIENT = { withinMs: 240_000, everyMs: 200 };
const PORT = 19_191;

let namespace: TestNamespace;
let server: ClusterControlPlane;
beforeAll(async () => {
  namespace = await createTestNamespace('warm');
  server = await startClusterControlPlane(namespace.name, {
    'server.grpc_addr': `${HOST_ADDRESS}:${PORT}`,
    'auth.agent_token_transport': 'exchange',
    'auth.secret_liveness_mode': 'enforce',
    'execution.warm_pools_enabled': 'true',
    'execution.max_pool_size': '2',
  });
  await server.addDag('all', DAG);
});
afterAll(async () => {
  await server?.close();
  await namespace?.[Symbol.asyncDispose]();
});

const workers = async (dag: string) =>
  (await core.listNamespacedPod({ namespace: namespace.name, labelSelector: `svc.dev/worker,svc.dev/dag=${dag}` }))
    .items;

async function valueOf(dagId: string, runId: string, taskId: string): Promise<unknown> {
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/xcomEntries/return_value`;
  return (await server.api<{ value: unknown }>('GET', `${path}?deserialize=true`)).value;
}

async function chain(): Promise<Set<unknown>> {
  const runId = await server.trigger('chain');
  const { state } = await server.ended('chain', runId, 200);
  expect({ state, log: state === 'success' ? '' : await server.log('chain', runId, 't0') }).toMatchObject({
    state: 'success',
  });
  return new Set(await Promise.all([0, 1, 2, 3].map((index) => valueOf('chain', runId, `t${index}`))));
}

describe('a warm worker', () => {
  it('runs a whole chain, and the next run after a control plane that was killed and came back', async () => {
    const first = await chain();
    const [pod] = await workers('chain');
    expect([...first]).toEqual([pod?.metadata?.name]);
    await server.restart({ signal: 'SIGKILL' });
    expect(await chain()).toEqual(first);
    expect(await workers('chain')).toHaveLength(1);
  });

  it('that goes on while its control plane is away reports to the next one, and loses nothing', async () => {
    const runId = await server.trigger('held');
    await eventually(async () => expect(await server.log('held', runId, 'hold')).toContain('it runs'), PATIENT);
    await server.restart({ signal: 'SIGKILL' });
    expect(await server.ended('held', runId, 200)).toMatchObject({ state: 'success' });
    expect(await valueOf('held', runId, 'hold')).toBe((await workers('held'))[0]?.metadata?.name);
  });

  it('whose pod is killed loses its attempt at once, which is tried again elsewhere', async () => {
    const runId = await server.trigger('killed');
    await eventually(async () => expect(await server.log('killed', runId, 'hold')).toContain('it runs'), PATIENT);
    const [pod] = await workers('killed');
    const name = pod?.metadata?.name ?? '';
    await core.deleteNamespacedPod({ namespace: namespace.name, name, gracePeriodSeconds: 0 });
    await server.ended('killed', runId, 200);
    expect(await server.log('killed', runId, 'hold')).toMatch(/The task was lost|asked to stop/);
    await eventually(async () =>
      expect((await workers('killed')).map((one) => one.metadata?.name)).not.toContain(name),
    );
  });

  it('has used up its token: whoever copies it out of the pod gets nothing for it', async () => {
    const runId = await server.trigger('leaks');
    expect(await server.ended('leaks', runId, 200)).toMatchObject({ state: 'success' });
    const token = String(await valueOf('leaks', runId, 'tell'));
    expect(token).not.toBe(''); // the test is of a token that a task can read
    expect(await exchange(token)).toMatchObject({ code: 'PERMISSION_DENIED' });
  });
});

/** The name of the status. */
function exchange(token: string): Promise<{ code: string; details: string }> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const client = new Agent(`${HOST_ADDRESS}:${PORT}`, credentials.createInsecure());
  return new Promise((resolve) => {
    client.Exchange({}, metadata, (error) => {
      client.close();
      resolve({ code: status[error?.code ?? 0] ?? '', details: error?.details ?? '' });
    });
  });
}
