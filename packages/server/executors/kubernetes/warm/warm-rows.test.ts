import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import {
  attempt,
  closeWarmClusters,
  drained,
  ordered,
  startWarmCluster,
} from '@svc/testing/kubernetes/warm-cluster.ts';
import type { Bus } from '@svc/testing/kubernetes/warm-cluster.ts';
import { warmWorkerOf } from './worker-identity.ts';

afterEach(closeWarmClusters);

describe('the row of a worker', () => {
  it('tells people where it is, and brings what they ask for', async () => {
    const cluster = startWarmCluster();
    await eventually(() => cluster.executor.capacity() > 0);
    cluster.executor.dispatch([attempt()]);
    await eventually(() => cluster.bodies.length === 1);
    const [worker] = await cluster.connectAll();
    if (!worker) throw new Error('there is none');
    await eventually(() => ordered(worker).length === 1);
    expect(cluster.rows.get(worker.id)).toMatchObject({ kind: 'warm', tenantId: 't1', dagId: 'flow', owner: 'me' });
    cluster.asked.set(worker.id, { drain: { by: 'ann', why: 'a new node' }, isRevoked: false });
    await eventually(() => drained(worker));
    expect(worker.orders.find(({ drain }) => drain)?.drain?.reason).toBe('ann: a new node');
    cluster.endPod(worker.pod, { terminated: { exitCode: 0 } });
    await eventually(() => !cluster.rows.has(worker.id));
  });

  it('waits for a worker that was there before it, instead of making another', async () => {
    const before = startWarmCluster();
    await eventually(() => before.executor.capacity() > 0);
    before.executor.dispatch([attempt()]);
    await eventually(() => before.bodies.length === 1);
    const [body] = before.bodies;
    if (!body) throw new Error('no pod was made');
    const after = startWarmCluster({ there: [...before.pods.values()], me: 'the next' });
    await eventually(() => after.executor.capacity() > 0);
    const waiting = attempt();
    after.executor.dispatch([waiting, attempt('a', { dagId: 'other' })]);
    await eventually(() => after.bodies.length === 1); // of the other, which comes the same way
    const worker = await after.connect(body);
    await eventually(() => ordered(worker).includes(waiting.attemptId));
    expect(after.bodies.map((pod) => warmWorkerOf(pod.metadata?.annotations)?.dagId)).toEqual(['other']);
  });

  it('says how much a worker has served that another process had', async () => {
    const before = startWarmCluster();
    await eventually(() => before.executor.capacity() > 0);
    before.executor.dispatch([attempt()]);
    await eventually(() => before.bodies.length === 1);
    const [body] = before.bodies;
    const next = startWarmCluster({ there: [...before.pods.values()], served: 50 });
    await eventually(() => next.executor.capacity() > 0);
    if (!body) throw new Error('no pod was made');
    const worker = await next.connect(body);
    await eventually(() => drained(worker));
  });
});

describe('a worker at another process', () => {
  it('gets what waits for it here, and nothing is ordered twice', async () => {
    const bus: Bus = { idle: [], listeners: [] };
    const here = startWarmCluster({ bus, settings: { maxPoolSize: 1 } });
    await eventually(() => here.executor.capacity() > 0);
    const waiting = attempt();
    here.executor.dispatch([waiting]);
    await eventually(() => here.bodies.length === 1);
    const [body] = here.bodies;
    if (!body) throw new Error('no pod was made');
    const there = startWarmCluster({ bus, me: 'other', there: [...here.pods.values()] });
    await eventually(() => there.executor.capacity() > 0);
    const worker = await there.connect(body);
    bus.idle.push('other');
    await eventually(() => ordered(worker).length === 1);
    expect(ordered(worker)).toEqual([waiting.attemptId]);
    expect([here.executor.holds().length, there.executor.holds().length]).toEqual([0, 1]);
    expect(there.bodies).toEqual([]);
  });

  it('whose process has died gets nothing: what waits here is for the worker when it comes back', async () => {
    const dead = startWarmCluster();
    await eventually(() => dead.executor.capacity() > 0);
    dead.executor.dispatch([attempt()]);
    await eventually(() => dead.bodies.length === 1);
    const [body] = dead.bodies;
    if (!body) throw new Error('no pod was made');
    const said: string[] = [];
    const bus: Bus = { idle: ['dead'], listeners: [(text) => void said.push(text)] };
    const next = startWarmCluster({ bus, me: 'next', there: [...dead.pods.values()], settings: { maxPoolSize: 1 } });
    await eventually(() => next.executor.capacity() > 0);
    const waiting = attempt();
    next.executor.dispatch([waiting]);
    await eventually(() => said.some((text) => text.includes('"to":"dead"')));
    const worker = await next.connect(body);
    await eventually(() => ordered(worker).length === 1);
    expect(ordered(worker)).toEqual([waiting.attemptId]);
  });
});

describe('the cap of a tenant', () => {
  it('lets no DAG starve: one that has all the workers gives some back when its attempts end', async () => {
    const cluster = startWarmCluster({ settings: { maxPoolSize: 4, maxPodsPerTenant: 4 } });
    await eventually(() => cluster.executor.capacity() > 0);
    cluster.executor.dispatch(Array.from({ length: 8 }, () => attempt()));
    await eventually(() => cluster.bodies.length === 4);
    const workers = await cluster.connectAll();
    await eventually(() => workers.every((worker) => ordered(worker).length === 1));
    cluster.executor.dispatch(Array.from({ length: 4 }, () => attempt('a', { dagId: 'other' })));
    await eventually(() => cluster.waits.includes('warm_pods_full'));
    for (const worker of workers) cluster.end(ordered(worker)[0] ?? '');
    await eventually(() => workers.filter(drained).length === 2);
    for (const worker of workers.filter(drained)) cluster.endPod(worker.pod, { terminated: { exitCode: 0 } });
    await eventually(() => cluster.bodies.length === 6);
    const dags = cluster.bodies.slice(4).map((pod) => warmWorkerOf(pod.metadata?.annotations)?.dagId);
    expect(dags).toEqual(['other', 'other']);
  });
});
