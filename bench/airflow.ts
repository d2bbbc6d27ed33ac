/**
 * Airflow and this control plane, one after the other on the same machine: the same two DAG files, LocalExecutor on
 * Postgres there, subprocess executor on Postgres here, both measured by the dates that their own API gives.
 */
import { installAirflow, startAirflow } from '@svc/testing/airflow/airflow-processes.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { InstanceTimes } from '@svc/testing/server/live-server.ts';
import { CHAIN, exactMs, gapsOf, percentile } from './runs/tasks.ts';

/** Airflow needs minutes for a thousand on two cores; the rate shows with fewer. */
const FAN_OUT_TASKS = 100;

const FAN_OUT = `
from airflow.sdk import dag, task

@dag(schedule=None, max_active_tasks=${FAN_OUT_TASKS})
def bench_fan_out():
    @task
    def nothing(n):
        pass
    nothing.expand(n=list(range(${FAN_OUT_TASKS})))

bench_fan_out()
`;

type Measured = { run: { start_date: string; end_date: string }; instances: InstanceTimes[] };
type Side = Record<string, { value: number; unit: string; better: 'less' | 'more' }>;

export async function run(options: BenchOptions): Promise<void> {
  const repeats = options.number('runs', 3);
  options.say('Airflow: installing (first time only)');
  installAirflow();
  const theirs = await measureAirflow(options, repeats);
  const ours = await measureOurs(options, repeats);
  for (const [figure, { value, unit, better }] of Object.entries(ours)) {
    const airflow = theirs[figure]?.value ?? Number.NaN;
    const print = (who: string, number: number): void =>
      options.print({ bench: 'airflow', figure: `${figure}: ${who}`, value: rounded(number), unit, runs: repeats });
    print('Airflow 3.2.2', airflow);
    print('svc', value);
    const ratio = rounded(better === 'less' ? airflow / value : value / airflow, 1);
    options.print({ bench: 'airflow', figure: `${figure}: ratio`, value: ratio, unit: 'x', runs: repeats });
  }
}

async function measureAirflow(options: BenchOptions, repeats: number): Promise<Side> {
  options.say('Airflow: starting');
  const airflow = await startAirflow({ 'bench_chain.py': CHAIN, 'bench_fan_out.py': FAN_OUT });
  try {
    for (const dagId of ['bench_chain', 'bench_fan_out']) await airflow.addDag(dagId);
    return await measure({ who: 'Airflow', options, repeats, once: airflow.run });
  } finally {
    options.say('Airflow: stopping');
    await airflow.stop();
  }
}

async function measureOurs(options: BenchOptions, repeats: number): Promise<Side> {
  const server = await startLiveServer();
  const once = async (dagId: string): Promise<Measured> => {
    const runId = await server.trigger(dagId);
    const run = await server.ended(dagId, runId, 100);
    if (run.state !== 'success') throw new Error(`the run of ${dagId} ended ${run.state}`);
    return { run, instances: await server.instances(dagId, runId) };
  };
  try {
    await server.addDag('bench_chain', CHAIN);
    await server.addDag('bench_fan_out', FAN_OUT);
    return await measure({ who: 'svc', options, repeats, once });
  } finally {
    await server.close();
  }
}

async function measure(input: {
  who: string;
  options: BenchOptions;
  repeats: number;
  once: (dagId: string) => Promise<Measured>;
}): Promise<Side> {
  const { who, options, repeats, once } = input;
  const chains: Measured[] = [];
  const fans: Measured[] = [];
  // The first of each is not counted: caches fill, workers start.
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

const seconds = ({ run }: Measured): number => (exactMs(run.end_date) - exactMs(run.start_date)) / 1_000;
