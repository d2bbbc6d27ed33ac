import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import { insertDag } from '@svc/testing/engine/run-rows.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { findRun, listRuns, listRunsFrom } from './dag-runs.ts';
import type { RunOrder } from './dag-runs.ts';
import type { RunFilter } from './filters.ts';
import { openDatabase } from '../database.ts';
import type { Database, TenantDb } from '../database.ts';

const DAGS = 50;
const RUNS = 20_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let tenant: TenantDb;

beforeAll(async () => {
  database = await createTestDatabase();
  // One connection: what it has read is counted per connection, and told when asked.
  db = openDatabase({
    url: database.url,
    maxOpenConns: 1,
    maxIdleConns: 1,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  const { id } = await ensureTenant(db.shared, 'default');
  tenant = db.tenant(id);
  for (let index = 0; index < DAGS; index += 1) await insertDag(tenant, { dagId: `dag_${index}` });
  await sql`
    insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, run_after, start_date, end_date, triggered_by, version_number)
    select ${id}, 'dag_' || (i % ${DAGS}::int), 'run_' || i, 'scheduled',
      case when i % 100 = 0 then 'failed' when i > ${RUNS - 20}::int then 'running' else 'success' end,
      '2026-01-01'::timestamptz + i * interval '1 minute', now(), now(), 'timetable', 1
    from generate_series(1, ${RUNS}::int) as i`.execute(db.shared);
  await sql`vacuum analyze dag_runs`.execute(db.shared);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const NEWEST: RunOrder = [
  { column: 'run_after', direction: 'desc' },
  { column: 'id', direction: 'desc' },
];
const list = (filter: RunFilter, limit = 100, offset = 0) => listRuns(tenant, { filter, order: NEWEST, limit, offset });

/** How often this connection has read the table from end to end. */
async function tableScans(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db.shared);
  const { rows } = await sql<{ scans: number }>`
    select seq_scan as scans from pg_stat_user_tables where relname = 'dag_runs'`.execute(db.shared);
  return rows[0]?.scans ?? -1;
}

describe('with much history, the table of runs is not read for', () => {
  const at = '2026-01-14T00:00:00Z';
  it.each<[string, () => Promise<unknown>]>([
    ['the newest runs of a DAG', () => list({ dagIds: ['dag_7'] })],
    [
      'the newest runs of all, by cursor',
      () => listRunsFrom(tenant, { filter: {}, order: NEWEST, limit: 100, from: undefined }),
    ],
    [
      'a page far back, by cursor',
      () => listRunsFrom(tenant, { filter: {}, order: NEWEST, limit: 100, from: { values: [at, 1], backward: false } }),
    ],
    [
      'a thousand runs, by cursor',
      () => listRunsFrom(tenant, { filter: {}, order: NEWEST, limit: 1_000, from: undefined }),
    ],
    ['what runs or waits, of all DAGs', () => list({ states: ['running', 'queued'] }, 1)],
    ['what runs or waits, of one DAG', () => list({ dagIds: ['dag_7'], states: ['running', 'queued'] }, 1)],
    ['what failed, of all DAGs', () => list({ states: ['failed'] })],
    ['what failed or runs', () => list({ states: ['failed', 'running'] })],
    ['what failed of late', () => list({ states: ['failed'], ranges: { run_after: { gte: at } } }, 10)],
    ['one run', () => findRun(tenant, 'dag_7', 'run_7')],
  ])('%s', async (_what, read) => {
    await read();
    const before = await tableScans();
    // More often than it takes Postgres to settle for a plan that fits all parameters.
    for (let time = 0; time < 12; time += 1) await read();
    expect(await tableScans()).toBe(before);
  });

  it('as it would be noticed', async () => {
    const before = await tableScans();
    await sql`select count(*) from dag_runs where note is null`.execute(db.shared);
    expect(await tableScans()).toBe(before + 1);
  });
});

describe('the number of runs', () => {
  it.each<[string, RunFilter, number]>([
    ['all', {}, RUNS],
    ['one DAG', { dagIds: ['dag_7'] }, RUNS / DAGS],
    ['success', { states: ['success'] }, RUNS - 200 - 19],
    ['failed', { states: ['failed'] }, 200],
    ['running', { states: ['running'] }, 19],
    ['all but running', { states: ['success', 'failed', 'queued'] }, RUNS - 19],
    ['none of them', { states: [] }, 0],
    ['a DAG that failed', { dagIds: ['dag_0'], states: ['failed'] }, 200],
    ['two DAGs', { dagIds: ['dag_0', 'dag_1', 'dag_1'], states: ['success', 'failed'] }, (RUNS / DAGS) * 2],
    [
      'a time',
      { ranges: { run_after: { gt: '2026-01-01T00:10:00Z', lte: '2026-01-01T00:20:00Z' } }, states: ['success'] },
      10,
    ],
  ])('is counted by index as it would be row by row: %s', async (_what, filter, expected) => {
    expect((await list(filter, 1, 100_000)).total).toBe(expected);
    // A condition that no index knows, and that is true of every run.
    const byRow = { ...filter, runTypes: ['scheduled'] as const };
    expect((await list(byRow, 1, 100_000)).total).toBe(expected);
  });
});
