import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findUnconsidered } from './sql/asset-events.ts';
import { findBackfillsToAdvance } from './sql/backfills.ts';
import { scopedToTenant } from '../db/database.ts';
import type { Database, SharedDb } from '../db/database.ts';
import { takeDueDeadlines } from './sql/deadlines.ts';
import { glance } from './sql/glance.ts';
import { findAwaiting, findUnheldTriggers, listAwaitedDags, listHeldTriggers } from './sql/triggers.ts';
import { findDueDags, lastAutomatedInterval, nextDueMoment } from './sql/due-dags.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';

let database: OpenTestDatabase;
let db: Database;
let tenantId = '';

/** A control plane with a past: what has ended outnumbers what is open by a thousand to one. */
beforeAll(async () => {
  database = await openTestDatabase();
  ({ db, tenantId } = database);
  const asset = { type: 'asset' as const, name: 'a', uri: 'x://a' };
  const timetable = { type: 'cron_trigger' as const, expression: '0 0 * * *', timezone: 'UTC' };
  await registerScheduledDag(db.tenant(tenantId), {
    dagId: 'one',
    schedule: { type: 'asset_or_time', timetable, assets: asset },
  });
  for (const statement of LOAD) await sql.raw(statement).execute(db.shared);
});
afterAll(() => database?.close());

const LOAD = [
  `insert into dags select (jsonb_populate_record(d, jsonb_build_object('dag_id', 'copy-' || n,
      'next_dagrun_run_after', now() + n * interval '1 minute'))).*
    from dags d, generate_series(1, 2000) n`,
  `insert into backfills (tenant_id, dag_id, from_date, to_date, reprocess_behavior, max_active_runs, run_backwards, completed_at)
    select tenant_id, dag_id, now(), now(), 'none', 1, false, now() from dags`,
  `insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, run_after, triggered_by, version_number, backfill_id)
    select d.tenant_id, 'copy-' || (n % 2000 + 1), 'r' || n, 'backfill', 'success',
      timestamptz '2000-01-01' + n * interval '1 hour', now(), 'backfill', 1, b.id
    from dags d join backfills b on b.dag_id = d.dag_id, generate_series(1, 30000) n where d.dag_id = 'one'`,
  `insert into asset_events (tenant_id, asset_id) select tenant_id, id from assets, generate_series(1, 30000)`,
  `insert into asset_queue (tenant_id, dag_id, event_id, asset_id, is_considered)
    select tenant_id, 'copy-' || (id % 2000 + 1), id, asset_id, true from asset_events`,
  `insert into triggers (tenant_id, kind, dag_id, version_number, run, task_id, map_index, try_number, class_path, kwargs, fired_at)
    select tenant_id, 'task', dag_id, 1, id, 't', -1, 1, 'c', '{}', now() from dag_runs`,
  `insert into deadlines (tenant_id, run, dag_id, position, deadline_time, missed_at)
    select tenant_id, id, dag_id, 0, now(), now() from dag_runs`,
  `analyze`,
];

/** Rows read by scans of whole tables in what the given work does. */
async function rowsScanned(work: (trx: SharedDb) => Promise<unknown>): Promise<Record<string, number>> {
  return db.shared.transaction().execute(async (trx) => {
    const read = async () => {
      const { rows } = await sql<{ name: string; scanned: number }>`
        select relname as name, seq_tup_read as scanned from pg_stat_xact_user_tables`.execute(trx);
      return new Map(rows.map((row) => [row.name, row.scanned]));
    };
    const before = await read();
    await work(trx);
    const after = await read();
    const tables = ['dag_runs', 'dags', 'asset_queue', 'asset_events', 'backfills', 'triggers', 'deadlines'];
    return Object.fromEntries(tables.map((name) => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)]));
  });
}

const NONE = { dag_runs: 0, dags: 0, asset_queue: 0, asset_events: 0, backfills: 0, triggers: 0, deadlines: 0 };

it.each<[string, (trx: SharedDb) => Promise<unknown>]>([
  ['whether there is anything to do', (trx) => glance({ ...db, shared: trx })],
  ['which DAGs are due', (trx) => findDueDags(trx, { now: new Date().toISOString(), limit: 100 })],
  ['when the next one is', (trx) => nextDueMoment(trx, new Date().toISOString())],
  ['whose asset events nobody has considered', (trx) => findUnconsidered(trx, 100)],
  ['which backfills can go on', (trx) => findBackfillsToAdvance(trx)],
  ['which triggers nobody holds', (trx) => findUnheldTriggers(trx, 100)],
  ['what a triggerer waits for', (trx) => listHeldTriggers(trx, { tenantId, triggererId: randomUUID() })],
  ['which DAGs are waited for', (trx) => listAwaitedDags(trx)],
  ['who waits for a run', (trx) => findAwaiting(trx, { tenantId, dagId: 'one', names: ['id:r'] })],
  ['which deadlines are due', (trx) => takeDueDeadlines(trx, 100)],
])('to find out %s, the tick reads nothing of what has ended', async (_what, question) => {
  expect(await rowsScanned(question)).toEqual(NONE);
});

it('a new version finds where its DAG stood without reading its past', async () => {
  const question = (trx: SharedDb) => lastAutomatedInterval(scopedToTenant(trx, tenantId), 'copy-7', { type: 'once' });
  expect(await rowsScanned(question)).toEqual(NONE);
});

it('the count of rows that the tick reads would notice a scan of what has ended', async () => {
  const scanned = await rowsScanned((trx) => sql`select count(*) from dag_runs where note is not null`.execute(trx));
  expect(scanned['dag_runs']).toBeGreaterThan(20_000);
});
