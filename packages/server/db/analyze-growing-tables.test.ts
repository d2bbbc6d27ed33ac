import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureTenant } from '../auth/tenants.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';
import { analyzeGrowingTables } from './analyze-growing-tables.ts';

let dropDatabase: () => Promise<void>;
let db: Database;
beforeAll(async () => {
  const { url, drop } = await createTestDatabase();
  dropDatabase = drop;
  const limits = { maxOpenConns: 2, maxIdleConns: 1, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 };
  db = openDatabase({ url, ...limits });
  await ensureTenant(db.shared, 'default');
  // As where autovacuum has not looked yet: a database of a test lives shorter than it takes to do so.
  await sql`alter table rendered_fields drop constraint rendered_fields_tenant_id_run_fkey`.execute(db.shared); // needs no runs
  for (const table of ['dag_runs', 'task_instances', 'rendered_fields', 'xcoms']) {
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(db.shared);
  }
});
afterAll(async () => {
  await db?.close();
  await dropDatabase?.();
});

const addFields = (from: number, to: number) =>
  sql`insert into rendered_fields (tenant_id, run, task_id, map_index, fields)
    select id, n, 't', -1, repeat('x', 200) from tenants, generate_series(${from}::int, ${to}::int) as n`.execute(
    db.shared,
  );
const knownRows = async (): Promise<number | undefined> =>
  (
    await sql<{ rows: number }>`select reltuples::int as rows from pg_class where relname = 'rendered_fields'`.execute(
      db.shared,
    )
  ).rows[0]?.rows;

it('a table is analyzed when it never was, and again when it has doubled, not when it has grown a little', async () => {
  expect(await analyzeGrowingTables(db)).toBe(0); // nothing in them
  await addFields(1, 1_000);
  expect(await analyzeGrowingTables(db)).toBe(1);
  expect(await knownRows()).toBe(1_000);
  expect(await analyzeGrowingTables(db)).toBe(0);
  await addFields(1_001, 1_300);
  expect(await analyzeGrowingTables(db)).toBe(0);
  await addFields(1_301, 3_000);
  expect(await analyzeGrowingTables(db)).toBe(1);
  expect(await knownRows()).toBe(3_000);
});
