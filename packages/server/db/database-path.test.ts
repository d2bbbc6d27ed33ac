/** Between this process and Postgres: nothing, or PgBouncer as people run it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { sql } from 'kysely';
import { postgresUrl } from '@svc/testing/postgres/postgres-url.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { startPgBouncer } from '@svc/testing/services/pgbouncer.ts';
import type { TestPgBouncer } from '@svc/testing/services/pgbouncer.ts';
import { DatabasePathError, checkDatabasePath } from './database-path.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';
import { beginning, inPipelinedTransaction } from './transaction.ts';

const IGNORED = ['statement_timeout', 'idle_in_transaction_session_timeout', 'extra_float_digits'];
const OUR_POOL = { maxOpenConns: 10, maxIdleConns: 10, idleInTransactionTimeoutMs: 45_000 };

let direct: string;
let drop: () => Promise<void>;
let transaction: TestPgBouncer;
let ignoring: TestPgBouncer;
let session: TestPgBouncer;
let statement: TestPgBouncer;
beforeAll(async () => {
  ({ url: direct, drop } = await createTestDatabase());
  [transaction, ignoring, session, statement] = await Promise.all([
    startPgBouncer({ url: direct, mode: 'transaction', poolSize: 3 }),
    startPgBouncer({ url: direct, mode: 'transaction', ignored: IGNORED }),
    startPgBouncer({ url: direct, mode: 'session', ignored: IGNORED }),
    startPgBouncer({ url: direct, mode: 'statement', ignored: IGNORED }),
  ]);
});
afterAll(async () => {
  await Promise.all([transaction, ignoring, session, statement].map((pooler) => pooler?.stop()));
  await drop?.();
});

const check = (url: string, directUrl = ''): Promise<void> =>
  checkDatabasePath({ database: { url, directUrl, statementTimeout: 30_000, idleInTransactionTimeout: 60_000 } });

describe('a path to the database', () => {
  it('is fine without a pooler, with one in session mode, and with the address of Postgres beside one in transaction mode', async () => {
    await check(direct);
    await check(session.through(direct));
    await check(transaction.through(direct), direct);
    await check(ignoring.through(direct), direct);
  });

  it('is refused in words where it cannot work, and the words say what to set', async () => {
    const refusals: [string, string, RegExp][] = [
      [
        transaction.through(direct),
        '',
        /^database\.url .* refuses the setting statement_timeout: set SVC_DATABASE_DIRECT_URL/,
      ],
      [ignoring.through(direct), '', /^database\.url .* in transaction mode: set SVC_DATABASE_DIRECT_URL/],
      [statement.through(direct), direct, /allows no transactions .*set its pool_mode to transaction/],
      [transaction.through(direct), ignoring.through(direct), /^database\.direct_url .* where no session lasts/],
      [transaction.through(direct), postgresUrl(), /different databases/],
    ];
    for (const [url, directUrl, words] of refusals) {
      const refused = await check(url, directUrl).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(DatabasePathError);
      expect((refused as Error).message).toMatch(words);
    }
  });

  it('that answers nothing is an outage, and no refusal', async () => {
    await expect(check('postgres://svc@127.0.0.1:1/svc')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a database behind a pooler in transaction mode', () => {
  let db: Database;
  const open = (statementTimeoutMs: number): Database =>
    openDatabase({ ...OUR_POOL, url: transaction.through(direct), directUrl: direct, statementTimeoutMs });
  beforeAll(async () => {
    db = open(30_000);
    await sql`create table notes (id int primary key, note text not null)`.execute(db.shared);
  });
  afterAll(() => db?.close());

  const settingsSeen = sql<{ timeout: string; idle: string; jit: string }>`
    select current_setting('statement_timeout') as timeout, current_setting('jit') as jit,
      current_setting('idle_in_transaction_session_timeout') as idle`;
  const WANTED = { timeout: '30s', idle: '45s', jit: 'off' };

  it('has our settings in every statement and transaction, and leaves none of them to others', async () => {
    expect((await settingsSeen.execute(db.shared)).rows).toEqual([WANTED]);
    await db.shared.transaction().execute(async (trx) => {
      expect((await settingsSeen.execute(trx)).rows).toEqual([WANTED]);
    });
    const begin = beginning({ keepsPlans: true });
    const [seen] = await inPipelinedTransaction(db.shared, begin, async (tx) =>
      tx.commitWith(settingsSeen.execute(tx.db)),
    );
    expect(seen.rows).toEqual([WANTED]);
    const stranger = new pg.Client({ connectionString: transaction.through(direct) });
    await stranger.connect();
    const { rows } = await stranger.query("select current_setting('statement_timeout') as timeout");
    expect(rows).toEqual([{ timeout: '0' }]);
    await stranger.end();
  });

  it('cancels a statement that takes too long, alone or not, and the connection is as good as before', async () => {
    const hasty = open(1_000); // on a busy machine, a statement without work takes some of that
    for (const run of [
      () => sql`select pg_sleep(60)`.execute(hasty.shared),
      () => hasty.shared.transaction().execute((trx) => sql`select pg_sleep(60)`.execute(trx)),
    ]) {
      await expect(run()).rejects.toThrow('canceling statement due to statement timeout');
      expect((await sql`select 1 as one`.execute(hasty.shared)).rows).toEqual([{ one: 1 }]);
    }
    await hasty.close();
  });

  it('writes a statement on its own, or nothing of it, and says why', async () => {
    await sql`insert into notes values (1, 'kept')`.execute(db.shared);
    await expect(sql`insert into notes values (2, 'new'), (1, 'again')`.execute(db.shared)).rejects.toMatchObject({
      code: '23505',
    });
    const pipelined = inPipelinedTransaction(db.shared, 'begin', async (tx) => {
      await tx.flush();
      const ok = tx.send(sql`insert into notes values (3, 'rolled back')`.execute(tx.db));
      return tx.commitWith(ok, sql`insert into notes values (1, 'again')`.execute(tx.db));
    });
    await expect(pipelined).rejects.toMatchObject({ code: '23505' });
    expect((await sql`select id from notes order by id`.execute(db.shared)).rows).toEqual([{ id: 1 }]);
  });

  it('serves more clients than it has backends, with statements that come again and again', async () => {
    const other = open(30_000);
    const ask = (of: Database, n: number) =>
      sql<{ n: number }>`select ${n}::int as n, pg_sleep(0.001)`.execute(of.shared).then(({ rows }) => rows[0]?.n);
    // The same name would mean another statement in the session of the other one.
    const askOther = (n: number) =>
      sql<{ m: number }>`select ${n}::int * 2 as m`.execute(other.shared).then(({ rows }) => rows[0]?.m);
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const answers = await Promise.all(numbers.flatMap((n) => [ask(db, n), askOther(n)]));
    expect(answers).toEqual(numbers.flatMap((n) => [n, n * 2]));
    await other.close();
  });
});
