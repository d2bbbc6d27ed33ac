// Measures the metrics of work: a scrape of a real server with 5,000 DAGs, the fold of facts into totals, and what the
// fact of an attempt costs the transaction that ends it.
//
//   npm run bench -- metrics [--runs 20]

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openDatabase } from '@svc/server/db/database.ts';
import { foldWork } from '@svc/server/db/work/fold-work.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { startServerProcess } from '@svc/testing/server/server-process.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { cpuSecondsWithChildren, usageOf } from './process-usage.ts';
import { storeHistory } from './ui/store.ts';

const STORED = { dags: 5_000, runs: 6_000, instances: 60_000 };
const TASKS = 10;
const TARGET_MS = 200;
/** Longer than a scrape shares the read of another. */
const BETWEEN_SCRAPES_MS = 2_100;
const ENDED_AT_ONCE = 20_000;

export async function run(options: BenchOptions): Promise<void> {
  const runs = options.number('runs', 20);
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const cluster = await startScratchCluster({ fsync: 'on' });
  const port = await freePort();
  const url = await cluster.createDatabase();
  const settings = {
    'database.url': url,
    'logs.dir': join(directory, 'logs'),
    'scheduler.enabled': 'false',
    'server.metrics_addr': `127.0.0.1:${port}`,
  };
  const server = await startServerProcess({ settings, logFile: join(directory, 'server.log') });
  const client = new pg.Client({ connectionString: url });
  try {
    await server.untilReady();
    options.say(`storing ${STORED.dags} DAGs`);
    await storeHistory(url, () => {}, STORED);
    await client.connect();
    await client.query(FACTS, [TASKS]);
    await client.query(
      `update dag_runs set end_date = now(), start_date = now() - interval '1 minute' where state = 'success'`,
    );
    await measureFold(options, url);
    await client.query('vacuum (analyze)');
    const usage = (): number =>
      ((usageOf(server.pid)?.cpuSeconds ?? 0) + (cpuSecondsWithChildren(cluster.pid ?? 0) ?? 0)) * 1_000;
    await measureScrape(options, { port, runs, usage });
    await measureEnds(options, client, runs);
  } finally {
    await client.end();
    await server.stop('SIGKILL');
    await cluster.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureFold(options: BenchOptions, url: string): Promise<void> {
  const limits = { maxOpenConns: 1, maxIdleConns: 1, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 };
  const db = openDatabase({ url, ...limits });
  const from = performance.now();
  let facts = 0;
  for (let taken = 1; taken > 0; facts += taken) ({ taken } = await foldWork(db, { perTask: false }));
  const value = rounded((performance.now() - from) / (facts / 1_000));
  options.print({ bench: 'metrics', figure: 'fold', value, unit: 'ms per 1,000 facts', facts });
  await db.close();
}

async function measureScrape(
  options: BenchOptions,
  { port, runs, usage }: { port: number; runs: number; usage: () => number },
): Promise<void> {
  const times: number[] = [];
  const cpu: number[] = [];
  let text = '';
  for (let time = 0; time <= runs; time += 1) {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_SCRAPES_MS));
    const before = usage();
    const from = performance.now();
    text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    if (time === 0) continue; // the first one also compiles
    times.push(performance.now() - from);
    cpu.push(usage() - before);
  }
  const lines = text.split('\n').filter((line) => line.startsWith('airflow_')).length;
  const figures = {
    scrape: median(times),
    'slowest scrape': Math.max(...times),
    'scrape, processor time': median(cpu),
  };
  for (const [figure, value] of Object.entries(figures))
    options.print({ bench: 'metrics', figure, value: rounded(value), unit: 'ms', series: lines, bytes: text.length });
  if (median(times) > TARGET_MS) options.say(`above the target of ${TARGET_MS} ms`);
}

/**
 * Interleaved: ends of attempts with and without the trigger that notes them, in processor time of the backend, because
 * other programs change the time of a clock.
 */
async function measureEnds(options: BenchOptions, client: pg.Client, runs: number): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const cpuMs = (): number =>
    Number(readFileSync(`/proc/${rows[0]?.pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1_000_000;
  const without: number[] = [];
  const noted: number[] = [];
  for (let time = 0; time < runs; time += 1) {
    for (const [times, word] of [
      [without, 'disable'],
      [noted, 'enable'],
    ] as const) {
      await client.query(`alter table task_instances disable trigger note_attempt_ended`);
      await client.query(BEGIN, [ENDED_AT_ONCE]);
      await client.query(`alter table task_instances ${word} trigger note_attempt_ended`);
      const from = cpuMs();
      await client.query(`update task_instances set state = 'success' where state = 'running'`);
      times.push(cpuMs() - from);
      await client.query('truncate work_facts');
      await client.query('vacuum task_instances');
    }
  }
  const perEnd = (times: readonly number[]): number => (median(times) / ENDED_AT_ONCE) * 1_000;
  const value = rounded(perEnd(noted) - perEnd(without));
  options.print({ bench: 'metrics', figure: 'fact of an attempt', value, unit: 'µs CPU', ends: ENDED_AT_ONCE, runs });
}

/** For each DAG: ten attempts of which one failed, and two runs. */
const FACTS = `
  insert into work_facts (tenant_id, dag_id, kind, state, has_run, task_id, operator, run, seconds, queued_seconds, scheduled_seconds)
  select d.tenant_id, d.dag_id, x.kind, x.state, x.kind = 'attempt', x.task, 'BashOperator', null, 1, 0.1, 0.1
  from dags d cross join (
    select 'attempt' as kind, case when n = 1 then 'failed' else 'success' end as state, 't' || n as task from generate_series(1, $1::int) n
    union all values ('run_ended', 'success', ''), ('run_ended', 'failed', ''), ('run_started', 'running', '')
  ) x`;

const BEGIN = `
  update task_instances set state = 'running', queued_at = start_date, scheduled_at = start_date
  where ctid = any(array(select ctid from task_instances where state = 'success' limit $1))`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
