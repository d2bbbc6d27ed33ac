// Measures what a large library costs the tasks that use it: imported at the top of the DAG file, in the body of each
// task, or not at all. It also measures operators of provider packages, which load their drivers when they run.

import { providersEnvironment } from '@svc/testing/providers/environment.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';
import { TEST_BUCKET, startS3 } from '@svc/testing/services/s3.ts';
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

const OPERATORS = {
  'SQLExecuteQueryOperator on Postgres': {
    imports: 'from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator',
    call: 'SQLExecuteQueryOperator(task_id=f"t{number}", conn_id="bench_postgres", sql="select 1")',
  },
  S3CreateObjectOperator: {
    imports: 'from airflow.providers.amazon.aws.operators.s3 import S3CreateObjectOperator',
    call: `S3CreateObjectOperator(task_id=f"t{number}", s3_bucket="${TEST_BUCKET}", s3_key="key", data="x", replace=True, aws_conn_id="bench_s3")`,
  },
} as const;

const dagOfOperators = (name: string, { imports, call }: { imports: string; call: string }): string => `
from airflow.sdk import DAG
${imports}

with DAG(${JSON.stringify(name)}, schedule=None):
    previous = None
    for number in range(${TASKS}):
        current = ${call}
        if previous is not None:
            previous >> current
        previous = current
`;

type Measured = { figure: string; name: string; text: string; ms: number[] };

export async function run(options: BenchOptions): Promise<void> {
  const repeats = options.number('runs', 5);
  const [server, cluster, s3] = await Promise.all([
    providersEnvironment().then((python) => startLiveServer({ python })),
    startScratchCluster(),
    startS3(),
  ]);
  try {
    await addConnections(server, await cluster.createDatabase(), s3.url);
    const measured: Measured[] = [
      ...Object.entries(PLACES).map(([key, place]) => {
        const name = `with_pandas_${key}`;
        return { figure: `pandas ${place.title}`, name, text: dagOf(name, place), ms: [] };
      }),
      ...Object.entries(OPERATORS).map(([figure, operator], number) => {
        const name = `operators_${number}`;
        return { figure, name, text: dagOfOperators(name, operator), ms: [] };
      }),
    ];
    for (const { name, text } of measured) await server.addDag(name, text);
    options.say(`chains of ${TASKS}, in turn`);
    for (let repeat = -WARM_UPS; repeat < repeats; repeat += 1) {
      for (const { name, ms } of measured) {
        const { run: chain } = await oneRun(server, name);
        if (repeat >= 0) ms.push((secondsOf(chain) * 1_000) / TASKS);
      }
    }
    for (const { figure, ms } of measured) {
      const value = rounded(median(ms));
      options.print({ bench: 'libraries', figure: `a task of a chain, ${figure}`, value, unit: 'ms', runs: repeats });
    }
  } finally {
    await server.close();
    await cluster.remove();
    await s3.stop();
  }
}

async function addConnections(server: LiveServer, database: string, s3: string): Promise<void> {
  const url = new URL(database);
  await server.api('POST', '/connections', {
    connection_id: 'bench_postgres',
    conn_type: 'postgres',
    host: url.hostname,
    port: Number(url.port),
    login: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    schema: url.pathname.slice(1),
  });
  await server.api('POST', '/connections', {
    connection_id: 'bench_s3',
    conn_type: 'aws',
    login: 'test',
    password: 'test-secret-key',
    extra: JSON.stringify({ endpoint_url: s3, region_name: 'us-east-1' }),
  });
}
