/**
 * Measures the same chain and fan-out here and in another product, one after the other on the same machine, by the
 * dates of each API.
 */
import { median, rounded } from '../figure.ts';
import type { BenchOptions } from '../figure.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { InstanceTimes } from '@svc/testing/server/live-server.ts';
import { CHAIN, exactMs, gapsOf, percentile } from '../runs/tasks.ts';

/** Other products need minutes for a thousand tasks on two cores. Fewer tasks show the same rate. */
export const FAN_OUT_TASKS = 100;

export const FAN_OUT = `
from airflow.sdk import dag, task

@dag(schedule=None, max_active_tasks=${FAN_OUT_TASKS})
def bench_fan_out():
    @task
    def nothing(n):
        pass
    nothing.expand(n=list(range(${FAN_OUT_TASKS})))

bench_fan_out()
`;

export type Measured = {
  /** When this process requested the run, by its own clock in epoch milliseconds. */
  askedAt: number;
  run: { start_date: string; end_date: string };
  instances: InstanceTimes[];
};
export type Side = Record<string, { value: number; unit: string; better: 'less' | 'more' }>;

/** Measures svc as well, and prints both with their ratio. A ratio above 1 means that svc is faster. */
export async function printBeside(
  options: BenchOptions,
  { bench, name, theirs, repeats }: { bench: string; name: string; theirs: Side; repeats: number },
): Promise<void> {
  const ours = await measureOurs(options, repeats);
  for (const [figure, { value, unit, better }] of Object.entries(ours)) {
    const other = theirs[figure]?.value ?? Number.NaN;
    const print = (who: string, number: number): void =>
      options.print({ bench, figure: `${figure}: ${who}`, value: rounded(number), unit, runs: repeats });
    print(name, other);
    print('svc', value);
    const ratio = rounded(better === 'less' ? other / value : value / other, 1);
    options.print({ bench, figure: `${figure}: ratio`, value: ratio, unit: 'x', runs: repeats });
  }
}

async function measureOurs(options: BenchOptions, repeats: number): Promise<Side> {
  const server = await startLiveServer();
  const once = async (dagId: string): Promise<Measured> => {
    const askedAt = Date.now();
    const runId = await server.trigger(dagId);
    const run = await server.ended(dagId, runId, 100);
    if (run.state !== 'success') throw new Error(`the run of ${dagId} ended ${run.state}`);
    return { askedAt, run, instances: await server.instances(dagId, runId) };
  };
  try {
    await server.addDag('bench_chain', CHAIN);
    await server.addDag('bench_fan_out', FAN_OUT);
    return await measure({ who: 'svc', options, repeats, once });
  } finally {
    await server.close();
  }
}

export async function measure(input: {
  who: string;
  options: BenchOptions;
  repeats: number;
  once: (dagId: string) => Promise<Measured>;
}): Promise<Side> {
  const { who, options, repeats, once } = input;
  const chains: Measured[] = [];
  const fans: Measured[] = [];
  // The first run of each is a warm-up, in which caches fill and workers start.
  for (let repeat = 0; repeat <= repeats; repeat += 1) {
    const chain = await once('bench_chain');
    const fan = await once('bench_fan_out');
    options.say(`${who}: ${repeat} of ${repeats}: chain ${seconds(chain)} s, fan-out ${seconds(fan)} s`);
    if (repeat > 0) {
      chains.push(chain);
      fans.push(fan);
    }
  }
  const gaps = chains.flatMap(({ instances }) => gapsOf(instances));
  const tasksPerSecond = fans.map((fan) => FAN_OUT_TASKS / seconds(fan));
  const gap = 'chain of 40 x fibo(10): end of a task to start of the next';
  return {
    'asked for a run, to the start of its first task': {
      value: median(chains.map(({ askedAt, instances }) => Math.min(...instances.map(startOf)) - askedAt)),
      unit: 'ms',
      better: 'less',
    },
    'chain of 40 x fibo(10): whole run': { value: median(chains.map(seconds)), unit: 's', better: 'less' },
    [`${gap}, p50`]: { value: percentile(gaps, 0.5), unit: 'ms', better: 'less' },
    [`${gap}, p95`]: { value: percentile(gaps, 0.95), unit: 'ms', better: 'less' },
    [`fan-out of ${FAN_OUT_TASKS} no-op Python tasks`]: {
      value: median(tasksPerSecond),
      unit: 'tasks/s',
      better: 'more',
    },
  };
}

const startOf = ({ start_date }: InstanceTimes): number => exactMs(start_date);
const seconds = ({ run }: Measured): number => (exactMs(run.end_date) - exactMs(run.start_date)) / 1_000;
