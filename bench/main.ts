// Runs one benchmark: `npm run bench -- <name> [options]`. Without a name, it lists them. Each figure is one line of
// JSON on standard output, and progress for people goes to standard error.

import { parseArgs } from 'node:util';
import type { BenchOptions, Figure } from './figure.ts';

type Bench = {
  about: string;
  load(): Promise<{ run(options: BenchOptions): Promise<void> }>;
};

const BENCHES: Record<string, Bench> = {
  airflow: {
    about: 'the same chain and fan-out on Airflow 3.2.2 and here, one after the other, and the ratio [--runs 3]',
    load: () => import('./airflow.ts'),
  },
  alerts: {
    about: 'time from the end of a failed run to its message at a loopback receiver [--times 100]',
    load: () => import('./alerts.ts'),
  },
  api: {
    about:
      'requests per second and latency of the HTTP API, 10,000 connections and variables stored [--seconds 5 --runs 3]',
    load: () => import('./api.ts'),
  },
  chaos: {
    about: 'Postgres restarted, killed and paused under load; ends with 1 when anything is lost [--minutes 5 --seed 1]',
    load: () => import('./chaos.ts'),
  },
  'chaos-runs': {
    about:
      'tasks while servers, agents and task processes are killed and Postgres goes away; ends with 1 when a promise is broken [--minutes 3 --seed 1 --roles all|split]',
    load: () => import('./chaos-runs.ts'),
  },
  compile: {
    about:
      'one DAG file in a new process, and workspaces of 500 mixed and of 1,000 and 2,000 small files in a warm one; spec size and memory [--only small|warm]',
    load: () => import('./compile.ts'),
  },
  dagtest: {
    about:
      'dag.test() of two tasks in a new process, and of 100 tasks without work in a warm one, next to Airflow 3.3.2 [--only svc|airflow|airflow-3.2.2 --runs 5]',
    load: () => import('./dagtest.ts'),
  },
  dbt: {
    about:
      '200 models of a dbt project by level, folder and node beside `dbt build` [--runs 3 --models 200 --only level]',
    load: () => import('./dbt.ts'),
  },
  deliver: {
    about:
      'a push to a repository on this disk until it is live, with one changed DAG, and a rollback [--models 100 DAGs --runs 10]',
    load: () => import('./deliver.ts'),
  },
  diagnose: {
    about:
      'twenty DAGs broken in twenty ways: does one diagnose_run have what a good engineer would say, within 4,000 tokens? [--only <part of a name>]',
    load: () => import('./diagnose.ts'),
  },
  differential: {
    about:
      'generated DAG files on Airflow 3.2.2 and here, fact by fact; each difference shrunk; coverage of features and of their pairs; ends with 1 when something is unexplained [--times 200 DAGs --seed 1 --only find, without shrinking]',
    load: () => import('./differential.ts'),
  },
  'exact-json': {
    about: 'reading JSON with the digits of its numbers, beside JSON.parse [--runs 5]',
    load: () => import('./exact-json.ts'),
  },
  fairness: {
    about:
      'what 1,000 clients of one tenant cost another tenant: p95 of its requests, and of the wait for a worker, alone and beside them [--runs 3 --seconds 10 --only requests|streams|claims]',
    load: () => import('./fairness.ts'),
  },
  floor: {
    about:
      'commit, message and fork alone, and chain, fan-out and trigger beside them as ratios; processor time per task [--runs 3]',
    load: () => import('./floor.ts'),
  },
  idle: {
    about:
      'a control plane for pods that has nothing to do: processor time and transactions a second [--seconds 30 --runs 3]',
    load: () => import('./idle.ts'),
  },
  kubernetes: {
    about:
      'pods by svc beside the same pods created raw: latency, throughput, memory with 1,000 in flight, idle cost; in a cluster: npm run cluster -- npm run bench -- kubernetes [--runs 10 --times 20 --seconds 30]',
    load: () => import('./kubernetes.ts'),
  },
  large: {
    about:
      'a database of tens of millions of task instances beside a small one: chain, trigger, lists, and the removal of what is old; takes hours and some 600 bytes per instance [--times 50 million --runs 3]',
    load: () => import('./large.ts'),
  },
  libraries: {
    about: 'a chain whose tasks use pandas: imported at the top of the file, in each body, not at all [--runs 5]',
    load: () => import('./libraries.ts'),
  },
  lite: {
    about:
      'svc lite: first start with empty caches of its own, later starts, a changed file, idle memory and CPU [--runs 3 --seconds 30]',
    load: () => import('./lite.ts'),
  },
  logs: {
    about:
      'lines of task logs: acknowledged per second on the disk and for an object store (an emulator), and how soon another process sees one [--seconds 3]',
    load: () => import('./logs.ts'),
  },
  metrics: {
    about: 'a scrape with 5,000 DAGs, the fold of facts into totals, and what the fact of an attempt costs [--runs 20]',
    load: () => import('./metrics.ts'),
  },
  migrate: {
    about: 'svc migrate of a history: time, rate and peak memory [--times 100000 task instances]',
    load: () => import('./migrate.ts'),
  },
  overload: {
    about:
      'the gap between tasks while 1,000 and 5,000 requests are under way, what those who ask are told, memory; and how long one request of any kind holds up the event loop [--runs 3 --only gap|turns]',
    load: () => import('./overload.ts'),
  },
  'pod-start': {
    about:
      'in the test cluster (npm run cluster -- npm run bench -- pod-start): from the start of a container to the first line of the task, and what is before it [--times 10]',
    load: () => import('./pod-start.ts'),
  },
  prefect: {
    about: 'the same chain and fan-out on Prefect 3.8.8 and here, one after the other, and the ratio [--runs 3]',
    load: () => import('./prefect.ts'),
  },
  properties: {
    about:
      'the property tests from random seeds, which are printed; ends with 1 when a round finds something [--times 10 --seed <random> --only <part of a path>]',
    load: () => import('./properties.ts'),
  },
  runs: {
    about:
      'the scheduler alone, two of them, tasks end to end, and with 3,000,000 finished instances [--runs 3 --only scheduler|schedulers|tasks|history]',
    load: () => import('./runs.ts'),
  },
  mcp: {
    about: 'latency of each tool for agents, on a run of 10 tasks and on one of 10,000',
    load: () => import('./mcp.ts'),
  },
  schemathesis: {
    about:
      'the API against its own document, from random seeds, which are printed; ends with 1 when a round finds something [--times 3 --seed <random>]',
    load: () => import('./schemathesis.ts'),
  },
  soak: {
    about:
      'schedules, backfills, mapped tasks, failures, UI polling and log followers at once for long: memory, handles, connections, dead rows and gaps at the start and at the end [--minutes 30]',
    load: () => import('./soak.ts'),
  },
  triggers: {
    about:
      'tasks that wait for triggers in one triggerer: its memory, and how soon after the event a task goes on [--times 1000]',
    load: () => import('./triggers.ts'),
  },
  ui: {
    about:
      'the pages of the web UI with 5,000 DAGs, 200,000 runs and 2,000,000 task instances [--only <part of a name>]',
    load: () => import('./ui.ts'),
  },
  timetables: {
    about: 'one step of a cron schedule, in zones with and without clock changes',
    load: () => import('./timetables.ts'),
  },
  vault: {
    about:
      'what every attempt is given: a chain with 10,000 variables stored against none, and templates [--runs 5 --only variables|templates]',
    load: () => import('./vault.ts'),
  },
  warm: {
    about:
      'warm workers beside cold pods and lite: start of an attempt, a chain, a burst in a pool of 4, two tenants; in a cluster: npm run cluster -- npm run bench -- warm [--runs 20 --times 200 --only start|chain|burst|tenants]',
    load: () => import('./warm.ts'),
  },
  watch: {
    about:
      'lite and the files of its workspace: cost of noticing changes in 2,000 files while nothing happens, and 500 seeded saves: how many were missed, how long the others took [--seconds 30 --times 500 --seed 32]',
    load: () => import('./watch.ts'),
  },
  xcom: {
    about:
      'values of tasks of 1 kB to 1 MB, pushed and pulled with Postgres alone and with Redis beside it [--runs 3 --times 60]',
    load: () => import('./xcom.ts'),
  },
};

const print = (figure: Figure): void => void process.stdout.write(`${JSON.stringify(figure)}\n`);
const say = (message: string): void => void process.stderr.write(`${message}\n`);

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      runs: { type: 'string' },
      minutes: { type: 'string' },
      seed: { type: 'string' },
      times: { type: 'string' },
      models: { type: 'string' },
      only: { type: 'string' },
      profile: { type: 'string' },
      roles: { type: 'string' },
    },
  });
  const [name] = positionals;
  const bench = name === undefined ? undefined : BENCHES[name];
  if (name === undefined || !bench) {
    if (name !== undefined) say(`bench: there is no benchmark "${name.slice(0, 50)}"`);
    say('Usage: npm run bench -- <name> [options]\n');
    for (const [known, { about }] of Object.entries(BENCHES)) say(`  ${known.padEnd(12)}${about}`);
    return name === undefined ? 0 : 2;
  }
  const number = (option: 'seconds' | 'runs' | 'minutes' | 'seed' | 'times' | 'models', otherwise: number): number => {
    const value = values[option] === undefined ? otherwise : Number(values[option]);
    if (!(value > 0)) throw new Error(`--${option} ${values[option]}: give a number above 0`);
    return value;
  };
  const { run } = await bench.load();
  await run({ number, text: (option) => values[option], print, say });
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  say(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
