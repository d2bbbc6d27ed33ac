/**
 * Compares Airflow and this control plane on the same machine, one after the other, with the same two DAG files.
 * Airflow uses the LocalExecutor on Postgres, svc the subprocess executor on Postgres. Both are measured by the dates
 * of their own API.
 */
import { installAirflow, startAirflow } from '@svc/testing/airflow/airflow-processes.ts';
import type { BenchOptions } from './figure.ts';
import { FAN_OUT, measure, printBeside } from './field/measure.ts';
import type { Side } from './field/measure.ts';
import { CHAIN } from './runs/tasks.ts';

export async function run(options: BenchOptions): Promise<void> {
  const repeats = options.number('runs', 3);
  options.say('Airflow: installing (first time only)');
  await installAirflow();
  const theirs = await measureAirflow(options, repeats);
  await printBeside(options, { bench: 'airflow', name: 'Airflow 3.2.2', theirs, repeats });
}

async function measureAirflow(options: BenchOptions, repeats: number): Promise<Side> {
  options.say('Airflow: starting');
  const airflow = await startAirflow({ 'bench_chain.py': CHAIN, 'bench_fan_out.py': FAN_OUT }, { isAtDefaults: true });
  try {
    for (const dagId of ['bench_chain', 'bench_fan_out']) await airflow.addDag(dagId);
    return await measure({
      who: 'Airflow',
      options,
      repeats,
      once: async (dagId) => ({ askedAt: Date.now(), ...(await airflow.run(dagId)) }),
    });
  } finally {
    options.say('Airflow: stopping');
    await airflow.stop();
  }
}
