/**
 * Compares `dbt build` with runs of the same project in one lite. The project has 200 models (`--models`) in five
 * layers on DuckDB. `dbt build` runs in its own process; in lite, tasks are by level, by folder and by node. For each
 * it prints the first run, which also starts Python, imports dbt and parses, and later runs. `dbt build` does all of
 * that every time.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dbtPython } from '@svc/testing/dbt/environment.ts';
import { filesBelow } from '@svc/testing/dbt/shop-project.ts';
import { startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const LAYERS = 5;
const GRANULARITIES = ['level', 'folder', 'node'] as const;
const POLL_MS = 50;
/** Target of runs by level, relative to `dbt build`. */
const MOST = 1.3;

export async function run({ number, text, print, say }: BenchOptions): Promise<void> {
  const runs = number('runs', 3);
  const models = number('models', 200);
  const project = projectOf(models);
  const only = text('only');
  const wanted = GRANULARITIES.filter((name) => only === undefined || name === only);
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-dbt-'));
  await chmod(directory, 0o777); // tasks may run as another user
  const python = await dbtPython();
  const figure = (name: string, value: number, more: Record<string, number>): void =>
    print({ bench: 'dbt', figure: name, value: rounded(value), unit: 's', models, ...more });
  const dags = Object.fromEntries(
    wanted.flatMap((granularity) =>
      Object.entries({
        ...filesBelow(`${granularity}/project`, project),
        [`${granularity}/dag.py`]: dagFile(granularity),
      }),
    ),
  );
  say('starting a lite that reads the projects');
  const lite = await startLite({ examples: [], dags, env: { SVC_PYTHON: python } });
  try {
    await writeProject(join(directory, 'plain'), directory, project);
    const plain: number[] = [];
    const build = async (): Promise<void> => {
      const start = performance.now();
      await dbtBuild(python, join(directory, 'plain'));
      plain.push((performance.now() - start) / 1_000);
      say(`dbt build: ${rounded(plain.at(-1) ?? Number.NaN)} s`);
    };
    await build();
    for (const granularity of wanted) {
      await unpaused(lite, granularity, directory);
      const times: number[] = [];
      for (let round = 0; round <= runs; round += 1) {
        times.push(await secondsOfRun(lite, granularity));
        say(`by ${granularity}, run ${round + 1}: ${rounded(times.at(-1) ?? Number.NaN)} s`);
      }
      await build(); // interleaved, so that both see the same state of the machine
      const [first = Number.NaN, ...later] = times;
      const over = median(later) / median(plain);
      figure(`by_${granularity}`, median(later), { first_run: rounded(first), over_dbt_build: rounded(over), runs });
      if (granularity === 'level' && over > MOST)
        say(`by level it is ${rounded(over)} times dbt build; ${MOST} is wanted`);
    }
    figure('dbt_build', median(plain), {
      least: rounded(Math.min(...plain)),
      most: rounded(Math.max(...plain)),
      runs: plain.length,
    });
  } finally {
    await lite.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

type Project = Readonly<Record<string, string>>;

const model = (layer: number, index: number, width: number): string => {
  if (layer === 0) return `select ${index} as id, ${index * 2} as value\n`;
  const ref = (of: number): string => `{{ ref('m_${layer - 1}_${of % width}') }}`;
  return `select a.id, a.value + b.value as value from ${ref(index)} a cross join ${ref(index + 7)} b\n`;
};

function projectOf(models: number): Project {
  if (models < LAYERS || models % LAYERS !== 0) throw new Error(`--models must be a multiple of ${LAYERS}`);
  const width = models / LAYERS;
  return {
    'dbt_project.yml': 'name: wide\nprofile: wide\n',
    ...Object.fromEntries(
      Array.from({ length: models }, (_, at) => {
        const [layer, index] = [Math.floor(at / width), at % width];
        return [`models/layer_${layer}/m_${layer}_${index}.sql`, model(layer, index, width)];
      }),
    ),
  };
}

const dagFile = (granularity: string): string =>
  `from airflow.sdk import DAG\nfrom svc import dbt_group\n\nwith DAG("${granularity}", schedule=None):\n    dbt_group("dbt", "project", adapter="duckdb", conn_id="${granularity}", granularity="${granularity}")\n`;

async function writeProject(folder: string, directory: string, project: Project): Promise<void> {
  const profile = {
    target: 'default',
    outputs: { default: { type: 'duckdb', path: join(directory, 'plain.duckdb'), threads: 4 } },
  };
  for (const [path, content] of Object.entries({ ...project, 'profiles.yml': JSON.stringify({ wide: profile }) })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

async function dbtBuild(python: string, project: string): Promise<void> {
  const script = 'from dbt.cli.main import cli; cli()';
  const args = [
    '-c',
    script,
    'build',
    '--project-dir',
    project,
    '--profiles-dir',
    project,
    '--no-send-anonymous-usage-stats',
  ];
  const child = spawn(python, args, { cwd: project, stdio: 'ignore' });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`dbt build ended with ${code}`);
}

async function unpaused({ api }: LiteInstance, id: string, directory: string): Promise<void> {
  await api('POST', '/connections', { connection_id: id, conn_type: 'duckdb', host: join(directory, `${id}.duckdb`) });
  for (let left = 600; ; left -= 1) {
    try {
      await api('PATCH', `/dags/${id}`, { is_paused: false });
      return;
    } catch (error) {
      if (left === 0) throw error;
      await sleep(500); // the file is still being read
    }
  }
}

/** Returns the time from start to end in the control plane. */
async function secondsOfRun({ api }: LiteInstance, id: string): Promise<number> {
  type Run = { dag_run_id: string; state: string; start_date: string; end_date: string };
  const { dag_run_id: runId } = await api<Run>('POST', `/dags/${id}/dagRuns`, { conf: {} });
  for (;;) {
    const run = await api<Run>('GET', `/dags/${id}/dagRuns/${encodeURIComponent(runId)}`);
    if (run.state === 'success') return (Date.parse(run.end_date) - Date.parse(run.start_date)) / 1_000;
    if (run.state === 'failed') throw new Error(`the run by ${id} failed`);
    await sleep(POLL_MS);
  }
}
