import type { V1Pod } from '@kubernetes/client-node';
import type { VerifiedAttempt } from '../../../agents/credentials.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import {
  FACTS,
  TASK,
  attempt,
  closeWarmClusters,
  drained,
  ordered,
  startWarmCluster,
} from '@svc/testing/kubernetes/warm-cluster.ts';
import { ApiError } from '../api-client.ts';
import { scopeOf } from './worker-identity.ts';
import type { UsedVersion } from './ready-versions.ts';

afterEach(closeWarmClusters);

describe('attempts of one version', () => {
  it('make their pool grow in one step, and no further than its size; workers take one after another', async () => {
    const cluster = startWarmCluster();
    await eventually(() => cluster.executor.capacity() === 16);
    const attempts = Array.from({ length: 5 }, () => attempt());
    cluster.executor.dispatch(attempts);
    await eventually(() => cluster.bodies.length === 3);
    expect(cluster.bodies[0]?.metadata?.name).toMatch(/^svc-worker-/);
    expect(cluster.bodies[0]?.spec?.containers[0]?.args).toEqual(['work']);
    const workers = await cluster.connectAll();
    await eventually(() => workers.flatMap(ordered).length === 3);
    const first = workers[0];
    cluster.end(first ? (ordered(first)[0] ?? '') : '');
    await eventually(() => first !== undefined && ordered(first).length === 2);
    expect(cluster.bodies).toHaveLength(3);
    expect(new Set(workers.flatMap(ordered)).size).toBe(4);
    await eventually(() => cluster.waits.includes('warm_pool_full'));
    // What waits takes nobody's place: four run.
    expect(cluster.executor.capacity()).toBe(16 - 3);
  });

  it('wait while the cluster refuses them as one does that has just started, and are given up for what will not pass', async () => {
    let refusal: ApiError | undefined = new ApiError({ status: 403, reason: 'Forbidden', message: 'no role yet' });
    let refused = 0;
    const cluster = startWarmCluster({
      refusal() {
        if (refusal) refused += 1;
        return refusal;
      },
    });
    await eventually(() => cluster.executor.capacity() > 0);
    cluster.executor.dispatch([attempt(), attempt(), attempt()]);
    await eventually(() => refused > 9 && cluster.waits.includes('pod_refused'));
    expect(cluster.lost).toEqual([]);
    refusal = undefined;
    await eventually(() => cluster.bodies.length === 3);
    const bad = startWarmCluster({
      refusal: () => new ApiError({ status: 422, reason: 'Invalid', message: 'spec.containers: Invalid value' }),
    });
    await eventually(() => bad.executor.capacity() > 0);
    bad.executor.dispatch([attempt()]);
    await eventually(() => bad.lost.length === 1);
    expect(bad.lost[0]?.failure).toMatchObject({ cause: 'pod_refused' });
  });

  it('whose pods differ have pools of their own, and those of another version or tenant, too', async () => {
    const cluster = startWarmCluster();
    await eventually(() => cluster.executor.capacity() > 0);
    cluster.executor.dispatch([attempt('a'), attempt('large')]);
    await eventually(() => cluster.bodies.length === 2);
    const workers = await cluster.connectAll();
    await eventually(() => workers.every((worker) => ordered(worker).length === 1));
    for (const worker of workers) cluster.end(ordered(worker)[0] ?? '');
    cluster.executor.dispatch([attempt('a', { versionNumber: 2 }), attempt('a', { tenantId: 't2' })]);
    await eventually(() => cluster.bodies.length === 4);
    expect(workers.map((worker) => ordered(worker).length)).toEqual([1, 1]);
    expect(cluster.counts).toEqual({ warm: 0, cold: 2 });
    cluster.executor.dispatch([attempt('b')]);
    await eventually(() => workers.flatMap(ordered).length === 3);
    expect(cluster.counts.warm).toBe(1);
  });

  it('that stage files, or want more of a pod than a worker has, get pods of their own', async () => {
    const override = { spec: { activeDeadlineSeconds: 5 } } as V1Pod;
    const cluster = startWarmCluster({ facts: { ...FACTS, tasks: new Map([['a', { ...TASK, override }]]) } });
    await eventually(() => cluster.executor.capacity() > 0);
    const own = attempt('a');
    cluster.executor.dispatch([own]);
    await eventually(() => cluster.bodies.length === 1);
    expect(cluster.bodies[0]?.metadata?.name).toBe(`svc-${own.attemptId}`);
    expect(cluster.counts).toEqual({ warm: 0, cold: 1 });
  });

  it('are not given to a worker whose last attempt says that it leaves, however early they are claimed', async () => {
    const cluster = startWarmCluster({ settings: { maxPoolSize: 1 } });
    await eventually(() => cluster.executor.capacity() > 0);
    const [first, second] = [attempt(), attempt()];
    cluster.executor.dispatch([first]);
    await eventually(() => cluster.bodies.length === 1);
    const [worker] = await cluster.connectAll();
    if (!worker) throw new Error('there is none');
    await eventually(() => ordered(worker).length === 1);
    const token = worker.orders.findLast(({ credential }) => credential)?.credential?.token ?? '';
    cluster.executor.dispatch([second]);
    await eventually(() => cluster.hub.holderOf(token)?.takesNew?.() === false); // the second one waits for it
    cluster.leave(first.attemptId, 'a task left 1 running process');
    cluster.end(first.attemptId);
    cluster.endPod(worker.pod, { terminated: { exitCode: 0 } }, 'Succeeded');
    await eventually(() => cluster.bodies.length === 2);
    const [replacement] = await cluster.connectAll();
    await eventually(() => replacement !== undefined && ordered(replacement).length === 1);
    expect([ordered(worker), replacement && ordered(replacement)]).toEqual([[first.attemptId], [second.attemptId]]);
    expect(cluster.lost).toEqual([]);
  });

  it('are handed over within the pool only, and not while another waits for its worker', async () => {
    const cluster = startWarmCluster({ settings: { maxPoolSize: 1 } });
    await eventually(() => cluster.executor.capacity() > 0);
    const [first, second] = [attempt(), attempt()];
    cluster.executor.dispatch([first]);
    await eventually(() => cluster.bodies.length === 1);
    const [worker] = await cluster.connectAll();
    await eventually(() => worker !== undefined && ordered(worker).length === 1);
    const token = worker?.orders.findLast(({ credential }) => credential)?.credential?.token ?? '';
    const holder = cluster.hub.holderOf(token);
    expect(holder?.takesNew?.()).toBe(true);
    const { attemptId: _attemptId, tryNumber: _tryNumber, ...instance } = first;
    const may = (change: object): boolean | undefined => holder?.mayRun?.({ ...instance, ...change });
    expect([may({}), may({ taskId: 'b' })]).toEqual([true, true]);
    expect([may({ taskId: 'large' }), may({ tenantId: 't2' }), may({ dagId: 'x' }), may({ versionNumber: 2 })]).toEqual(
      [false, false, false, false],
    );
    cluster.executor.dispatch([second]);
    await eventually(() => holder?.takesNew?.() === false);
    // What was handed over is the worker's: the one that waits gets its turn afterwards.
    const given = attempt('b');
    cluster.executor.adopt(given, first.attemptId);
    cluster.end(first.attemptId);
    expect(worker && ordered(worker)).toEqual([first.attemptId]);
    cluster.end(given.attemptId);
    await eventually(() => worker !== undefined && ordered(worker).includes(second.attemptId));
  });
});

describe('a worker', () => {
  it('that has served its attempts is drained, and another takes its place', async () => {
    const cluster = startWarmCluster({ settings: { maxAttempts: 2, maxPoolSize: 1 } });
    await eventually(() => cluster.executor.capacity() > 0);
    cluster.executor.dispatch([attempt(), attempt(), attempt()]);
    await eventually(() => cluster.bodies.length === 1);
    const [worker] = await cluster.connectAll();
    if (!worker) throw new Error('there is none');
    for (const count of [1, 2]) {
      await eventually(() => ordered(worker).length === count);
      cluster.end(ordered(worker).at(-1) ?? '');
    }
    await eventually(() => drained(worker));
    expect(cluster.bodies).toHaveLength(1); // it holds its place until it is gone
    cluster.endPod(worker.pod, { terminated: { exitCode: 0, reason: 'Completed' } });
    await eventually(() => cluster.bodies.length === 2);
    expect([cluster.lost, cluster.pods.has(worker.pod.metadata?.name ?? '')]).toEqual([[], false]);
  });

  it('that is idle for long, and one whose version nobody uses, leave', async () => {
    const used: UsedVersion[] = [{ tenantId: 't1', dagId: 'flow', versionNumber: 1, isCurrent: true }];
    const cluster = startWarmCluster({ used, settings: { idleTtlMs: 50 } });
    await eventually(() => cluster.executor.capacity() > 0);
    cluster.executor.dispatch([attempt()]);
    await eventually(() => cluster.bodies.length === 1);
    const [worker] = await cluster.connectAll();
    await eventually(() => worker !== undefined && ordered(worker).length === 1);
    cluster.end(worker ? (ordered(worker)[0] ?? '') : '');
    await eventually(() => worker !== undefined && drained(worker));
    const patient = startWarmCluster({ used });
    await eventually(() => patient.executor.capacity() > 0);
    patient.executor.dispatch([attempt('a', { versionNumber: 3 })]);
    await eventually(() => patient.bodies.length === 1);
    const [old] = await patient.connectAll();
    await eventually(() => old !== undefined && ordered(old).length === 1);
    patient.end(old ? (ordered(old)[0] ?? '') : '');
    await eventually(() => old !== undefined && drained(old));
  });

  it('is kept ready as the author asks, or the operator, within the size of pools', async () => {
    const used: UsedVersion[] = [{ tenantId: 't1', dagId: 'flow', versionNumber: 1, isCurrent: true }];
    const asked = startWarmCluster({ used, facts: { ...FACTS, minIdle: 9 } });
    await eventually(() => asked.bodies.length === 3);
    const operated = startWarmCluster({ used, settings: { minIdle: 2 } });
    await eventually(() => operated.bodies.length === 2);
    await operated.connectAll();
    operated.executor.dispatch([attempt()]);
    await eventually(() => operated.counts.warm === 1);
    await eventually(() => operated.bodies.length === 3); // ready beside the one that works
  });

  it('whose pod ends loses what it runs at once, begun or not', async () => {
    const cluster = startWarmCluster();
    await eventually(() => cluster.executor.capacity() > 0);
    const [begun, ordered] = [attempt(), attempt()];
    cluster.executor.dispatch([begun, ordered]);
    await eventually(() => cluster.bodies.length === 2);
    const workers = await cluster.connectAll();
    cluster.begin(begun.attemptId);
    for (const { pod } of workers) cluster.endPod(pod, { terminated: { exitCode: 137, reason: 'OOMKilled' } });
    await eventually(() => cluster.lost.length === 2);
    const of = (id: string) => cluster.lost.find(({ attemptId }) => attemptId === id);
    expect(of(begun.attemptId)).toMatchObject({ failure: { cause: 'out_of_memory' }, hasBegun: true });
    expect(of(ordered.attemptId)).toMatchObject({ hasBegun: false });
    expect(cluster.pods.size).toBe(0);
    expect(cluster.executor.holds()).toEqual([]);
  });

  it('whose pod ends when nobody holds its stream any more loses what it ran all the same', async () => {
    const before = startWarmCluster();
    await eventually(() => before.executor.capacity() > 0);
    const running = attempt();
    before.executor.dispatch([running]);
    await eventually(() => before.bodies.length === 1);
    const [pod] = before.pods.values();
    if (!pod) throw new Error('no pod was made');
    pod.status = {
      phase: 'Failed',
      containerStatuses: [{ name: 'task', state: { terminated: { exitCode: 1 } } } as never],
    };
    const after = startWarmCluster({ there: [pod], onHost: [running] });
    await eventually(() => after.lost.length === 1);
    expect(after.lost[0]).toMatchObject({ attemptId: running.attemptId, hasBegun: true });
    expect(after.pods.size).toBe(0);
  });

  it('that a control plane does not know is adopted with what it runs, by its credential and its pod', async () => {
    const before = startWarmCluster();
    await eventually(() => before.executor.capacity() > 0);
    const running = attempt();
    before.executor.dispatch([running]);
    await eventually(() => before.bodies.length === 1);
    const [body] = before.bodies;
    const after = startWarmCluster();
    await eventually(() => after.executor.capacity() === 16);
    if (!body) throw new Error('no pod was made');
    await expect(after.connect(body)).rejects.toThrow('not known yet');
    await after.executor.close('leave');
    // As the next process finds it: the pod is in the first list.
    const there = [...before.pods.values()];
    const next = startWarmCluster({ there });
    await eventually(() => next.executor.capacity() === 16);
    const { queue: _queue, ...identity } = running;
    const held: VerifiedAttempt = { kind: 'task', ...identity, issuedAt: 0, expiresAt: 0 };
    const worker = await next.connect(body, { running: [held] });
    await eventually(() => next.executor.holds().some(({ attemptId }) => attemptId === running.attemptId));
    next.executor.dispatch([attempt('b')]);
    await eventually(() => next.bodies.length === 1); // it has its hands full: another one is made
    expect(ordered(worker)).toEqual([]);
    next.end(running.attemptId);
    await eventually(() => ordered(worker).length === 1);
    const forged = { workerId: worker.id, scope: { ...scopeOf(identity as never), tenantId: 't2', pool: 'other' } };
    const stranger = startWarmCluster({ there });
    await eventually(() => stranger.executor.capacity() === 16);
    const info = { hostname: 'h', pid: 1, version: '0.7.0', running: [] };
    await expect(stranger.hub.attach(forged, info, {} as never)).rejects.toThrow('not what its credential says');
  });

  it('of a neighbouring minor version is kept, a newer one drained, an older refused: its image gets cold pods', async () => {
    const cluster = startWarmCluster({ settings: { maxPoolSize: 2 } });
    await eventually(() => cluster.executor.capacity() > 0);
    const [first, second] = [attempt(), attempt()];
    cluster.executor.dispatch([first, second]);
    await eventually(() => cluster.bodies.length === 2);
    const [one, two] = cluster.bodies;
    if (!one || !two) throw new Error('two pods were expected');
    const kept = await cluster.connect(one, { version: '0.8.1' });
    await eventually(() => ordered(kept).length === 1);
    const newer = await cluster.connect(two, { version: '0.9.0' });
    expect([drained(kept), drained(newer), ordered(newer)]).toEqual([false, true, []]);
    cluster.endPod(two, { terminated: { exitCode: 0 } });
    await eventually(() => cluster.bodies.length === 3);
    await expect(cluster.connect(cluster.bodies[2] ?? one, { version: '0.5.0' })).rejects.toThrow('too old');
    const cold = ordered(kept)[0] === first.attemptId ? second : first;
    await eventually(() => cluster.bodies.some(({ metadata }) => metadata?.name === `svc-${cold.attemptId}`));
  });

  it('that cannot start is made again, but not for ever: those that wait for it fail', async () => {
    const cluster = startWarmCluster();
    await eventually(() => cluster.executor.capacity() > 0);
    const waiting = attempt();
    cluster.executor.dispatch([waiting]);
    for (const count of [1, 2, 3]) {
      await eventually(() => cluster.bodies.length >= count);
      const pod = cluster.pods.get(cluster.bodies.at(-1)?.metadata?.name ?? '');
      if (pod) cluster.endPod(pod, { waiting: { reason: 'InvalidImageName', message: 'no such image' } }, 'Pending');
    }
    await eventually(() => cluster.lost.length === 1);
    expect(cluster.lost[0]).toMatchObject({ attemptId: waiting.attemptId, failure: { cause: 'image_unavailable' } });
  });
});
