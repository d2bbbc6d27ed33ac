/** Measures tasks end to end: a real control plane, a real agent, real Python, and a process per attempt. */
import { setTimeout as sleep } from 'node:timers/promises';
import { median, rounded } from '../figure.ts';
import type { BenchOptions } from '../figure.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { InstanceTimes, LiveServer } from '@svc/testing/server/live-server.ts';

export const CHAIN = `
from airflow.sdk import dag, task

def fibo(n):
    return n if n < 2 else fibo(n - 1) + fibo(n - 2)

@dag(schedule=None)
def bench_chain():
    previous = None
    for number in range(40):
        @task(task_id=f"t{number:02}")
        def step():
            fibo(10)
        current = step()
        if previous is not None:
            previous >> current
        previous = current

bench_chain()
`;

const FAN_OUT = `
from airflow.sdk import dag, task

@dag(schedule=None, max_active_tasks=1000)
def bench_fan_out():
    @task
    def nothing(n):
        pass
    nothing.expand(n=list(range(1000)))

bench_fan_out()
`;

const FIRST = `
import time
from airflow.sdk import dag, task

@dag(schedule=None)
def bench_first():
    @task
    def now():
        return time.time()
    now()

bench_first()
`;

/** A control plane runs for weeks, so compiling its code in the first seconds must not be measured. */
export const WARM_UPS = 20;

const at = (moment: string | null): number => Date.parse(moment ?? '');
/** Date keeps milliseconds. The microseconds are added, because gaps are only a few milliseconds. */
export const exactMs = (moment: string | null): number =>
  at(moment) + Number(`0.${(moment ?? '').slice(23, 26) || '0'}`);

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export async function benchTasks(options: BenchOptions, repeats: number): Promise<void> {
  const server = await startLiveServer();
  const print = (figure: string, value: number, unit: string): void =>
    options.print({ bench: 'runs', figure, value: rounded(value), unit, runs: repeats });
  try {
    options.say('chain of 40 tasks');
    for (let run = 0; run < WARM_UPS; run += 1) await chainRun(server);
    const totals: number[] = [];
    const gaps: number[] = [];
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      const run = await chainRun(server);
      totals.push(run.seconds);
      gaps.push(...run.gaps);
    }
    print('chain of 40 x fibo(10): whole run', median(totals), 's');
    print('chain of 40 x fibo(10): end of a task to start of the next, p50', percentile(gaps, 0.5), 'ms');
    print('chain of 40 x fibo(10): end of a task to start of the next, p95', percentile(gaps, 0.95), 'ms');

    options.say('trigger to body');
    const firsts = await benchTriggers(server, repeats * 10);
    print('API trigger to body of the first task, p50', percentile(firsts, 0.5), 'ms');
    print('API trigger to body of the first task, p95', percentile(firsts, 0.95), 'ms');

    options.say('fan-out of 1,000 tasks');
    await addBenchDags(server);
    await fanOutRun(server); // warm-up
    const speeds: number[] = [];
    for (let repeat = 0; repeat < repeats; repeat += 1) speeds.push(await fanOutRun(server));
    print('fan-out of 1,000 no-op Python tasks', median(speeds), 'tasks/s');
  } finally {
    await server.close();
  }
}

const haveChain = new WeakSet<LiveServer>();

/** Runs the chain once. Registers the DAG if it is missing. */
export async function chainRun(server: LiveServer): Promise<{ seconds: number; gaps: number[] }> {
  if (!haveChain.has(server)) await server.addDag('bench_chain', CHAIN);
  haveChain.add(server);
  const { run, instances } = await oneRun(server, 'bench_chain');
  return { seconds: secondsOf(run), gaps: gapsOf(instances) };
}

export async function addBenchDags(server: LiveServer): Promise<void> {
  await server.addDag('bench_first', FIRST);
  await server.addDag('bench_fan_out', FAN_OUT);
}

/** Runs the fan-out once and returns tasks per second. */
export async function fanOutRun(server: LiveServer): Promise<number> {
  const { run } = await oneRun(server, 'bench_fan_out');
  return 1_000 / ((exactMs(run.end_date) - exactMs(run.start_date)) / 1_000);
}

export const secondsOf = (run: { start_date: string | null; end_date: string | null }): number =>
  (exactMs(run.end_date) - exactMs(run.start_date)) / 1_000;

export async function oneRun(server: LiveServer, dagId: string) {
  const runId = await server.trigger(dagId);
  const run = await server.ended(dagId, runId, 100);
  if (run.state !== 'success')
    throw new Error(`the run of ${dagId} ended ${run.state}:\n${server.logLines().slice(-5).join('\n')}`);
  return { run, instances: await server.instances(dagId, runId) };
}

export function gapsOf(instances: readonly InstanceTimes[]): number[] {
  const ordered = instances.toSorted((a, b) => exactMs(a.start_date) - exactMs(b.start_date));
  return ordered.slice(1).map((next, index) => exactMs(next.start_date) - exactMs(ordered[index]?.end_date ?? null));
}

/** Returns the milliseconds from the trigger to the body, for each try. */
export async function benchTriggers(server: LiveServer, times: number): Promise<number[]> {
  await server.addDag('bench_first', FIRST);
  await oneRun(server, 'bench_first');
  const firsts: number[] = [];
  for (let time = 0; time < times; time += 1) firsts.push(await triggerToBody(server));
  return firsts;
}

/** Polling would compete with the run, and real clients do not poll within milliseconds. */
const UNWATCHED_MS = 50;

/**
 * The body reports when it ran by the clock of the machine. This process uses the same clock, also with parts of a
 * millisecond.
 */
export async function triggerToBody(server: LiveServer): Promise<number> {
  const from = performance.timeOrigin + performance.now();
  const runId = await server.trigger('bench_first');
  await sleep(UNWATCHED_MS);
  await server.ended('bench_first', runId, 20);
  const path = `/xcoms/bench_first/${encodeURIComponent(runId)}/now/return_value`;
  const { value } = await server.api<{ value: number }>('GET', path);
  return value * 1_000 - from;
}
