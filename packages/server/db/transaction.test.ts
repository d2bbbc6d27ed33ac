import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failOnStrayRejections } from '@svc/testing/vitest/no-stray-errors.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import type { ScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { openDatabase } from './database.ts';
import type { Database, SharedDb } from './database.ts';
import { fixedSql } from './fixed-sql.ts';
import { beginning, inTransaction } from './transaction.ts';

let cluster: ScratchCluster;
let db: Database;

failOnStrayRejections();
beforeAll(async () => {
  cluster = await startScratchCluster();
});
afterAll(() => cluster?.remove());
beforeEach(async () => {
  db = openDatabase({
    url: await cluster.createDatabase(),
    maxOpenConns: 1, // what one transaction leaves behind, the next one finds
    maxIdleConns: 1,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });
  await sql`create table notes (number int primary key)`.execute(db.shared);
});
afterEach(() => db.close());

const note = (trx: SharedDb, number: number) => fixedSql`insert into notes values (${number})`.execute(trx);
const noted = async (): Promise<number[]> =>
  (await sql<{ number: number }>`select number from notes order by number`.execute(db.shared)).rows.map(
    ({ number }) => number,
  );
const seen = async (trx: SharedDb): Promise<number> =>
  (await fixedSql<{ count: number }>`select count(*) as count from notes`.execute(trx)).rows[0]?.count ?? -1;

describe('statements that do not wait for one another', () => {
  it('are done in the order in which they were sent, and committed together', async () => {
    const counts = await inTransaction(db.shared, 'begin', async (trx) => {
      await seen(trx);
      const [, one, , two] = await Promise.all([note(trx, 1), seen(trx), note(trx, 2), seen(trx)]);
      return [one, two];
    });
    expect(counts).toEqual([1, 2]);
    expect(await noted()).toEqual([1, 2]);
  });

  it('leave in one write', async () => {
    await inTransaction(db.shared, 'begin', seen); // the connection is there
    const { Socket } = await import('node:net');
    const writes: number[] = [];
    const original = Socket.prototype._writev;
    const count = function (this: InstanceType<typeof Socket>, ...args: Parameters<NonNullable<typeof original>>) {
      writes.push(args[0].length);
      return original?.apply(this, args);
    };
    Socket.prototype._writev = count as never;
    try {
      await inTransaction(db.shared, 'begin', async (trx, commit) => {
        await Promise.all([seen(trx), seen(trx), seen(trx), commit()]);
      });
    } finally {
      Socket.prototype._writev = original as never;
    }
    expect(writes).toHaveLength(1);
  });

  it('are all undone when one of them fails, also those sent behind it', async () => {
    const work = inTransaction(db.shared, 'begin', async (trx) => {
      await seen(trx);
      await Promise.all([note(trx, 1), note(trx, 1), note(trx, 2)]);
    });
    await expect(work).rejects.toThrow(/duplicate key/);
    expect(await noted()).toEqual([]);
  });
});

describe('a commit that is sent with the last statements', () => {
  it('commits them', async () => {
    await inTransaction(db.shared, 'begin', async (trx, commit) => {
      await seen(trx);
      await Promise.all([note(trx, 1), commit()]);
    });
    expect(await noted()).toEqual([1]);
  });

  it('commits nothing when one of them fails', async () => {
    const work = inTransaction(db.shared, 'begin', async (trx, commit) => {
      await seen(trx);
      await Promise.all([note(trx, 1), note(trx, 1), commit()]);
    });
    await expect(work).rejects.toThrow(/duplicate key/);
    expect(await noted()).toEqual([]);
  });
});

it('a transaction lets no statement through behind the commit: it would stand alone', async () => {
  const work = inTransaction(db.shared, 'begin', async (trx, commit) => {
    await Promise.all([note(trx, 1), commit(), note(trx, 2)]);
  });
  await expect(work).rejects.toThrow(/behind the commit/);
  expect(await noted()).toEqual([1]);
});

it('a transaction lets no statement through when the beginning fails', async () => {
  const work = inTransaction(db.shared, 'begin; select 1 / 0', async (trx) => {
    await seen(trx).catch(() => {});
    await note(trx, 1);
  });
  await expect(work).rejects.toThrow(/division by zero/);
  expect(await noted()).toEqual([]);
});

it('a transaction lets no statement through when it is over: the connection is another’s', async () => {
  let kept: SharedDb | undefined;
  await inTransaction(db.shared, 'begin', async (trx) => {
    kept = trx;
  });
  await expect(note(kept as SharedDb, 1)).rejects.toThrow(/transaction that is over/);
  expect(await noted()).toEqual([]);
});

it('a transaction keeps plans for its own statements only', async () => {
  const mode = (on: SharedDb) => sql<{ mode: string }>`select current_setting('plan_cache_mode') as mode`.execute(on);
  const inside = await inTransaction(db.shared, beginning({ keepsPlans: true }), mode);
  expect(inside.rows).toEqual([{ mode: 'force_generic_plan' }]);
  expect((await mode(db.shared)).rows).toEqual([{ mode: 'auto' }]);
});

describe('fixed SQL', () => {
  it('numbers its parameters through fixed SQL within it, the same each time', async () => {
    const pair = (a: number, b: number) => fixedSql`select ${a}::int as a, ${b}::int as b`;
    const all = (x: number, a: number, b: number, y: number) =>
      fixedSql<{
        sum: number;
      }>`select ${x}::int + p.a * 10 + p.b * 100 + ${y}::int * 1000 as sum from (${pair(a, b)}) p`;
    const sumOf = async (...numbers: [number, number, number, number]) =>
      (await all(...numbers).execute(db.shared)).rows[0]?.sum;
    expect(await sumOf(1, 2, 3, 4)).toBe(4321);
    expect(await sumOf(5, 6, 7, 8)).toBe(8765);
  });
});
