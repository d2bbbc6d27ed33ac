import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import { insertDag } from '@svc/testing/engine/run-rows.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { openDatabase } from '../database.ts';
import type { Database, TenantDb } from '../database.ts';
import { addUpFinishedRuns } from './add-up-finished-runs.ts';
import { countInstances } from './counts.ts';
import type { InstanceFilter } from './filters.ts';
import { findInstance, listInstances, listInstancesFrom } from './task-instances.ts';
import { INSTANCE_COLUMNS, SORTABLE } from './orders.ts';
import type { InstanceColumn, InstanceOrder } from './orders.ts';

const DAGS = 20;
const RUNS = 4_000;
const TASKS = 10;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let tenant: TenantDb;
let tenantId: string;

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
  tenantId = (await ensureTenant(db.shared, 'default')).id;
  tenant = db.tenant(tenantId);
  for (let index = 0; index < DAGS; index += 1) await insertDag(tenant, { dagId: `dag_${index}` });
  await sql`
    insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, run_after, start_date, triggered_by, version_number, state_counts)
    select ${tenantId}, 'dag_' || (i % ${DAGS}::int), 'run_' || i, 'scheduled',
      case when i % 100 = 0 then 'failed' when i > ${RUNS - 20}::int then 'running' else 'success' end,
      '2026-01-01'::timestamptz + i * interval '1 minute', now(), 'timetable', 1,
      case when i % 100 = 0 then jsonb_build_object('failed', 1, 'success', ${TASKS - 1}::int)
        when i > ${RUNS - 20}::int then jsonb_build_object('live', 1, 'none', 1, 'success', ${TASKS - 2}::int)
        else jsonb_build_object('success', ${TASKS}::int) end
    from generate_series(1, ${RUNS}::int) as i`.execute(db.shared);
  await sql`
    insert into task_instances (tenant_id, run, task_id, map_index, rendered_map_index, dag_id, state, try_number, max_tries, operator,
      pool, pool_slots, priority_weight, queue, upstream, start_date, end_date, version_number)
    select r.tenant_id, r.id, 't' || k, case when k = 5 and r.id % 7 = 0 then (r.id % 5)::int else -1 end,
      case when k = 5 and r.id % 35 = 0 then 'file ' || r.id % 3 end, r.dag_id,
      case when r.state = 'failed' and k = 0 then 'failed'
        when r.state = 'running' and k = 0 then 'running' when r.state = 'running' and k = 1 then null else 'success' end,
      case when r.id % 11 = 0 then 2 else 1 end, 0, case when k = 4 then 'y' else 'x' end,
      case when k = 6 and r.id % 9 = 0 then 'narrow' else 'default_pool' end, 1, 1, 'default', '0',
      case when r.state = 'running' and k = 1 or r.id % 17 = 0 and k = 2 then null else r.run_after + k * interval '1 second' end, r.run_after, 1
    from dag_runs r, generate_series(0, ${TASKS - 1}::int) as k`.execute(db.shared);
  await sql`vacuum analyze dag_runs, task_instances, instances_of_finished_runs`.execute(db.shared);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const down = (column: InstanceColumn): InstanceOrder => [{ column, direction: 'desc' }];
const up = (column: InstanceColumn): InstanceOrder => [{ column, direction: 'asc' }];
const named = (pattern: string): NonNullable<InstanceFilter['displayNames']> => {
  const none = { dagIds: [], taskIds: [] };
  return { patterns: [{ operator: 'ilike', patterns: [pattern] }], renamed: none, matching: none };
};
const list = (filter: InstanceFilter, order: InstanceOrder = [], limit = 100) =>
  listInstances(tenant, { filter, order, limit, offset: 0 });
const pages = async (filter: InstanceFilter, order: InstanceOrder = []) => {
  const first = await listInstancesFrom(tenant, { filter, order, limit: 50, from: undefined });
  if (first.next) await listInstancesFrom(tenant, { filter, order, limit: 50, from: first.next });
};

/** How often this connection has read the tables from end to end. */
async function tableScans(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db.shared);
  const { rows } = await sql<{ scans: number }>`
    select sum(seq_scan)::bigint as scans from pg_stat_user_tables
    where relname in ('dag_runs', 'task_instances')`.execute(db.shared);
  return rows[0]?.scans ?? -1;
}

describe('with much history, no table is read from end to end for', () => {
  const at = { gte: '2026-01-02T00:00:00Z', lte: '2026-01-02T06:00:00Z' };
  it.each<[string, () => Promise<unknown>]>([
    ['the newest of all', () => list({})],
    ['the newest of all, by cursor', () => pages({})],
    ['by id, downward', () => pages({}, down('id'))],
    ['by the date of the run', () => pages({}, down('run_after'))],
    ['those started last', () => pages({}, down('start_date'))],
    ['those started first', () => pages({}, up('start_date'))],
    ['those ended last', () => pages({}, down('end_date'))],
    ['those ended first', () => pages({}, up('end_date'))],
    ['the longest', () => pages({}, down('duration'))],
    ['the shortest', () => pages({}, up('duration'))],
    ['by DAG', () => pages({}, up('dag_id'))],
    ['by DAG, of one', () => pages({ dagIds: ['dag_7'] }, down('dag_id'))],
    ['a name that no task has', () => pages({ displayNames: named('nowhere') })],
    ['a name that no task of a DAG has', () => list({ dagIds: ['dag_7'], displayNames: named('nowhere') })],
    ['those of a DAG', () => list({ dagIds: ['dag_7'] })],
    ['those of a DAG, by cursor', () => pages({ dagIds: ['dag_7'] }, down('id'))],
    ['those of a task', () => pages({ dagIds: ['dag_7'], taskIds: ['t3'] }, down('run_after'))],
    ['what failed', () => list({ states: ['failed'] })],
    ['what failed, by cursor', () => pages({ states: ['failed'] }, down('id'))],
    ['what failed or was skipped', () => pages({ states: ['failed', 'upstream_failed', 'skipped'] })],
    ['what failed, of a DAG', () => pages({ dagIds: ['dag_0'], states: ['failed'] })],
    ['what failed, of a DAG that never did', () => list({ dagIds: ['dag_7'], states: ['failed'] })],
    [
      'what failed of late, of a DAG',
      () => list({ dagIds: ['dag_0'], states: ['failed'], runAfter: at }, down('run_after')),
    ],
    ['what runs', () => list({ states: ['running', 'queued'] })],
    ['what is scheduled', () => list({ states: ['scheduled'] })],
    ['what has no status', () => list({ states: [null] })],
    ['what waits for a retry', () => pages({ states: ['up_for_retry'] })],
    ['one run', () => list({ run: 7 })],
    ['one instance', () => findInstance(tenant, { run: 7, taskId: 't1', mapIndex: -1 })],
  ])('%s', async (_what, read) => {
    await read();
    const before = await tableScans();
    // More often than it takes Postgres to settle for a plan that fits all parameters.
    for (let time = 0; time < 12; time += 1) await read();
    expect(await tableScans()).toBe(before);
  });

  it('as it would be noticed', async () => {
    const before = await tableScans();
    await sql`select count(*) from task_instances where note is null`.execute(db.shared);
    expect(await tableScans()).toBeGreaterThan(before);
  });
});

const STATES: readonly TaskStateOrNone[] = [
  'success',
  'failed',
  'running',
  'scheduled',
  'skipped',
  'up_for_retry',
  null,
];

/** By sums as it would be row by row: a condition that every instance meets makes them be counted. */
async function expectTrueTotals(): Promise<void> {
  const places: InstanceFilter[] = [
    {},
    { dagIds: ['dag_0'] },
    { dagIds: ['dag_7', 'dag_0'] },
    { dagIdPatterns: [{ operator: 'like', patterns: ['dag_1%'] }] },
    { runAfter: { gte: '2026-01-03T00:00:00Z' } },
    { run: 100 },
  ];
  const states = [
    undefined,
    ...STATES.map((state) => [state]),
    ['failed', 'success'] as const,
    ['running', null] as const,
  ];
  for (const place of places) {
    for (const wanted of states) {
      const filter = { ...place, ...(wanted && { states: wanted }) };
      const rows = await countInstances(tenant, { ...filter, queues: ['default'] });
      expect({ filter, total: await countInstances(tenant, filter) }).toEqual({ filter, total: rows });
    }
  }
}

describe('the number of task instances', () => {
  it('is what it would be row by row', expectTrueTotals);

  it('is the same when the differences are added up', async () => {
    expect(await addUpFinishedRuns(db)).toBeGreaterThan(DAGS);
    await expectTrueTotals();
    expect(await addUpFinishedRuns(db)).toBe(0);
  });

  it('follows runs that end, are marked, opened again and deleted', { timeout: 600_000 }, async () => {
    // Forty of a kind, so that differences are added up on the way.
    await sql`update dag_runs set state = 'success', state_counts = '{"success": 9, "failed": 1}'
      where tenant_id = ${tenantId} and dag_id = 'dag_3' and id <= 1000`.execute(db.shared);
    await sql`update task_instances t set state = 'failed' from dag_runs r
      where r.id = t.run and r.dag_id = 'dag_3' and r.id <= 1000 and t.task_id = 't5'`.execute(db.shared);
    await expectTrueTotals();
    await sql`update dag_runs set state = 'queued', state_counts = '{"success": 9, "none": 1}'
      where tenant_id = ${tenantId} and dag_id = 'dag_3' and id <= 1000`.execute(db.shared);
    await sql`update task_instances t set state = null from dag_runs r
      where r.id = t.run and r.dag_id = 'dag_3' and r.id <= 1000 and t.task_id = 't5'`.execute(db.shared);
    await expectTrueTotals();
    await tenant.deleteFrom('dag_runs').where('dag_id', '=', 'dag_0').execute();
    await expectTrueTotals();
    const { rows } = await sql<{ most: number }>`
      select max(n) as most from (select count(*) as n from instances_of_finished_runs group by dag_id) as c`.execute(
      db.shared,
    );
    expect(rows[0]?.most).toBeLessThan(100); // 200 runs of each DAG have ended, and 200 of one were deleted
  });

  it('is found to be none without a look at the instances', async () => {
    expect(await list({ states: ['removed'] })).toEqual({ instances: [], total: 0 });
  });
});

describe('a list over the runs of several DAGs', () => {
  const filter: InstanceFilter = {
    dagIds: ['dag_3', 'dag_7'],
    runIdPatterns: [{ operator: 'like', patterns: ['run_39%'] }],
  };
  const keyOf = (row: { run: number; task_id: string; map_index: number }) =>
    `${row.run} ${row.task_id} ${row.map_index}`;
  const sorted = async (column: InstanceColumn, direction: 'asc' | 'desc'): Promise<string[]> => {
    const [first, second] = SORTABLE[column];
    const keys = [first, ...(second ? [second] : [])].map(
      (key) => sql`${key?.expression} ${sql.raw(direction)} nulls last`,
    );
    const by = sql.raw(direction);
    const { rows } = await sql<{ run: number; task_id: string; map_index: number }>`
      select t.run, t.task_id, t.map_index from task_instances t join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run
      where r.dag_id in ('dag_3', 'dag_7') and r.run_id like 'run_39%'
      order by ${sql.join(keys)}, t.run ${by}, t.task_id ${by}, t.map_index ${by}`.execute(db.shared);
    return rows.map(keyOf);
  };

  it.each(INSTANCE_COLUMNS.flatMap((column) => [[column, 'asc'] as const, [column, 'desc'] as const]))(
    'is in the order of %s %s from page to page, there and back',
    async (column, direction) => {
      const order: InstanceOrder = [{ column, direction }];
      const expected = await sorted(column, direction);
      const forth: string[] = [];
      let page = await listInstancesFrom(tenant, { filter, order, limit: 23, from: undefined });
      forth.push(...page.instances.map(keyOf));
      while (page.next) {
        page = await listInstancesFrom(tenant, { filter, order, limit: 23, from: page.next });
        forth.push(...page.instances.map(keyOf));
      }
      expect(forth).toEqual(expected);
      const back = page.instances.map(keyOf);
      while (page.previous) {
        page = await listInstancesFrom(tenant, { filter, order, limit: 23, from: page.previous });
        back.unshift(...page.instances.map(keyOf));
      }
      expect(back).toEqual(expected);
      const { instances } = await listInstances(tenant, { filter, order, limit: 7, offset: expected.length - 5 });
      expect(instances.map(keyOf)).toEqual(expected.slice(-5));
    },
  );
});

describe('a list of all DAGs', () => {
  it.each([
    { poolPatterns: [{ operator: 'ilike' as const, patterns: ['nar%'] }] },
    { queuePatterns: [{ operator: 'ilike' as const, patterns: ['%fau%'] }], tryNumbers: [2] },
    { operatorPatterns: [{ operator: 'ilike' as const, patterns: ['y'] }], tryNumbers: [2, 3] },
    { poolPatterns: [{ operator: 'ilike' as const, patterns: ['nowhere'] }] },
    { pools: ['narrow'], poolPatterns: [{ operator: 'ilike' as const, patterns: ['default%'] }] },
    { mapIndexes: [3] },
    { renderedMapIndexPatterns: [{ operator: 'ilike' as const, patterns: ['%file 2%'] }] },
  ])('finds what is rare without a look at the rest, as many as there are: %j', async (filter: InstanceFilter) => {
    const expected = await countInstances(tenant, filter);
    const before = await tableScans();
    const found = await listInstancesFrom(tenant, { filter, order: down('id'), limit: 1_000, from: undefined });
    expect(found.instances).toHaveLength(Math.min(expected, 1_000));
    expect(await tableScans()).toBe(before);
  });
});
