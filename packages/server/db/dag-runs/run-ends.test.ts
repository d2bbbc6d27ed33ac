import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { openDatabase } from '../database.ts';
import type { Database } from '../database.ts';
import { findRunEnds, runKey } from './run-ends.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
const tenants: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({
    url: database.url,
    maxOpenConns: 2,
    maxIdleConns: 2,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  for (const name of ['one', 'two']) tenants.push((await ensureTenant(db.shared, name)).id);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

it('tells of each run what became of it, and nothing of runs of other installations', async () => {
  const [one = '', two = ''] = tenants;
  for (const tenant of tenants) await insertDag(db.tenant(tenant), { dagId: 'dag' });
  const add = (tenant: string, runId: string, values: object) =>
    insertRun(db.tenant(tenant), { dagId: 'dag', runId, ...values });
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const failed = { tenantId: one, run: await add(one, 'failed', { state: 'failed', end_date: hourAgo }) };
  const running = { tenantId: two, run: await add(two, 'running', { state: 'running' }) };
  const deleted = { tenantId: one, run: 987_654 };
  const ofAnotherTenant = { tenantId: two, run: failed.run };
  const foreign = { tenantId: '0f0e0d0c-0b0a-4908-8706-050403020100', run: failed.run };

  const ends = await findRunEnds(db, [failed, running, deleted, ofAnotherTenant, foreign]);
  const stateOf = (run: typeof failed) => ends.get(runKey(run))?.state;
  expect([failed, running, deleted, ofAnotherTenant, foreign].map(stateOf)).toEqual([
    'failed',
    'running',
    null,
    null,
    undefined,
  ]);
  expect(ends.get(runKey(failed))?.endedForMs).toBeGreaterThanOrEqual(3_590_000);
  expect((await findRunEnds(db, [])).size).toBe(0);
});
