/**
 * Compares tasks with many templates and tasks without. Work that is equal for all attempts of a version is done only
 * once.
 */
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import { median, rounded } from '../figure.ts';
import type { BenchOptions } from '../figure.ts';
import { WARM_UPS, oneRun, secondsOf } from './tasks.ts';

const TEMPLATES = 20;

const dagOf = (name: string, templates: number): string => `
from airflow.sdk import DAG
from airflow.providers.standard.operators.python import PythonOperator

def body(**values):
    pass

with DAG(${JSON.stringify(name)}, schedule=None):
    previous = None
    for number in range(40):
        texts = {f"k{index}": "{{ ds }} {% if params.get('x') %}x{% endif %} of " + f"{number} {index}" for index in range(${templates})}
        current = PythonOperator(task_id=f"t{number:02}", python_callable=body, op_kwargs={"ds_": "{{ ds }}", **texts})
        if previous is not None:
            previous >> current
        previous = current
`;

export async function templateTimes(options: BenchOptions): Promise<void> {
  const repeats = options.number('runs', 5);
  const server = await startLiveServer();
  try {
    const dags = { few: 0, many: TEMPLATES };
    for (const [name, number] of Object.entries(dags)) await server.addDag(name, dagOf(name, number));
    options.say(`chains of 40 with one and with ${TEMPLATES + 1} templates in each task, in turn`);
    const seconds: Record<string, number[]> = { few: [], many: [] };
    for (let repeat = -WARM_UPS; repeat < repeats; repeat += 1) {
      for (const name of Object.keys(dags)) {
        const { run } = await oneRun(server, name);
        if (repeat >= 0) seconds[name]?.push(secondsOf(run));
      }
    }
    const [few, many] = [median(seconds['few'] ?? []), median(seconds['many'] ?? [])];
    const figure = `chain of 40, ${TEMPLATES + 1} templates in each task against one`;
    options.print({ bench: 'vault', figure, value: rounded(many / few), unit: 'ratio', runs: repeats });
  } finally {
    await server.close();
  }
}
