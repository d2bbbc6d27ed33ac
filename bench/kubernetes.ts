// Measures what svc adds to the cost of a cluster. The same pods are created by the plain client and by svc,
// interleaved (A/B) in one run. It also prints the memory of the control plane with a thousand pods in flight, and the
// cost of an idle one. It needs a cluster:
//
//   npm run cluster -- npm run bench -- kubernetes [--runs 10 --times 20 --seconds 30]
//
// `runs` is the number of single pods for the latency, `times` the number of parallel pods for the throughput.

import { setTimeout as sleep } from 'node:timers/promises';
import { core } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { BASE_IMAGE } from '@svc/testing/kubernetes/images.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { BenchOptions } from './figure.ts';
import { median, rounded } from './figure.ts';
import { usageOf } from './process-usage.ts';

const LINE = /first line at (\d+\.\d+)/;
const PROGRAM = 'import time; print("first line at", time.time())';
/** Namespaces with the Pod Security level `restricted` require these settings, and svc sets them (pod-spec.ts). */
const HARDENED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const IN_FLIGHT = 1_000;
/** Each round has twenty pods and takes some seconds. A single round is not reliable. */
const ROUNDS = 5;
const POLL_MS = 100;

const DAG = `
import time
from airflow.sdk import DAG, task

def body(index=0):
    print("first line at", time.time(), flush=True)

with DAG("one", schedule=None) as one:
    task(task_id="first")(body)()

with DAG("many", schedule=None, max_active_tasks=10_000) as many:
    @task(executor_config={"pod_override": {"spec": {"containers": [{"name": "base"}]}}})
    def first(index):
        body()
    @task
    def indexes(params=None):
        return list(range(params["count"]))
    many.params["count"] = 1
    first.expand(index=indexes())

with DAG("nowhere", schedule=None, max_active_tasks=10_000) as nowhere:
    @task(executor_config={"pod_override": {"spec": {"nodeSelector": {"kind": "none"}, "containers": [{"name": "base"}]}}})
    def waits(index):
        pass
    waits.expand(index=list(range(${IN_FLIGHT})))
`;

export async function run(options: BenchOptions): Promise<void> {
  const [runs, times] = [options.number('runs', 10), options.number('times', 20)];
  await using namespace = await createTestNamespace('bench');
  const server = await startClusterControlPlane(namespace.name, { 'executor.parallelism': String(IN_FLIGHT) });
  const print = (figure: string, value: number, unit: string, more: object = {}): void =>
    options.print({ bench: 'kubernetes', figure, value: rounded(value), unit, ...more });
  try {
    await server.addDag('all', DAG);
    await server.api('PATCH', '/pools/default_pool', { slots: -1 });
    options.say('one pod after another, raw and by svc in turn');
    const latency = { raw: [] as number[], svc: [] as number[] };
    await Promise.all([rawPod(namespace.name, 'warm'), svcPod(server)]);
    for (let index = 0; index < runs; index += 1) {
      latency.raw.push(await rawPod(namespace.name, `raw-${index}`));
      latency.svc.push(await svcPod(server));
    }
    const [raw, svc] = [median(latency.raw), median(latency.svc)];
    print('raw: create to first line, p50', raw, 'ms', { runs });
    print('svc: trigger to first line of the author, p50', svc, 'ms', { runs });
    print('added by svc, p50', svc - raw, 'ms', { runs });

    options.say(`${times} pods at once, raw and by svc in turn`);
    const rates = { raw: [] as number[], svc: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.raw.push(await rawMany(namespace.name, { count: times, round }));
      rates.svc.push(await svcMany(server, times));
    }
    const shares = rates.svc.map((rate, round) => (100 * rate) / (rates.raw[round] ?? Number.NaN));
    print('raw: pods ended per second', median(rates.raw), '/s', { pods: times, rounds: ROUNDS });
    print('svc: pods ended per second', median(rates.svc), '/s', { pods: times, rounds: ROUNDS });
    const [least, most] = [rounded(Math.min(...shares)), rounded(Math.max(...shares))];
    print('share of raw throughput', median(shares), '%', { pods: times, rounds: ROUNDS, least, most });

    await benchIdle(options, server, print);
    await benchInFlight(options, { server, namespace: namespace.name, print });
  } finally {
    await server.close();
  }
}

type Print = (figure: string, value: number, unit: string, more?: object) => void;

/** Returns milliseconds from the call to the time that the pod printed. Both clocks are this machine's. */
async function rawPod(namespace: string, name: string): Promise<number> {
  const asked = Date.now();
  await createRaw(namespace, name);
  for (;;) {
    const log = await core.readNamespacedPodLog({ namespace, name }).catch(() => '');
    const at = LINE.exec(log)?.[1];
    if (at !== undefined) {
      await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
      return Number(at) * 1_000 - asked;
    }
    await sleep(POLL_MS);
  }
}

/** Counts without reading the pods, because reading a thousand would dominate the measurement. */
async function countPods(namespace: string): Promise<number> {
  const { items, metadata } = await core.listNamespacedPod({ namespace, limit: 1 });
  return items.length + (metadata?.remainingItemCount ?? 0);
}

/** `label` finds the pods again. A pod that must not start gets the selector of a node that does not exist. */
const createRaw = (namespace: string, name: string, { label = 'raw', nodeSelector = {} } = {}) =>
  core.createNamespacedPod({
    namespace,
    body: {
      metadata: { name, labels: { bench: label } },
      spec: {
        nodeSelector,
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        containers: [
          { name: 'task', image: BASE_IMAGE, command: ['python', '-c', PROGRAM], securityContext: HARDENED },
        ],
      },
    },
  });

async function svcPod(server: ClusterControlPlane): Promise<number> {
  const asked = Date.now();
  const runId = await server.trigger('one');
  await server.ended('one', runId, POLL_MS);
  const at = LINE.exec(await server.log('one', runId, 'first'))?.[1];
  if (at === undefined) throw new Error(`the task did not run: ${await server.log('one', runId, 'first')}`);
  return Number(at) * 1_000 - asked;
}

/** Deletes each ended pod while others run, as svc does, so that the cluster has the same work. */
async function rawMany(namespace: string, { count, round }: { count: number; round: number }): Promise<number> {
  const from = Date.now();
  const names = Array.from({ length: count }, (_, index) => `many-${round}-${index}`);
  const creating = Promise.all(names.map((name) => createRaw(namespace, name)));
  const deleting = new Map<string, Promise<unknown>>();
  while (deleting.size < count) {
    await sleep(POLL_MS);
    const { items } = await core.listNamespacedPod({ namespace, labelSelector: 'bench=raw' });
    for (const { metadata, status } of items) {
      const name = metadata?.name ?? '';
      if (!names.includes(name) || deleting.has(name) || !['Succeeded', 'Failed'].includes(status?.phase ?? ''))
        continue;
      deleting.set(name, core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 }));
    }
  }
  const seconds = (Date.now() - from) / 1_000;
  await Promise.all([creating, ...deleting.values()]);
  return count / seconds;
}

/** Measures from the moment at which the list of items is known. */
async function svcMany(server: ClusterControlPlane, count: number): Promise<number> {
  const runId = await server.trigger('many', { conf: { count } });
  await server.ended('many', runId, POLL_MS);
  const instances = await server.instances('many', runId);
  const listed = instances.find(({ task_id: id }) => id === 'indexes')?.end_date ?? '';
  const last =
    instances
      .map(({ end_date: end }) => end ?? '')
      .toSorted()
      .at(-1) ?? '';
  return count / ((Date.parse(last) - Date.parse(listed)) / 1_000);
}

async function benchIdle(options: BenchOptions, server: ClusterControlPlane, print: Print): Promise<void> {
  const seconds = options.number('seconds', 30);
  options.say(`idle for ${seconds} s`);
  await sleep(2_000);
  const before = usageOf(server.pid);
  await sleep(seconds * 1_000);
  const after = usageOf(server.pid);
  if (!before || !after) return;
  print('idle control plane', (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds, '% CPU', { seconds });
  print('idle control plane', after.rssMebibytes, 'MiB');
}

async function benchInFlight(
  options: BenchOptions,
  { server, namespace, print }: { server: ClusterControlPlane; namespace: string; print: Print },
): Promise<void> {
  options.say(`${IN_FLIGHT} pods that wait for a node, created raw and then by svc`);
  const rawFrom = Date.now();
  const nowhere = { label: 'nowhere', nodeSelector: { kind: 'none' } };
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, index) => createRaw(namespace, `nowhere-${index}`, nowhere)));
  const rawRate = IN_FLIGHT / ((Date.now() - rawFrom) / 1_000);
  print('raw: pods created per second', rawRate, '/s', { pods: IN_FLIGHT });
  await core.deleteCollectionNamespacedPod({ namespace, labelSelector: 'bench=nowhere', gracePeriodSeconds: 0 });
  await sleep(5_000);
  const before = await countPods(namespace);
  const from = Date.now();
  await server.trigger('nowhere');
  let largest = 0;
  for (;;) {
    largest = Math.max(largest, usageOf(server.pid)?.rssMebibytes ?? 0);
    if ((await countPods(namespace)) >= before + IN_FLIGHT) break;
    await sleep(POLL_MS);
  }
  const rate = IN_FLIGHT / ((Date.now() - from) / 1_000);
  print('svc: pods created per second, from the trigger until all are there', rate, '/s', { pods: IN_FLIGHT });
  print('share of raw creation', (100 * rate) / rawRate, '%', { pods: IN_FLIGHT });
  for (let second = 0; second < 10; second += 1) {
    largest = Math.max(largest, usageOf(server.pid)?.rssMebibytes ?? 0);
    await sleep(1_000);
  }
  print('largest RSS with pods in flight', largest, 'MiB', { pods: IN_FLIGHT });
}
