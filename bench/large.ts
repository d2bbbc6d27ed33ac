// Compares a database with tens of millions of task instances with an empty one and one of 2,000 runs, interleaved
// (A/B): chains, triggers, lists. It also measures the removal of old runs, with chains at the same time. On a busy
// machine: `nice -n -15 npm run bench -- large`.

import pg from 'pg';
import { openDatabase } from '@svc/server/db/database.ts';
import { releasePruneLease, takePruneLease } from '@svc/server/db/prune/prune-lease.ts';
import { prune } from '@svc/server/retention/prune.ts';
import type { PruneReport } from '@svc/server/retention/prune.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { DAGS, TASKS, storeInstances } from './large/store.ts';
import { chainsInTurn } from './runs/chains-in-turn.ts';
import { FEW_RUNS, HISTORY_DAG, LISTS, callsInTurn, load } from './runs/history.ts';
import { benchTriggers, percentile } from './runs/tasks.ts';

const MILLION = 1_000_000;
/** Number of DAGs in the file. The others are copies of one of them. */
const REGISTERED = 20;
const PRUNE_SECONDS = 60;
const LEASE = '00000000-0000-4000-8000-000000000001';

const p50 = (values: readonly number[]): number => percentile(values, 0.5);

export async function run(options: BenchOptions): Promise<void> {
  const instances = options.number('times', 50) * MILLION;
  const repeats = options.number('runs', 3);
  const [full, few] = [await startLiveServer(), await startLiveServer()];
  let stored: Record<string, number> = {};
  const print = (figure: string, value: number, unit: string): void =>
    options.print({ bench: 'large', figure, value: rounded(value), unit, ...stored });
  try {
    for (const server of [full, few]) await server.addDag('history', HISTORY_DAG);
    await load(few.databaseUrl, FEW_RUNS);
    await full.stop();
    const from = performance.now();
    const { runs } = await storeInstances(full.databaseUrl, { instances, registered: REGISTERED, say: options.say });
    stored = { dags: DAGS, stored_runs: runs, stored_instances: runs * TASKS };
    print('stored in', (performance.now() - from) / 1_000, 's');
    print('size of the database', (await sizeOf(full.databaseUrl)) / 2 ** 30, 'GiB');
    await full.startAgain();

    options.say('chains, in turn with the small database');
    const [large, small] = await chainsInTurn([full, few], repeats);
    print('chain of 40: gap between tasks, p50', p50(large?.gaps ?? []), 'ms');
    print(
      'chain of 40: gap between tasks, p50, against 2,000 runs',
      p50(large?.gaps ?? []) / p50(small?.gaps ?? []),
      'x',
    );
    print('chain of 40, against 2,000 runs', p50(large?.seconds ?? []) / p50(small?.seconds ?? []), 'x');
    const triggers = [await benchTriggers(full, repeats * 10), await benchTriggers(few, repeats * 10)];
    print('trigger to body, p50', p50(triggers[0] ?? []), 'ms');
    print('trigger to body, p50, against 2,000 runs', p50(triggers[0] ?? []) / p50(triggers[1] ?? []), 'x');

    for (const path of LISTS) {
      const [many, less] = await callsInTurn([full, few], path);
      print(`GET ${path}, p50`, p50(many), 'ms');
      print(`GET ${path}, p99`, percentile(many, 0.99), 'ms');
      print(`GET ${path}, p50 against 2,000 runs`, p50(many) / p50(less), 'x');
    }

    options.say('removing what is old, with chains beside it');
    for (const [how, rests] of [
      ['as a scheduler does it', 4],
      ['without rests', 0],
    ] as const) {
      const removing = pruneFor(full.databaseUrl, rests);
      const [beside] = await chainsInTurn([full, few], repeats);
      removing.stop();
      const { report, seconds } = await removing.done;
      const [tenant] = report.tenants;
      print(`prune ${how}: task instances per second`, (tenant?.removed.taskInstances ?? 0) / seconds, '1/s');
      print(
        `prune ${how}: gap between tasks beside it, p50, against none`,
        p50(beside?.gaps ?? []) / p50(large?.gaps ?? []),
        'x',
      );
      print(`prune ${how}: gap between tasks beside it, p99`, percentile(beside?.gaps ?? [], 0.99), 'ms');
    }
  } finally {
    for (const server of [full, few]) await server.close();
  }
}

/** Half of the stored runs are old enough, so there is always more to remove. */
function pruneFor(
  url: string,
  rests: number,
): { stop(): void; done: Promise<{ report: PruneReport; seconds: number }> } {
  const limits = { maxOpenConns: 2, maxIdleConns: 1, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 };
  const db = openDatabase({ url, ...limits });
  const stopping = new AbortController();
  const timer = setTimeout(() => stopping.abort(), PRUNE_SECONDS * 1_000);
  const done = (async () => {
    const { rows } = await query<{ ms: number }>(
      url,
      `select extract(epoch from max(end_date) - min(end_date))::float8 * 500 as ms from dag_runs where run_id like 'history%'`,
    );
    await takePruneLease(db.shared, { by: LEASE, holder: 'bench' });
    const from = performance.now();
    const report = await prune({
      db,
      olderThanMs: rows[0]?.ms ?? 0,
      auditOlderThanMs: null,
      leaseBy: LEASE,
      logs: null,
      rest: (tookMs) => tookMs * rests,
      signal: stopping.signal,
    });
    const seconds = (performance.now() - from) / 1_000;
    await releasePruneLease(db.shared, LEASE, { isFinished: false });
    return { report, seconds };
  })().finally(async () => {
    clearTimeout(timer);
    await db.close();
  });
  return { stop: () => stopping.abort(), done };
}

const sizeOf = async (url: string): Promise<number> =>
  (await query<{ size: string }>(url, 'select pg_database_size(current_database())::text as size')).rows.map(
    ({ size }) => Number(size),
  )[0] ?? 0;

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<pg.QueryResult<Row>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query<Row>(text);
  } finally {
    await client.end();
  }
}
