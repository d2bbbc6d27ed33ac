/** The pool against a database that misbehaves. Everything here has small limits, so that bounded waits are short. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { openBadLine } from '@svc/testing/postgres/bad-line.ts';
import type { BadLine } from '@svc/testing/postgres/bad-line.ts';
import { failOnStrayRejections } from '@svc/testing/vitest/no-stray-errors.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import type { ScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { openDatabase } from './database.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { DatabaseBusyError, DatabaseUnavailableError } from './outage.ts';

let cluster: ScratchCluster;
let url: string;
let opened: Database[] = [];

failOnStrayRejections();
beforeAll(async () => {
  cluster = await startScratchCluster();
  url = await cluster.createDatabase();
});
afterEach(async () => {
  await Promise.all(opened.map((db) => db.close()));
  opened = [];
});
afterAll(() => cluster?.remove());

/** On a busy machine a connection is not made at once, neither for who asks nor for the watch that decides about others. */
const LIMITS = { connectTimeoutMs: 10_000, suspectAfterMs: 500, idleAboveMaxMs: 100, endGraceMs: 500 };
/** Where the database does not answer, which is what takes so long. */
const IMPATIENT = { ...LIMITS, connectTimeoutMs: 1_000 };

function open(options: Partial<DatabaseOptions> = {}): Database {
  const db = openDatabase({
    url,
    maxOpenConns: 4,
    maxIdleConns: 2,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
    limits: LIMITS,
    ...options,
  });
  opened.push(db);
  return db;
}

const answer = (db: Database) => sql<{ one: number }>`select 1 as one`.execute(db.shared).then(({ rows }) => rows);
const sleepIn = (db: Database, seconds: number) => sql`select pg_sleep(${seconds})`.execute(db.shared);
/** The statement above has reached Postgres. */
const untilSleeping = () =>
  eventually(async () => {
    const active = "select from pg_stat_activity where wait_event = 'PgSleep'";
    return (await cluster.asSuperuser((client) => client.query(active))).rowCount !== 0;
  });
const terminateAll = () =>
  cluster.asSuperuser((client) =>
    client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc'"),
  );

/** What a caller sees of it: the error's class, or the value. */
const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => (error instanceof Error ? error.constructor : error));

const openSockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

describe('a database that goes away', () => {
  it.each(['fast', 'immediate', 'kill'] as const)(
    'is back for the next statement after a restart (%s)',
    async (mode) => {
      const db = open();
      expect(await answer(db)).toEqual([{ one: 1 }]);
      const running = outcomeOf(sleepIn(db, 20));
      await untilSleeping();
      await cluster.stop(mode);
      expect(await running).toBe(DatabaseUnavailableError);
      expect(await outcomeOf(answer(db))).toBe(DatabaseUnavailableError);
      expect(await outcomeOf(db.ping())).toBe(DatabaseUnavailableError);
      await cluster.start();
      expect(await answer(db)).toEqual([{ one: 1 }]);
      await eventually(() => db.ping()); // has two seconds, as probes want it
    },
  );

  it('costs an idle connection nothing but itself when its backend is terminated', async () => {
    const lost: Error[] = [];
    // Three that are at work at once, and none of which is closed for being one too many.
    const db = open({ maxIdleConns: 3, onConnectionLost: (error) => lost.push(error) });
    const connections = await Promise.all([0, 1, 2].map(() => db.shared.startTransaction().execute()));
    await Promise.all(connections.map((transaction) => transaction.commit().execute()));
    expect(db.poolUsage().idle).toBe(3);
    await terminateAll();
    await eventually(() => lost.length === 3);
    expect(await answer(db)).toEqual([{ one: 1 }]);
  });

  it('fails a transaction whose backend is terminated, at once, and frees its locks', async () => {
    const db = open();
    await sql`create table if not exists locked (n int)`.execute(db.shared);
    const transaction = outcomeOf(
      db.shared.transaction().execute(async (trx) => {
        await sql`lock table locked`.execute(trx);
        await terminateAll();
        await sql`insert into locked values (1)`.execute(trx);
      }),
    );
    expect(await transaction).toBe(DatabaseUnavailableError);
    const { rows } = await sql`select n from locked`.execute(db.shared);
    expect(rows).toEqual([]);
  });

  it('survives terminations at every moment of a connection’s life', async () => {
    const db = open({ maxIdleConns: 0, limits: { connectTimeoutMs: 1_000, suspectAfterMs: 500, idleAboveMaxMs: 1 } });
    const until = Date.now() + 2_000;
    const outcomes = new Set<unknown>();
    // On a busy machine, the first termination takes longer than that.
    const goesOn = () => Date.now() < until || !outcomes.has(DatabaseUnavailableError);
    const worker = async () => {
      while (goesOn()) {
        outcomes.add(await outcomeOf(db.ping().then(() => 'answered')));
        outcomes.add(
          await outcomeOf(
            db.shared
              .transaction()
              .execute((trx) => sql`select 1`.execute(trx))
              .then(() => 'answered'),
          ),
        );
        await sleep(2);
      }
    };
    const terminator = async () => {
      while (goesOn()) await terminateAll();
    };
    await Promise.all([worker(), worker(), worker(), terminator()]);
    expect([...outcomes].filter((outcome) => outcome !== 'answered' && outcome !== DatabaseUnavailableError)).toEqual(
      [],
    );
    expect(outcomes).toContain(DatabaseUnavailableError);
    expect(await eventually(() => answer(db))).toEqual([{ one: 1 }]);
  });
});

describe('a database that does not answer', () => {
  it('fails what waits for it without waiting for the statement timeout, and works when it goes on', async () => {
    const db = open({ limits: IMPATIENT });
    await eventually(() => answer(db));
    cluster.pause();
    try {
      const transaction = db.shared.transaction().execute((trx) => sql`select 1`.execute(trx));
      const outcomes = await Promise.all([answer(db), sleepIn(db, 0), transaction].map(outcomeOf));
      expect(new Set(outcomes)).toEqual(new Set([DatabaseUnavailableError]));
      expect(await outcomeOf(db.ping())).toBe(DatabaseUnavailableError);
    } finally {
      cluster.resume();
    }
    expect(await eventually(() => answer(db))).toEqual([{ one: 1 }]);
  });

  it('does not keep a transaction it interrupts waiting for its rollback', async () => {
    const db = open({ statementTimeoutMs: 0, limits: IMPATIENT }); // nothing but the watch ends the wait
    try {
      const interrupted = db.shared.transaction().execute(async (trx) => {
        await sql`select 1`.execute(trx);
        cluster.pause();
        await sql`select 2`.execute(trx);
      });
      expect(await outcomeOf(interrupted)).toBe(DatabaseUnavailableError);
    } finally {
      cluster.resume();
    }
  });

  it('cannot hold up a shutdown, nor keep the process alive after it', async () => {
    const before = openSockets();
    const db = open();
    await Promise.all([answer(db), answer(db)]);
    cluster.pause();
    try {
      const hanging = outcomeOf(answer(db));
      await db.close();
      await hanging;
      await eventually(() => openSockets() <= before); // the watch may have one for as long as it may connect
    } finally {
      cluster.resume();
    }
  });

  it('is not confused with a statement that takes long', async () => {
    const db = open();
    const { rows } = await sql`select 'done' as state from pg_sleep(2)`.execute(db.shared);
    expect(rows).toEqual([{ state: 'done' }]);
  });
});

describe('a connection that is lost on the way, though the database answers on others', () => {
  let line: BadLine;
  beforeEach(async () => {
    line = await openBadLine(cluster.port);
  });
  afterEach(() => line.close());

  it('is given up without waiting for the statement timeout, and those that are idle are not tried one by one', async () => {
    const db = open({ url: line.url(url), maxIdleConns: 4, statementTimeoutMs: 0 }); // nothing else ends the wait
    const connections = await Promise.all([1, 2, 3, 4].map(() => db.shared.startTransaction().execute()));
    await Promise.all(connections.map((transaction) => transaction.commit().execute()));
    expect(line.silence()).toBe(4);
    expect(await outcomeOf(answer(db))).toBe(DatabaseUnavailableError);
    expect(await answer(db)).toEqual([{ one: 1 }]);
    expect(db.poolUsage()).toEqual({ idle: 1, busy: 0, waiting: 0 });
  });

  it('gives back its locks, though the database has not heard of its end', async () => {
    const db = open({ url: line.url(url), statementTimeoutMs: 0, idleInTransactionTimeoutMs: 0 });
    await sql`create table if not exists lost_locked (n int)`.execute(db.shared);
    const transaction = db.shared.transaction().execute(async (trx) => {
      await sql`lock table lost_locked`.execute(trx);
      line.silence();
      await sql`insert into lost_locked values (1)`.execute(trx);
    });
    expect(await outcomeOf(transaction)).toBe(DatabaseUnavailableError);
    expect((await sql`select n from lost_locked`.execute(db.shared)).rows).toEqual([]); // waits for as long as it is locked
  });

  it('is noticed also when its backend is gone meanwhile', async () => {
    const db = open({ url: line.url(url), statementTimeoutMs: 0 });
    await answer(db);
    line.silence();
    await terminateAll();
    expect(await outcomeOf(answer(db))).toBe(DatabaseUnavailableError);
    expect(await answer(db)).toEqual([{ one: 1 }]);
  });

  it('is not confused with one on which every answer takes longer than anybody wonders', async () => {
    const db = open({ url: line.url(url), limits: { ...LIMITS, suspectAfterMs: 200 } });
    await answer(db);
    line.delay(1_500); // seven looks
    expect(await answer(db)).toEqual([{ one: 1 }]);
  });
});

describe('prepared statements', () => {
  // A connection that is slow to answer is not replaced: the statements are of the first one.
  const oneConnection = { maxOpenConns: 1, limits: { ...LIMITS, suspectAfterMs: 30_000 } };
  const often = 10; // more often than it takes for a statement to be prepared
  const readAll = (db: { shared: Database['shared'] }) =>
    db.shared.selectFrom('tenants').selectAll().where('name', '=', 'none').execute();

  it('do not break when a migration changes the table they read', async () => {
    const db = open(oneConnection);
    await sql`create table tenants (id int, name text)`.execute(db.shared);
    for (let n = 0; n < often; n += 1) await readAll(db);
    await sql`alter table tenants add column added_later text`.execute(db.shared);
    expect(await readAll(db)).toEqual([]);
    await sql`alter table tenants add column added_last text`.execute(db.shared);
    for (let n = 0; n < often; n += 1) expect(await readAll(db)).toEqual([]);
    await sql`alter table tenants drop column added_last`.execute(db.shared);
    const inTransaction = db.shared.transaction().execute((trx) => readAll({ shared: trx }));
    expect(await outcomeOf(inTransaction)).toBe(DatabaseUnavailableError); // and so is answered 503: try again
    expect(await db.shared.transaction().execute((trx) => readAll({ shared: trx }))).toEqual([]);
  });

  it('are given up behind a pooler that hands out other sessions', async () => {
    const db = open(oneConnection);
    const ask = (n: number) => sql<{ n: number }>`select ${n}::int as n`.execute(db.shared).then(({ rows }) => rows);
    for (let n = 0; n < often; n += 1) await ask(n);
    await sql`deallocate all`.execute(db.shared);
    for (let n = 0; n < often; n += 1) {
      expect(await ask(n)).toEqual([{ n }]);
      await sql`deallocate all`.execute(db.shared);
    }
  });

  it('stay few, however many different statements there are', async () => {
    const db = open(oneConnection);
    for (let n = 0; n < 300; n += 1) {
      for (let times = 0; times < 6; times += 1) await sql`select ${n}::int + ${sql.raw(String(n))}`.execute(db.shared);
    }
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_prepared_statements`.execute(db.shared);
    expect(rows[0]?.n).toBe(150);
  });
});

describe('the connection pool', () => {
  it('never opens more connections than configured, and fails who waits too long', async () => {
    // Nobody wonders about the two that take long: that would be one more connection.
    const db = open({ maxOpenConns: 2, limits: { ...LIMITS, connectTimeoutMs: 1_500, suspectAfterMs: 30_000 } });
    const slow = await Promise.all([1, 2].map(() => db.shared.startTransaction().execute()));
    const late = Array.from({ length: 20 }, () => outcomeOf(answer(db)));
    expect(new Set(await Promise.all(late))).toEqual(new Set([DatabaseBusyError]));
    expect(db.poolUsage()).toMatchObject({ busy: 2, waiting: 0 });
    await Promise.all(slow.map((transaction) => transaction.commit().execute()));
    expect(await answer(db)).toEqual([{ one: 1 }]);
  });

  it('gives a released connection to a request for which a new one opens too slowly', async () => {
    const db = open();
    const transaction = await db.shared.startTransaction().execute();
    const postmaster = cluster.pid ?? 0;
    process.kill(postmaster, 'SIGSTOP'); // Postgres accepts no new connection, and its backends work
    try {
      const waiting = answer(db);
      await transaction.commit().execute();
      expect(await waiting).toEqual([{ one: 1 }]);
    } finally {
      process.kill(postmaster, 'SIGCONT');
    }
  });

  it('closes idle connections above the configured number', async () => {
    const db = open({ maxIdleConns: 1 });
    await Promise.all([sleepIn(db, 0.1), sleepIn(db, 0.1), sleepIn(db, 0.1), sleepIn(db, 0.1)]);
    await expect.poll(() => db.poolUsage()).toEqual({ idle: 1, busy: 0, waiting: 0 });
  });

  it('cancels a statement at the statement timeout and keeps its connection', async () => {
    const db = open({ maxOpenConns: 1, statementTimeoutMs: 1_500 });
    await expect(sleepIn(db, 20)).rejects.toMatchObject({ code: '57014' });
    expect(await answer(db)).toEqual([{ one: 1 }]);
  });

  it('gives up a connection on which even that does not arrive, though others answer', async () => {
    const db = open({ maxOpenConns: 1, statementTimeoutMs: 1_500 });
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db.shared);
    const pid = rows[0]?.pid ?? 0;
    const unanswered = outcomeOf(sleepIn(db, 20));
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await unanswered).toBe(DatabaseUnavailableError);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await answer(db)).toEqual([{ one: 1 }]);
  });

  it('ends a transaction that sits idle, and its locks with it', async () => {
    const db = open({ idleInTransactionTimeoutMs: 300 });
    await sql`create table if not exists idle_locked (n int)`.execute(db.shared);
    const idle = db.shared.transaction().execute(async (trx) => {
      await sql`lock table idle_locked`.execute(trx);
      await sql`select from idle_locked`.execute(db.shared); // another connection, held up until the lock is gone
      await sql`insert into idle_locked values (1)`.execute(trx);
    });
    expect(await outcomeOf(idle)).toBe(DatabaseUnavailableError);
    expect((await sql`select n from idle_locked`.execute(db.shared)).rows).toEqual([]);
  });

  it('tells a wrong password, for which no waiting helps, from an absence', async () => {
    const wrong = new URL(url);
    wrong.password = 'guess';
    const db = open({ url: wrong.toString() });
    await expect(answer(db)).rejects.toMatchObject({ transient: false });
  });
});
