/** Measures the time and memory of `svc migrate` for a long history into its own Postgres. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSqliteMetadata } from '@svc/testing/airflow/metadata-database.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const TASKS = 20;
const DAGS = 20;

export async function run(options: BenchOptions): Promise<void> {
  const instances = options.number('times', 100_000);
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-migrate-'));
  const cluster = await startScratchCluster({ fsync: 'on' });
  try {
    const from = join(directory, 'airflow.db');
    options.say(`making an Airflow with ${instances} task instances`);
    await fill(from, Math.ceil(instances / TASKS));
    const url = await cluster.createDatabase();
    const env = { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: directory, SVC_DATABASE_URL: url };
    await svc(['users', 'grant-admin', 'a@example.com', '--create'], env);
    const argv = ['migrate', '--from', from, '--only', 'history', '--apply'];
    for (const [name, expected] of [
      ['import', instances],
      ['import again, nothing to do', 0],
    ] as const) {
      const { seconds, peakMegabytes } = await svc(argv, env);
      const common = { bench: 'migrate', task_instances: instances };
      options.print({ ...common, figure: name, value: rounded(seconds), unit: 's' });
      options.print({ ...common, figure: `${name}: peak memory`, value: rounded(peakMegabytes, 0), unit: 'MB' });
      if (expected > 0)
        options.print({
          ...common,
          figure: `${name}: rate`,
          value: rounded(expected / seconds, 0),
          unit: 'task instances/s',
        });
    }
  } finally {
    await cluster.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

async function svc(
  argv: readonly string[],
  env: Record<string, string>,
): Promise<{ seconds: number; peakMegabytes: number }> {
  const from = performance.now();
  const child = spawn(join(ROOT, 'bin', 'svc'), [...argv], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  let peakMegabytes = 0;
  const isOver = exited.then(() => true);
  do peakMegabytes = Math.max(peakMegabytes, peakOf(child.pid ?? 0));
  while (!(await Promise.race([isOver, sleep(200, false)])));
  const [code] = (await exited) as [number];
  if (code !== 0) throw new Error(`svc ${argv[0]} ended with ${code}`);
  return { seconds: (performance.now() - from) / 1_000, peakMegabytes };
}

/** Returns the peak that Linux has recorded so far. */
function peakOf(pid: number): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes ?? 0) / 1_024;
  } catch {
    return 0; // the process has ended
  }
}

async function fill(path: string, runs: number): Promise<void> {
  const airflow = await createSqliteMetadata(path, '3.2');
  const dags = Array.from({ length: DAGS }, (_, number) => `dag_${number}`);
  await airflow.insert(
    'dag',
    ...dags.map((dag_id) => ({ dag_id, is_paused: true, is_stale: false, fileloc: 'x.py', owners: 'ana' })),
  );
  await airflow.run(`
    insert into dag_run (id, dag_id, run_id, run_type, state, logical_date, run_after, start_date, end_date, conf)
    with recursive n(id) as (select 1 union all select id + 1 from n where id < ${runs})
    select id, 'dag_' || (id % ${DAGS}), 'run_' || id, 'scheduled', case when id % 10 = 0 then 'failed' else 'success' end,
      datetime('2020-01-01', '+' || id || ' minutes'), datetime('2020-01-01', '+' || id || ' minutes'),
      datetime('2020-01-01', '+' || id || ' minutes'), datetime('2020-01-01', '+' || (id + 5) || ' minutes'), '{}'
    from n`);
  await airflow.run(`
    insert into task_instance (id, dag_id, run_id, task_id, map_index, state, try_number, max_tries, pool, pool_slots, queue,
      priority_weight, operator, hostname, start_date, end_date)
    with recursive t(n) as (select 0 union all select n + 1 from t where n < ${TASKS - 1})
    select r.id || '-' || t.n, r.dag_id, r.run_id, 'task_' || t.n, -1, 'success', 1, 0, 'default_pool', 1, 'default', 1,
      'BashOperator', 'worker-1', r.start_date, r.end_date
    from dag_run r cross join t`);
  await airflow.close();
}
