/** Whatever the history of a DAG: what its next run and those under way look at is the same before and after old runs are gone. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertDag } from '@svc/testing/engine/run-rows.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { ensureTenant } from '../auth/tenants.ts';
import { readTenantFacts } from '../db/attempts/start-facts.ts';
import { openDatabase } from '../db/database.ts';
import type { Database, TenantDb } from '../db/database.ts';
import { takePruneLease } from '../db/prune/prune-lease.ts';
import type { RunRow } from '../db/schema.ts';
import { lastAutomatedInterval } from '../engine/sql/due-dags.ts';
import { findPreviousRun } from '../engine/sql/external-needs.ts';
import { prune } from './prune.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let scope: TenantDb;
let tenantId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, maxOpenConns: 2, maxIdleConns: 2, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 }); // prettier-ignore
  tenantId = (await ensureTenant(db.shared, 'default')).id;
  scope = db.tenant(tenantId);
  await insertDag(scope, { dagId: 'dag' });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const DAY = 86_400_000;
const LEASE = '00000000-0000-4000-8000-000000000001';
const moment = (days: number): string => new Date(Date.now() - days * DAY).toISOString();

type Run = { state: string; run_type: string; isDated: boolean; isPartition: boolean; date: number; end: number };

const runs = fc.array(
  fc.record<Run>({
    state: fc.constantFrom('success', 'success', 'failed', 'failed', 'queued', 'running'),
    run_type: fc.constantFrom('scheduled', 'manual', 'backfill'),
    isDated: fc.boolean(),
    isPartition: fc.boolean(),
    /** Days ago; the age of a run and its date go apart where it was run later. */
    date: fc.integer({ min: 1, max: 200 }),
    end: fc.integer({ min: 1, max: 200 }),
  }),
  { minLength: 1, maxLength: 14 },
);

async function insertHistory(history: readonly Run[]): Promise<void> {
  const rows = history.map((run, n) => ({
    run_id: `r${n}`,
    state: run.state,
    run_type: run.run_type,
    // No two of a DAG have the same one.
    logical_date: run.isDated ? moment(run.date + n / 100) : null,
    partition_date: run.isPartition && !run.isDated ? moment(run.date) : null,
    run_after: moment(run.date),
    end_date: ['success', 'failed'].includes(run.state) ? moment(run.end) : null,
  }));
  await sql`delete from dag_runs`.execute(db.shared);
  await sql`insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
      partition_date, run_after, start_date, end_date, triggered_by, version_number)
    select ${tenantId}::uuid, 'dag', run_id, run_type, state, logical_date, logical_date, logical_date, partition_date, run_after, run_after,
      end_date, 'test', 1
    from json_to_recordset(${JSON.stringify(rows)}::json) as x(run_id text, state text, run_type text, logical_date timestamptz,
      partition_date timestamptz, run_after timestamptz, end_date timestamptz)`.execute(db.shared);
}

/** All that the engine asks about other runs: for those under way, and for one that would come now. */
async function answers(): Promise<object> {
  const live = (await db.shared
    .selectFrom('dag_runs')
    .selectAll()
    .where('state', 'in', ['queued', 'running'])
    .orderBy('id')
    .execute()) as RunRow[];
  const asked: object[] = [];
  for (const run of live) {
    const [facts] = await readTenantFacts(db.shared, tenantId, [{ run: run.id, dagId: 'dag', single: [], mapped: [] }]);
    asked.push({ run: run.run_id, previous: await findPreviousRun(db.shared, run), success: facts?.previous });
  }
  const next = { tenant_id: tenantId, dag_id: 'dag', logical_date: moment(0) } as RunRow;
  const newest = await sql<object>`select id from dag_runs order by run_after desc, id desc limit 1`.execute(db.shared);
  const success = await sql<object>`select id from dag_runs where state = 'success' and logical_date is not null
    order by logical_date desc limit 1`.execute(db.shared);
  return {
    asked,
    previous: await findPreviousRun(db.shared, next),
    success: success.rows,
    schedule: await lastAutomatedInterval(scope, 'dag', { type: 'null' }),
    newest: newest.rows,
  };
}

it('the engine is answered the same, and nothing that may go is left', async () => {
  await takePruneLease(db.shared, { by: LEASE, holder: 'test' });
  const pass = {
    db,
    olderThanMs: 90 * DAY,
    auditOlderThanMs: null,
    logs: null,
    rest: () => 0,
    signal: new AbortController().signal,
  };
  await fc.assert(
    fc.asyncProperty(runs, async (history) => {
      await insertHistory(history);
      const before = await answers();
      const [ahead] = (await prune({ ...pass, leaseBy: null })).tenants;
      const [done] = (await prune({ ...pass, leaseBy: LEASE })).tenants;
      expect(done?.removed).toEqual(ahead?.removed);
      expect(await answers()).toEqual(before);
      const [again] = (await prune({ ...pass, leaseBy: LEASE })).tenants;
      expect(again?.removed.runs).toBe(0);
      // Of a DAG without runs under way at most: the newest, the latest dated, the last success, the last scheduled of each kind.
      const { rows } = await sql<{ old: number; live: number }>`select
        count(*) filter (where state in ('success', 'failed') and end_date < now() - interval '90 days')::int as old,
        count(*) filter (where state in ('queued', 'running'))::int as live from dag_runs`.execute(db.shared);
      expect(rows[0]?.old).toBeLessThanOrEqual(5 + 2 * (rows[0]?.live ?? 0));
    }),
    { numRuns: 25 },
  );
});
