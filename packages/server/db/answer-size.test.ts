import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { AnswerTooLargeError } from './answer-size.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';

const KIB = 1024;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({
    url: database.url,
    maxOpenConns: 1,
    maxIdleConns: 1,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
    maxAnswerBytes: 256 * KIB,
  });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const rows = (count: number, bytes: number) =>
  sql<{ text: string }>`select repeat('x', ${bytes}) as text from generate_series(1, ${count}::int)`;

it('a statement that finds more than one request may hold in memory fails, and the next one is answered', async () => {
  await expect(rows(1_000_000, KIB).execute(db.shared)).rejects.toThrow(AnswerTooLargeError);
  expect((await rows(100, KIB).execute(db.shared)).rows).toHaveLength(100);
});

it('many small answers on one connection are not counted as one', async () => {
  for (let time = 0; time < 10; time += 1) expect((await rows(100, KIB).execute(db.shared)).rows).toHaveLength(100);
});

it('a single row is readable however large it is, because it could be stored', async () => {
  expect((await rows(1, 1_000 * KIB).execute(db.shared)).rows[0]?.text).toHaveLength(1_000 * KIB);
});

it('a transaction with an answer that is too large is rolled back, and says why', async () => {
  const work = db.shared.transaction().execute(async (trx) => {
    await sql`insert into tenants (id, name) values (gen_random_uuid(), 'never')`.execute(trx);
    await rows(1_000_000, KIB).execute(trx);
  });
  await expect(work).rejects.toThrow(AnswerTooLargeError);
  const { rows: left } = await sql`select name from tenants where name = 'never'`.execute(db.shared);
  expect(left).toEqual([]);
});
