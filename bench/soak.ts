// A long load: schedules, backfills, mapped tasks, failures and retries, requests of the web UI and followers of logs,
// all at once. Resources that a process could leak are sampled. The benchmark prints them for the start and for the
// end, and the goal is no growth.

import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { usageOf } from './process-usage.ts';
import { chainRun, percentile } from './runs/tasks.ts';
import { BACKFILLED, DAGS } from './soak/dags.ts';

const SAMPLE_EVERY_MS = 10_000;
/** In the first minutes, code is compiled and caches fill. The comparison starts after them. */
const WARM_UP_SHARE = 0.2;
/** After the warm-up, the first and the last quarter of the samples are compared. */
const PART = 0.25;
const POLLED = [
  '/ui/dags?dag_runs_limit=14&limit=50&offset=0',
  '/ui/dashboard/dag_stats',
  '/api/v2/dags/~/dagRuns?limit=50&order_by=-run_after',
  '/api/v2/dags/~/dagRuns/~/taskInstances?limit=50&order_by=-start_date',
  '/ui/grid/runs/soak_mapped?limit=10&order_by=-run_after',
];

type Sample = Record<string, number>;

export async function run(options: BenchOptions): Promise<void> {
  const minutes = options.number('minutes', 30);
  const server = await startLiveServer();
  const counts = { chains: 0, backfills: 0, polls: 0, lines: 0, problems: 0 };
  const samples: (Sample & { at: number })[] = [];
  const gaps: { at: number; ms: number }[] = [];
  const client = new pg.Client({ connectionString: server.databaseUrl });
  try {
    await client.connect();
    for (const [dagId, text] of Object.entries(DAGS)) await server.addDag(dagId, text);
    const begun = Date.now();
    const until = begun + minutes * 60_000;
    /** Repeats the work. Failures are counted and reported at the end. */
    const keep = async (what: string, work: () => Promise<void>, pauseMs: number): Promise<void> => {
      while (Date.now() < until) {
        await work().catch((error: unknown) => {
          counts.problems += 1;
          options.say(`${what}: ${error instanceof Error ? error.message : String(error)}`);
        });
        await sleep(Math.max(0, Math.min(pauseMs, until - Date.now())));
      }
    };
    await Promise.all([
      keep(
        'chain',
        async () => {
          const at = Date.now();
          gaps.push(...(await chainRun(server)).gaps.map((ms) => ({ at, ms })));
          counts.chains += 1;
        },
        2_000,
      ),
      keep('mapped', async () => void (await finished(server, 'soak_mapped')), 1_000),
      keep('failing', async () => void (await finished(server, 'soak_failing')), 1_000),
      keep(
        'backfill',
        async () => {
          await backfill(server, counts.backfills);
          counts.backfills += 1;
        },
        5_000,
      ),
      keep(
        'poll',
        async () => {
          for (const path of POLLED) await poll(server, path);
          counts.polls += POLLED.length;
        },
        1_000,
      ),
      keep('log', async () => void (counts.lines += await followLog(server)), 500),
      keep(
        'sample',
        async () => {
          const sample = await takeSample(server, client);
          samples.push({ ...sample, at: Date.now() });
          options.say(`${Math.round((Date.now() - begun) / 1_000)} s ${JSON.stringify(sample)}`);
        },
        SAMPLE_EVERY_MS,
      ),
    ]);
    report(options, { samples, gaps, begun, until, counts, minutes });
  } finally {
    await client.end();
    await server.close();
  }
}

type Seen = {
  samples: readonly (Sample & { at: number })[];
  gaps: readonly { at: number; ms: number }[];
  begun: number;
  until: number;
  counts: Record<string, number>;
  minutes: number;
};

function report(options: BenchOptions, { samples, gaps, begun, until, counts, minutes }: Seen): void {
  const from = begun + (until - begun) * WARM_UP_SHARE;
  const part = (until - from) * PART;
  const isEarly = ({ at }: { at: number }): boolean => at >= from && at < from + part;
  const isLate = ({ at }: { at: number }): boolean => at >= until - part;
  const print = (figure: string, start: number, end: number, unit: string): void =>
    options.print({ bench: 'soak', figure, value: rounded(end), unit, start: rounded(start), minutes, ...counts });
  for (const name of Object.keys(samples[0] ?? {}).filter((each) => each !== 'at')) {
    const at = (isIn: typeof isEarly): number =>
      median(samples.filter(isIn).map((sample) => sample[name] ?? Number.NaN));
    print(name, at(isEarly), at(isLate), '');
  }
  const p = (share: number, isIn: typeof isEarly): number =>
    percentile(
      gaps.filter(isIn).map(({ ms }) => ms),
      share,
    );
  print('gap between tasks, p50', p(0.5, isEarly), p(0.5, isLate), 'ms');
  print('gap between tasks, p99', p(0.99, isEarly), p(0.99, isLate), 'ms');
}

async function finished(server: LiveServer, dagId: string): Promise<string> {
  const runId = await server.trigger(dagId);
  await server.ended(dagId, runId, 200);
  return runId;
}

/** Returns a date long ago, so that hours of backfills do not reach today. */
const day = (n: number): string => new Date(Date.UTC(1900, 0, 1) + n * 86_400_000).toISOString();

/** Runs a backfill of ten other dates each time. */
async function backfill(server: LiveServer, number: number): Promise<void> {
  const { id } = await server.api<{ id: number }>('POST', '/backfills', {
    dag_id: BACKFILLED,
    from_date: day(number * 10),
    to_date: day(number * 10 + 9),
    max_active_runs: 2,
  });
  for (;;) {
    const { completed_at: over } = await server.api<{ completed_at: string | null }>('GET', `/backfills/${id}`);
    if (over !== null) return;
    await sleep(500);
  }
}

async function poll(server: LiveServer, path: string): Promise<void> {
  const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${server.token}` } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
}

/** Follows the log of a running task as the UI does, as lines of JSON up to its end. Returns the number of lines. */
async function followLog(server: LiveServer): Promise<number> {
  const runId = await server.trigger('soak_talking');
  const path = `/api/v2/dags/soak_talking/dagRuns/${encodeURIComponent(runId)}/taskInstances/talk/logs/1`;
  const headers = { authorization: `Bearer ${server.token}`, accept: 'application/x-ndjson' };
  let lines = 0;
  while (lines === 0) {
    const response = await fetch(`${server.url}${path}`, { headers });
    lines = (await response.text()).split('\n').filter((line) => line !== '').length;
    if (lines === 0) await sleep(200);
  }
  await server.ended('soak_talking', runId, 200);
  return lines;
}

async function takeSample(server: LiveServer, client: pg.Client): Promise<Sample> {
  const { rows } = await client.query<{ dead: string; live: string; connections: string }>(`
    select (select sum(n_dead_tup) from pg_stat_user_tables) as dead,
      (select sum(n_live_tup) from pg_stat_user_tables) as live,
      (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()) as connections`);
  const children = descendants(server.pid);
  return {
    'server memory, MiB': rounded(usageOf(server.pid)?.rssMebibytes ?? Number.NaN, 1),
    'server handles': handlesOf(server.pid),
    'worker memory, MiB': rounded(
      children.reduce((sum, pid) => sum + (usageOf(pid)?.rssMebibytes ?? 0), 0),
      1,
    ),
    'worker handles': children.reduce((sum, pid) => sum + handlesOf(pid), 0),
    'database connections': Number(rows[0]?.connections),
    'dead rows': Number(rows[0]?.dead),
    rows: Number(rows[0]?.live),
  };
}

function handlesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // the process has ended
  }
}

/** Returns agents and warm interpreters. Task processes are short-lived and do not grow. */
function descendants(pid: number): number[] {
  const own = childrenOf(pid);
  return [...own, ...own.flatMap(childrenOf)];
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter((id) => id !== '')
        .map(Number),
    );
  } catch {
    return [];
  }
}
