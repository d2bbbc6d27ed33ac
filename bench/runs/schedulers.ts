/**
 * Compares two scheduler processes with one, on one database. In the first case, each is limited by its executor, which
 * runs a fixed number of tasks of some milliseconds. Neither the processors nor Postgres limit it, so it shows whether
 * schedulers wait for each other. In the second case, the machine limits both. It shows the cost per task with one and
 * with two schedulers, and how often a transaction waits for a lock.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import type { ScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { median, rounded } from '../figure.ts';
import type { BenchOptions } from '../figure.ts';
import { cpuSecondsWithChildren } from '../process-usage.ts';
import { chainOf, startNullEngine } from './null-engine.ts';

const TASKS = 20;
const SAMPLE_MS = 10;

type Way = { name: string; inFlight: number; bodyMs: number; runs: number };
/** Limited by their executors, and limited by the machine. */
const BOUND: Way = { name: 'executors with 8 tasks of 100 ms at a time', inFlight: 8, bodyMs: 100, runs: 10 };
const FULL: Way = { name: 'full speed', inFlight: 400, bodyMs: 0, runs: 200 };

type Measured = { perSecond: number; nodeMs: number; postgresMs: number; lockWaits: number; samples: number };

export async function benchSchedulers(options: BenchOptions, repeats: number): Promise<void> {
  const cluster = await startScratchCluster({ fsync: 'on' });
  try {
    const url = await cluster.createDatabase();
    const engine = await startNullEngine(url);
    await engine.register('chain', chainOf(TASKS));
    await engine.close();
    for (const way of [BOUND, FULL]) {
      options.say(way.name);
      const measured: Measured[][] = [[], []];
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        for (const [index, all] of measured.entries()) all.push(await inTurn(cluster, { ...way, url }, index + 1));
      }
      report(options, way, measured, repeats);
    }
  } finally {
    await cluster.remove();
  }
}

/** Starts only this many schedulers, because an idle one would take a share of the tasks. */
async function inTurn(cluster: ScratchCluster, way: Way & { url: string }, count: number): Promise<Measured> {
  const children = await Promise.all(Array.from({ length: count }, () => startChild(way.url, way)));
  await measureOnce(children, cluster, { ...way, runs: way.runs / 2 }); // warm-up
  const measured = await measureOnce(children, cluster, way);
  await Promise.all(
    children.map(async (child) => {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    }),
  );
  return measured;
}

function report(options: BenchOptions, { name }: Way, [one = [], two = []]: readonly Measured[][], runs: number): void {
  const print = (figure: string, value: number, unit: string): void =>
    options.print({ bench: 'runs', figure: `schedulers, ${name}: ${figure}`, value: rounded(value, 3), unit, runs });
  const of = (all: readonly Measured[], key: keyof Measured): number => median(all.map((each) => each[key]));
  print('one', of(one, 'perSecond'), 'task instances/s');
  print('two against one', of(two, 'perSecond') / of(one, 'perSecond'), 'ratio');
  for (const [who, key] of [
    ['Node', 'nodeMs'],
    ['Postgres', 'postgresMs'],
  ] as const) {
    print(`processor time per task, one: ${who}`, of(one, key), 'ms');
    print(`processor time per task, two: ${who}`, of(two, key), 'ms');
  }
  print('two: backends seen waiting for a lock, of those at work', of(two, 'lockWaits') / of(two, 'samples'), 'ratio');
}

async function startChild(url: string, { inFlight, bodyMs }: Way): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('scheduler-child.ts', import.meta.url));
  const child = fork(script, [url, String(inFlight), String(bodyMs)]);
  await once(child, 'message');
  return child;
}

/** Each scheduler triggers this many runs. Any of them may take the tasks of all runs. */
async function measureOnce(
  children: readonly ChildProcess[],
  cluster: ScratchCluster,
  { url, runs }: Way & { url: string },
): Promise<Measured> {
  const watch = await watchLocks(url);
  const postgres = cpuSecondsWithChildren(cluster.pid ?? 0) ?? Number.NaN;
  const from = performance.now();
  const answers = children.map(async (child) => {
    child.send({ dagId: 'chain', runs });
    const [{ cpuMs }] = (await once(child, 'message')) as [{ cpuMs: number }];
    return cpuMs;
  });
  const node = (await Promise.all(answers)).reduce((sum, ms) => sum + ms, 0);
  const seconds = (performance.now() - from) / 1_000;
  const tasks = children.length * runs * TASKS;
  const postgresMs = ((cpuSecondsWithChildren(cluster.pid ?? 0) ?? Number.NaN) - postgres) * 1_000;
  return { perSecond: tasks / seconds, nodeMs: node / tasks, postgresMs: postgresMs / tasks, ...(await watch()) };
}

async function watchLocks(url: string): Promise<() => Promise<Pick<Measured, 'lockWaits' | 'samples'>>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const seen = { lockWaits: 0, samples: 1 };
  const sample = async (): Promise<void> => {
    const { rows } = await client.query<{ waits: number; busy: number }>(WAITS);
    seen.lockWaits += rows[0]?.waits ?? 0;
    seen.samples += rows[0]?.busy ?? 0;
  };
  let last = Promise.resolve();
  const timer = setInterval(() => (last = last.then(sample)), SAMPLE_MS);
  return async () => {
    clearInterval(timer);
    await last;
    await client.end();
    return seen;
  };
}

const WAITS = `
  select count(*) filter (where wait_event_type = 'Lock')::int as waits, count(*)::int as busy from pg_stat_activity
  where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`;
