/** The same work on an empty database and on one with years of history: latencies must not notice. */
import pg from 'pg';
import { median, rounded } from '../figure.ts';
import type { BenchOptions } from '../figure.ts';
import { startLiveServer } from './live-server.ts';
import type { LiveServer } from './live-server.ts';
import { WARM_UPS, chainRun, percentile } from './tasks.ts';

const RUNS = 100_000;
const TASKS = 30;
const RUNS_PER_STATEMENT = 2_000;
/** Enough to fill every page that is measured: an empty page would be faster for what is not in it. */
const FEW_RUNS = 2_000;

/** Of fewer, the 99th percentile is the slowest one. */
const CALLS = 200;

const HISTORY_DAG = `
from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

for number in range(20):
    with DAG(f"history_{number:02}", schedule=None) as dag:
        for task in range(${TASKS}):
            BashOperator(task_id=f"t{task:02}", bash_command="true")
    globals()[dag.dag_id] = dag
`;

const LISTS = [
  '/dags?limit=50',
  '/dags/history_03/dagRuns?limit=100',
  '/dags/~/dagRuns?limit=100',
  '/dags/~/dagRuns?state=failed&limit=100',
  '/dags/~/dagRuns?order_by=-start_date&limit=50',
  '/dags/history_03/dagRuns?run_type=manual&limit=100',
  '/dags/~/dagRuns/~/taskInstances?limit=100',
  '/dags/~/dagRuns/~/taskInstances?state=failed&limit=100',
  '/dags/~/dagRuns/~/taskInstances?state=running&limit=100',
  '/dags/~/dagRuns/~/taskInstances?order_by=-start_date&limit=50',
  '/dags/history_03/dagRuns/~/taskInstances?limit=100',
  '/dags/history_03/dagRuns/history_1503/taskInstances?limit=100',
  '/pools?limit=100',
  '/eventLogs?limit=100',
];

type Scheduling = { chain: number; gap: number };
type Lists = Map<string, { p50: number; p99: number }>;

export async function benchHistory(options: BenchOptions, repeats: number): Promise<void> {
  const server = await startLiveServer();
  try {
    await server.addDag('history', HISTORY_DAG);
    await load(server.databaseUrl, { from: 0, to: FEW_RUNS });
    options.say(`lists with ${FEW_RUNS} runs`);
    const few = await lists(server);
    options.say(`loading ${RUNS} runs and ${RUNS * TASKS} task instances`);
    const from = performance.now();
    await load(server.databaseUrl, { from: FEW_RUNS, to: RUNS });
    options.say(`loaded in ${Math.round((performance.now() - from) / 1_000)} s`);
    options.say('scheduling, in turn with an empty database');
    const [full, empty] = await schedulingInTurn(server, repeats * 3);
    report(options, { empty, full, few, many: await lists(server), repeats });
  } finally {
    await server.close();
  }
}

/** Run by run: between a measurement before the loading and one after, the machine itself changes by a third. */
async function schedulingInTurn(server: LiveServer, repeats: number): Promise<[Scheduling, Scheduling]> {
  const empty = await startLiveServer();
  try {
    const measured = [server, empty].map((one) => ({ server: one, chains: [] as number[], gaps: [] as number[] }));
    for (let repeat = -WARM_UPS; repeat < repeats; repeat += 1) {
      for (const one of measured) {
        const run = await chainRun(one.server);
        if (repeat < 0) continue;
        one.chains.push(run.seconds);
        one.gaps.push(...run.gaps);
      }
    }
    const [full, none] = measured.map(({ chains, gaps }) => ({ chain: median(chains), gap: percentile(gaps, 0.5) }));
    if (!full || !none) throw new Error('unreachable: two were measured');
    return [full, none];
  } finally {
    await empty.close();
  }
}

async function lists(server: LiveServer): Promise<Lists> {
  const found: Lists = new Map();
  for (const path of LISTS) {
    const times: number[] = [];
    for (let call = -10; call < CALLS; call += 1) {
      const started = performance.now();
      await server.api('GET', path);
      if (call >= 0) times.push(performance.now() - started);
    }
    found.set(path, { p50: percentile(times, 0.5), p99: percentile(times, 0.99) });
  }
  return found;
}

function report(
  options: BenchOptions,
  measured: { empty: Scheduling; full: Scheduling; few: Lists; many: Lists; repeats: number },
): void {
  const { empty, full, few, many, repeats } = measured;
  const print = (figure: string, value: number, unit: string): void =>
    options.print({
      bench: 'runs',
      figure,
      value: rounded(value),
      unit,
      runs: repeats,
      stored_runs: RUNS,
      stored_instances: RUNS * TASKS,
    });
  print('with history: chain of 40, against an empty database', full.chain / empty.chain, 'ratio');
  print('with history: gap between tasks p50, against an empty database', full.gap / empty.gap, 'ratio');
  for (const [path, { p50, p99 }] of many) {
    print(`with history: GET ${path}, p99`, p99, 'ms');
    const against = `${FEW_RUNS.toLocaleString('en')} runs`;
    print(`with history: GET ${path}, p50 against ${against}`, p50 / (few.get(path)?.p50 ?? Number.NaN), 'ratio');
  }
}

/** Straight into the tables: what the scheduler would have left behind. */
async function load(url: string, { from, to }: { from: number; to: number }): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let first = from; first < to; first += RUNS_PER_STATEMENT) {
      await client.query(INSERT_RUNS, [first, first + RUNS_PER_STATEMENT - 1, TASKS]);
      await client.query(INSERT_INSTANCES, [first, first + RUNS_PER_STATEMENT - 1, TASKS]);
    }
    // What autovacuum does in its own time; without it, counting reads the tables instead of their indexes.
    await client.query('vacuum (analyze) dag_runs');
    await client.query('vacuum (analyze) task_instances');
    await client.query('checkpoint'); // what is measured next must not wait for what was loaded to be written
  } finally {
    await client.end();
  }
}

const INSERT_RUNS = `
  insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
    run_after, queued_at, start_date, end_date, triggered_by, version_number, state_counts)
  select t.id, 'history_' || lpad((n % 20)::text, 2, '0'), 'history_' || n, 'scheduled',
    case when n % 20 = 3 then 'failed' else 'success' end,
    m.at, m.at, m.at, m.at, m.at, m.at, m.at + interval '5 minutes', 'timetable', 1,
    case when n % 20 = 3 then jsonb_build_object('success', $3::int - 1, 'failed', 1) else jsonb_build_object('success', $3::int) end
  from tenants t, generate_series($1::int, $2::int) as n,
    lateral (select timestamptz '2020-01-01' + n * interval '10 minutes' as at) as m`;

const INSERT_INSTANCES = `
  insert into task_instances (tenant_id, run, task_id, map_index, dag_id, state, try_number, max_tries, attempt_id, operator,
    pool, pool_slots, priority_weight, queue, upstream, scheduled_at, queued_at, start_date, end_date, hostname, version_number)
  select r.tenant_id, r.id, 't' || lpad(k::text, 2, '0'), -1, r.dag_id,
    case when r.state = 'failed' and k = 7 then 'failed' else 'success' end,
    1, 0, gen_random_uuid(), 'BashOperator', 'default_pool', 1, 1, 'default', '0', r.start_date, r.start_date,
    r.start_date + k * interval '1 second', r.start_date + (k + 1) * interval '1 second', 'worker', 1
  from dag_runs r, generate_series(0, $3::int - 1) as k
  where r.run_id = any(select 'history_' || n from generate_series($1::int, $2::int) as n)`;
