// Compares warm workers with cold pods and with lite in one run. It needs a cluster:
//
//   npm run cluster -- npm run bench -- warm [--runs 20 --times 200 --only start|chain|burst|tenants]
//
// `runs` is the number of starts of single tasks, `times` the number of parallel no-op tasks. Cold pods belong to tasks
// that a warm worker may not run, on the same control plane.

import { readFileSync, readdirSync } from 'node:fs';
import { WORKER_VARIABLE } from '@svc/proto/marked-processes.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { secondTenant } from '@svc/testing/server/api-caller.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { usageOf } from './process-usage.ts';
import { CHAIN, exactMs, gapsOf } from './runs/tasks.ts';

const POOL = 4;

const DAGS = (count: number): string => `
import time
from airflow.sdk import DAG, task

def now():
    return time.time()

with DAG("bench_warm", schedule=None):
    task(task_id="now")(now)()

with DAG("bench_cold", schedule=None):
    # A deadline belongs to a pod, so the task gets one of its own.
    alone = {"pod_override": {"spec": {"activeDeadlineSeconds": 600, "containers": [{"name": "base"}]}}}
    task(task_id="now", executor_config=alone)(now)()

with DAG("bench_burst", schedule=None, max_active_tasks=1000):
    @task
    def nothing(n):
        pass
    nothing.expand(n=list(range(${count})))
`;

type Print = (figure: string, value: number, unit: string, more?: Record<string, string | number>) => void;

export async function run(options: BenchOptions): Promise<void> {
  const [runs, times] = [options.number('runs', 20), options.number('times', 200)];
  const only = options.text('only');
  await using namespace = await createTestNamespace('warm-bench');
  const settings = {
    'auth.agent_token_transport': 'exchange',
    'auth.secret_liveness_mode': 'enforce',
    'execution.warm_pools_enabled': 'true',
    'execution.max_pool_size': String(POOL),
    'execution.max_attempts_per_worker': '100000',
    'execution.max_warm_pods_per_tenant': only === 'tenants' ? '3' : '100',
    'auth.login_rate_limit_per_minute': '1000',
  };
  const warm = await startClusterControlPlane(namespace.name, settings);
  const print: Print = (figure, value, unit, more = {}) =>
    options.print({ bench: 'warm', figure, value: rounded(value), unit, ...more });
  let lite: LiveServer | undefined;
  try {
    await warm.addDag('bench', DAGS(times));
    if (only === undefined || only === 'start') await benchStart(warm, runs, print, options.say);
    if (only === 'tenants') return await benchTenants(warm, print, options.say);
    lite = await startLiveServer({ 'executor.parallelism': String(POOL) });
    await lite.addDag('bench', DAGS(times));
    if (only === undefined || only === 'chain') await benchChain(warm, lite, { runs, print, say: options.say });
    if (only === undefined || only === 'burst') await benchBurst(warm, lite, { times, print, say: options.say });
  } finally {
    await lite?.close();
    await warm.close();
  }
}

type Times = { queued_when: string; start_date: string; end_date: string };

/** Measures from the claim to the author's first line, by the clock of the one machine. */
async function startOf(server: LiveServer, dagId: string): Promise<number> {
  const runId = await server.trigger(dagId);
  const { state } = await server.ended(dagId, runId, 50);
  if (state !== 'success') throw new Error(`the run of ${dagId} ended ${state}`);
  const [instance] = (await server.instances(dagId, runId)) as unknown as Times[];
  const path = `/xcoms/${dagId}/${encodeURIComponent(runId)}/now/return_value`;
  const { value } = await server.api<{ value: number }>('GET', path);
  return value * 1_000 - exactMs(instance?.queued_when ?? null);
}

async function benchStart(server: LiveServer, runs: number, print: Print, say: (text: string) => void): Promise<void> {
  say('single tasks: in a warm worker, and in a pod of their own, in turn');
  for (const dagId of ['bench_warm', 'bench_cold']) await startOf(server, dagId);
  const [warm, cold]: [number[], number[]] = [[], []];
  for (let index = 0; index < runs; index += 1) {
    warm.push(await startOf(server, 'bench_warm'));
    if (index < runs / 4) cold.push(await startOf(server, 'bench_cold'));
  }
  print('warm: claim to the first line of the author, p50', median(warm), 'ms', { runs });
  print('cold: claim to the first line of the author, p50', median(cold), 'ms', { runs: cold.length });
  print('cold / warm', median(cold) / median(warm), 'times');
}

async function chainOnce(server: LiveServer): Promise<{ seconds: number; gaps: number[] }> {
  const runId = await server.trigger('bench_chain');
  const run = await server.ended('bench_chain', runId, 100);
  if (run.state !== 'success') throw new Error(`the chain ended ${run.state}`);
  const gaps = gapsOf(await server.instances('bench_chain', runId));
  return { seconds: (exactMs(run.end_date) - exactMs(run.start_date)) / 1_000, gaps };
}

async function benchChain(
  warm: LiveServer,
  lite: LiveServer,
  { runs, print, say }: { runs: number; print: Print; say: (text: string) => void },
): Promise<void> {
  say('chain of 40 tasks, in a warm worker and in lite in turn');
  for (const server of [warm, lite]) {
    await server.addDag('bench_chain', CHAIN);
    for (let index = 0; index < 3; index += 1) await chainOnce(server);
  }
  const [ofWarm, ofLite] = [[] as number[], [] as number[]];
  const gaps: number[] = [];
  for (let index = 0; index < Math.ceil(runs / 4); index += 1) {
    const one = await chainOnce(warm);
    ofWarm.push(one.seconds);
    gaps.push(...one.gaps);
    ofLite.push((await chainOnce(lite)).seconds);
  }
  print('chain of 40 in a warm worker', median(ofWarm), 's');
  print('chain of 40 in a warm worker: end of a task to start of the next, p50', median(gaps), 'ms');
  print('chain of 40 in lite', median(ofLite), 's');
  print('chain: warm / lite', median(ofWarm) / median(ofLite), 'times');
}

/** Returns the processor time of the control plane and of all processes of its workers. */
function cpuOf(server: LiveServer, isLite: boolean): number {
  const own = usageOf(server.pid)?.cpuSeconds ?? 0;
  let workers = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      if (!environment.includes(`${WORKER_VARIABLE}=`)) continue;
      if (environment.includes('KUBERNETES_SERVICE_HOST') === isLite) continue;
      workers += cpuSecondsWithEnded(Number(name));
    } catch {
      // The process has ended, and counts with its parent.
    }
  }
  return own + workers;
}

function cpuSecondsWithEnded(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? [];
  return [11, 12, 13, 14].reduce((sum, index) => sum + (fields[index] ?? 0), 0) / 100;
}

async function benchBurst(
  warm: LiveServer,
  lite: LiveServer,
  { times, print, say }: { times: number; print: Print; say: (text: string) => void },
): Promise<void> {
  say(`${times} no-op tasks in a pool of ${POOL}, and in lite with as many processes, in turn`);
  const figures = new Map<LiveServer, { speeds: number[]; cpu: number[] }>();
  for (const server of [warm, lite, warm, lite, warm, lite]) {
    const before = cpuOf(server, server === lite);
    const runId = await server.trigger('bench_burst');
    const run = await server.ended('bench_burst', runId, 100);
    if (run.state !== 'success') throw new Error(`the burst ended ${run.state}`);
    const known = figures.get(server);
    const speed = times / ((exactMs(run.end_date) - exactMs(run.start_date)) / 1_000);
    const cpu = ((cpuOf(server, server === lite) - before) * 1_000) / times;
    // The first value is a warm-up.
    figures.set(
      server,
      known ? { speeds: [...known.speeds, speed], cpu: [...known.cpu, cpu] } : { speeds: [], cpu: [] },
    );
  }
  const [ofWarm, ofLite] = [figures.get(warm), figures.get(lite)];
  if (!ofWarm || !ofLite) return;
  print(`${times} no-op tasks in a pool of ${POOL}`, median(ofWarm.speeds), 'tasks/s');
  print(`${times} no-op tasks in lite with ${POOL} processes`, median(ofLite.speeds), 'tasks/s');
  print('processor time per task: warm', median(ofWarm.cpu), 'ms');
  print('processor time per task: lite', median(ofLite.cpu), 'ms');
}

const BUSY = `
import time
from airflow.sdk import DAG, task

with DAG("bench_tenant", schedule=None, max_active_tasks=1000):
    @task
    def work(n):
        time.sleep(0.1)
    work.expand(n=list(range(100)))
`;

/** One tenant starts first and requests everything it can get. Then the other one starts. */
async function benchTenants(server: LiveServer, print: Print, say: (text: string) => void): Promise<void> {
  say('two tenants with 100 tasks each and three warm pods each');
  const asSecond = await secondTenant(server);
  const { bench_tenant: spec } = await server.addDag('bench_tenant', BUSY);
  await asSecond('POST', '/dags/bench_tenant/dagVersions', { spec, fileloc: '/dags/bench_tenant.py' });
  await asSecond('PATCH', '/dags/bench_tenant', { is_paused: false });
  const first = await server.trigger('bench_tenant');
  const { dag_run_id: second } = await asSecond<{ dag_run_id: string }>('POST', '/dags/bench_tenant/dagRuns', {});
  await server.ended('bench_tenant', first, 200);
  const path = `/dags/bench_tenant/dagRuns/${encodeURIComponent(second)}`;
  while (!['success', 'failed'].includes((await asSecond<{ state: string }>('GET', path)).state)) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const mine = (await server.instances('bench_tenant', first)) as unknown as Times[];
  const { task_instances: theirs } = await asSecond<{ task_instances: Times[] }>(
    'GET',
    `${path}/taskInstances?limit=1000`,
  );
  const span = (all: readonly Times[]) => ({
    from: Math.min(...all.map((one) => exactMs(one.start_date))),
    to: Math.max(...all.map((one) => exactMs(one.end_date))),
  });
  const [a, b] = [span(mine), span(theirs)];
  const both = { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
  const within = (all: readonly Times[]): number =>
    all.filter((one) => exactMs(one.end_date) >= both.from && exactMs(one.end_date) <= both.to).length;
  const [ofFirst, ofSecond] = [within(mine), within(theirs)];
  print(
    'two tenants at once: tasks of the one that had fewer / of the other',
    Math.min(ofFirst, ofSecond) / Math.max(ofFirst, ofSecond),
    'of 1',
    {
      first: ofFirst,
      second: ofSecond,
    },
  );
}
