/**
 * Compares Prefect and this control plane on the same machine, one after the other. Prefect runs as its documentation
 * recommends: a server on Postgres, a worker of a process pool, a flow run in its own process, and all tasks of the
 * flow in that process. In svc every task is its own process. Both are measured by the times of their own API.
 */
import { startPrefect } from '@svc/testing/prefect/prefect-processes.ts';
import type { BenchOptions } from './figure.ts';
import { FAN_OUT_TASKS, measure, printBeside } from './field/measure.ts';
import type { Side } from './field/measure.ts';

const FLOWS = `
from prefect import flow, task
from prefect.futures import wait

def fibo(n):
    return n if n < 2 else fibo(n - 1) + fibo(n - 2)

@task
def step():
    fibo(10)

@task
def nothing(n):
    pass

@flow
def bench_chain():
    for number in range(40):
        step()

@flow
def bench_fan_out():
    wait(nothing.map(list(range(${FAN_OUT_TASKS}))))
`;

export async function run(options: BenchOptions): Promise<void> {
  const repeats = options.number('runs', 3);
  options.say('Prefect: installing (first time only)');
  const theirs = await measurePrefect(options, repeats);
  await printBeside(options, { bench: 'prefect', name: 'Prefect 3.8.8', theirs, repeats });
}

async function measurePrefect(options: BenchOptions, repeats: number): Promise<Side> {
  options.say('Prefect: starting');
  const prefect = await startPrefect({ text: FLOWS, names: ['bench_chain', 'bench_fan_out'] });
  try {
    const once = (dagId: string) => prefect.run(dagId.replaceAll('_', '-'));
    return await measure({ who: 'Prefect', options, repeats, once });
  } finally {
    options.say('Prefect: stopping');
    await prefect.stop();
  }
}
