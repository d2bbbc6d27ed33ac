/** Compares the same work on an empty database and on one with years of history. Latencies must be equal. */
import { Agent, get } from 'node:http';
import pg from 'pg';
import { rounded } from '../figure.ts';
import type { BenchOptions } from '../figure.ts';
import { chainsInTurn } from './chains-in-turn.ts';
import type { Chains } from './chains-in-turn.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';
import { percentile } from './tasks.ts';

const RUNS = 100_000;
const TASKS = 30;
const RUNS_PER_STATEMENT = 2_000;
/** Enough runs to fill every measured page, because an empty page would be faster. */
export const FEW_RUNS = 2_000;

/** With fewer calls, the 99th percentile would be the slowest call. */
const CALLS = 200;
const WARM_UP_CALLS = 20;

export const HISTORY_DAG = `
from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

for number in range(20):
    with DAG(f"history_{number:02}", schedule=None) as dag:
        for task in range(${TASKS}):
            BashOperator(task_id=f"t{task:02}", bash_command="true")
    globals()[dag.dag_id] = dag
`;

export const LISTS = [
  '/dags?limit=50',
  '/dags/history_03/dagRuns?limit=100',
  '/dags/~/dagRuns?limit=100',
  '/dags/~/dagRuns?state=failed&limit=100',
  '/dags/~/dagRuns?order_by=-start_date&limit=50',
  '/dags/~/dagRuns?order_by=-duration&limit=50',
  '/dags/history_03/dagRuns?run_type=manual&limit=100',
  '/dags/~/dagRuns/~/taskInstances?limit=100',
  '/dags/~/dagRuns/~/taskInstances?state=failed&limit=100',
  '/dags/~/dagRuns/~/taskInstances?state=running&limit=100',
  '/dags/~/dagRuns/~/taskInstances?order_by=-start_date&limit=50',
  '/dags/~/dagRuns/~/taskInstances?order_by=-end_date&limit=50',
  '/dags/~/dagRuns/~/taskInstances?order_by=-duration&limit=50',
  '/dags/~/dagRuns/~/taskInstances?task_display_name_prefix_pattern=nowhere&cursor=&limit=50',
  '/dags/history_03/dagRuns/~/taskInstances?limit=100',
  '/dags/history_03/dagRuns/history_1503/taskInstances?limit=100',
  '/pools?limit=100',
  '/eventLogs?limit=100',
];

export async function benchHistory(options: BenchOptions, repeats: number): Promise<void> {
  const [full, empty, few] = [await startLiveServer(), await startLiveServer(), await startLiveServer()];
  const print = (figure: string, value: number, unit: string): void =>
    options.print({
      bench: 'runs',
      figure: `with history: ${figure}`,
      value: rounded(value),
      unit,
      runs: repeats,
      stored_runs: RUNS,
      stored_instances: RUNS * TASKS,
    });
  try {
    for (const server of [full, few]) await server.addDag('history', HISTORY_DAG);
    await load(few.databaseUrl, FEW_RUNS);
    options.say(`loading ${RUNS} runs and ${RUNS * TASKS} task instances`);
    const from = performance.now();
    await load(full.databaseUrl, RUNS);
    options.say(`loaded in ${Math.round((performance.now() - from) / 1_000)} s`);

    options.say('scheduling, in turn with an empty database');
    const chains = await chainsInTurn([full, empty], repeats * 3);
    const ratio = (part: (chains: Chains) => number[]): number => {
      const [many = Number.NaN, none = Number.NaN] = chains.map((own) => p50(part(own)));
      return many / none;
    };
    print(
      'chain of 40, against an empty database',
      ratio(({ seconds }) => seconds),
      'ratio',
    );
    print(
      'gap between tasks p50, against an empty database',
      ratio(({ gaps }) => gaps),
      'ratio',
    );

    options.say(`lists, in turn with a database of ${FEW_RUNS} runs`);
    for (const path of LISTS) {
      const [many, less] = await callsInTurn([full, few], path);
      print(`GET ${path}, p50`, p50(many), 'ms');
      print(`GET ${path}, p99`, percentile(many, 0.99), 'ms');
      print(`GET ${path}, p50 against ${FEW_RUNS.toLocaleString('en')} runs`, p50(many) / p50(less), 'ratio');
    }
  } finally {
    for (const server of [full, empty, few]) await server.close();
  }
}

const p50 = (values: readonly number[]): number => percentile(values, 0.5);

type Pair<T> = readonly [T, T];

/** Interleaves the calls, because the speed of the machine changes within minutes. */
export async function callsInTurn(servers: Pair<LiveServer>, path: string): Promise<Pair<number[]>> {
  const times: Pair<number[]> = [[], []];
  for (let call = -WARM_UP_CALLS; call < CALLS; call += 1) {
    for (const [index, own] of times.entries()) {
      const taken = await timeOf(servers[index === 0 ? 0 : 1], path);
      if (call >= 0) own.push(taken);
    }
  }
  return times;
}

/** Measures up to the last byte without reading the body, because unpacking it is work of the client. */
function timeOf({ url, token }: LiveServer, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' };
    const request = get(`${url}/api/v2${path}`, { agent: KEPT_ALIVE, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`GET ${path}: ${response.statusCode}`));
      response.once('end', () => resolve(performance.now() - started)).resume();
    });
    request.once('error', reject);
  });
}

const KEPT_ALIVE = new Agent({ keepAlive: true });

/** Stores rows directly in the tables, as the scheduler would have left them. */
export async function load(url: string, runs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let first = 0; first < runs; first += RUNS_PER_STATEMENT) {
      await client.query(INSERT_RUNS, [first, first + RUNS_PER_STATEMENT - 1, TASKS]);
      await client.query(INSERT_INSTANCES, [first, first + RUNS_PER_STATEMENT - 1, TASKS]);
    }
    // Autovacuum would do this later. Without it, counting reads the tables instead of their indexes.
    await client.query('vacuum (analyze) dag_runs');
    await client.query('vacuum (analyze) task_instances');
    await client.query('checkpoint'); // the next measurement must not wait until these rows are written to disk
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
