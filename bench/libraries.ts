// What a large library costs the tasks that use it: imported at the top of the DAG file, in the body of each task, not at all.

import { providersEnvironment } from '@svc/testing/providers/environment.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { oneRun, secondsOf } from './runs/tasks.ts';

const TASKS = 10;
const WARM_UPS = 3;

const PLACES = {
  none: { title: 'without it', top: '', body: 'pass' },
  top: {
    title: 'imported at the top of the file',
    top: 'import pandas',
    body: 'return len(pandas.DataFrame({"a": [1]}))',
  },
  body: { title: 'imported in each body', top: '', body: 'import pandas; return len(pandas.DataFrame({"a": [1]}))' },
} as const;

const dagOf = (name: string, { top, body }: { top: string; body: string }): string => `
from airflow.sdk import DAG, task
${top}

with DAG(${JSON.stringify(name)}, schedule=None):
    previous = None
    for number in range(${TASKS}):
        @task(task_id=f"t{number}")
        def step():
            ${body}
        current = step()
        if previous is not None:
            previous >> current
        previous = current
`;

export async function run(options: BenchOptions): Promise<void> {
  const repeats = options.number('runs', 5);
  const server = await startLiveServer({ python: await providersEnvironment() });
  try {
    const measured = Object.entries(PLACES).map(([key, place]) => ({
      name: `with_pandas_${key}`,
      ...place,
      ms: [] as number[],
    }));
    for (const { name, top, body } of measured) await server.addDag(name, dagOf(name, { top, body }));
    options.say(`chains of ${TASKS} with pandas, in turn`);
    for (let repeat = -WARM_UPS; repeat < repeats; repeat += 1) {
      for (const { name, ms } of measured) {
        const { run: chain } = await oneRun(server, name);
        if (repeat >= 0) ms.push((secondsOf(chain) * 1_000) / TASKS);
      }
    }
    for (const { title, ms } of measured) {
      const figure = `a task of a chain, pandas ${title}`;
      options.print({ bench: 'libraries', figure, value: rounded(median(ms)), unit: 'ms', runs: repeats });
    }
  } finally {
    await server.close();
  }
}
