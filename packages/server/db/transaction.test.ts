import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countWrites } from '@svc/testing/postgres/count-writes.ts';
import { failOnStrayRejections } from '@svc/testing/vitest/no-stray-errors.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import type { ScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { openDatabase } from './database.ts';
import type { Database, SharedDb } from './database.ts';
import { fixedSql } from './fixed-sql.ts';
import { beginning, inPipelinedTransaction } from './transaction.ts';
import type { PipelinedTransaction } from './transaction.ts';

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

const pipelined = <T>(work: (tx: PipelinedTransaction) => Promise<T>): Promise<T> =>
  inPipelinedTransaction(db.shared, 'begin', work);

describe('statements of a pipelined transaction', () => {
  it('are done in the order in which they were sent, and committed together', async () => {
    const counts = await pipelined(async (tx) => {
      await seen(tx.db);
      const [, one, , two] = await Promise.all([note(tx.db, 1), seen(tx.db), note(tx.db, 2), seen(tx.db)]);
      return [one, two];
    });
    expect(counts).toEqual([1, 2]);
    expect(await noted()).toEqual([1, 2]);
  });

  it('that one failure takes along all tell that failure, whichever is looked at first', async () => {
    const failed = pipelined(async (tx) => {
      await note(tx.db, 1);
      const again = note(tx.db, 1).catch(async (error: unknown) => {
        await Promise.resolve();
        throw error; // seen later than the others by whoever waits for all
      });
      await Promise.all([again, seen(tx.db), note(tx.db, 2)]);
    });
    await expect(failed).rejects.toMatchObject({ code: '23505' });
    await expect(pipelined((tx) => sql`select 1 / 0`.execute(tx.db))).rejects.toMatchObject({ code: '22012' });
    expect(await noted()).toEqual([]);
  });

  it('leave in one write with the beginning and the commit', async () => {
    await pipelined((tx) => seen(tx.db)); // the connection is there
    const writes = await countWrites(() => pipelined((tx) => tx.commitWith(seen(tx.db), seen(tx.db), seen(tx.db))));
    expect(writes).toBe(1);
  });

  it('leave in as many writes as are waited for', async () => {
    await pipelined((tx) => seen(tx.db)); // the connection is there
    const writes = await countWrites(() =>
      pipelined(async (tx) => {
        tx.send(seen(tx.db));
        tx.send(seen(tx.db));
        await tx.flush();
        tx.send(note(tx.db, 1));
        const written = tx.flush();
        const count = tx.send(seen(tx.db));
        await written;
        await tx.commitWith(note(tx.db, (await count) + 1));
      }),
    );
    expect(writes).toBe(3);
    expect(await noted()).toEqual([1, 2]);
  });

  it('are all undone when one of them fails, also those sent behind it', async () => {
    const work = pipelined(async (tx) => {
      await seen(tx.db);
      await Promise.all([note(tx.db, 1), note(tx.db, 1), note(tx.db, 2)]);
    });
    await expect(work).rejects.toThrow(/duplicate key/);
    expect(await noted()).toEqual([]);
  });
});

describe('the flush of a pipelined transaction', () => {
  it('waits for everything that was sent, and tells the first failure', async () => {
    const work = pipelined(async (tx) => {
      await seen(tx.db);
      tx.send(note(tx.db, 1));
      tx.send(note(tx.db, 1));
      tx.send(note(tx.db, 2));
      await tx.flush();
      throw new Error('unreachable: the flush has failed');
    });
    await expect(work).rejects.toThrow(/duplicate key/);
    expect(await noted()).toEqual([]);
  });

  it('tells that the beginning has failed', async () => {
    const work = inPipelinedTransaction(db.shared, 'begin; select 1 / 0', async (tx) => {
      await tx.send(seen(tx.db)).catch(() => {});
      await tx.flush();
      throw new Error('unreachable: the flush has failed');
    });
    await expect(work).rejects.toThrow(/division by zero/);
  });

  it('that nobody waits for, or that never came, leaves its failures to the commit', async () => {
    for (const flushes of [true, false]) {
      const work = pipelined(async (tx) => {
        await seen(tx.db);
        tx.send(note(tx.db, 1));
        tx.send(note(tx.db, 1));
        if (flushes) void tx.flush();
      });
      await expect(work).rejects.toThrow(/duplicate key/);
    }
    expect(await noted()).toEqual([]);
  });
});

describe('a commit that is sent with the last statements', () => {
  it('commits them, and gives their answers', async () => {
    const answers = await pipelined(async (tx) => {
      await seen(tx.db);
      return tx.commitWith(note(tx.db, 1), seen(tx.db), undefined);
    });
    expect(answers.slice(1)).toEqual([1, undefined]);
    expect(await noted()).toEqual([1]);
  });

  it('commits nothing when one of them fails', async () => {
    const work = pipelined(async (tx) => {
      await seen(tx.db);
      await tx.commitWith(note(tx.db, 1), note(tx.db, 1));
    });
    await expect(work).rejects.toThrow(/duplicate key/);
    expect(await noted()).toEqual([]);
  });

  it('commits nothing when a statement that was sent before has failed, and tells that failure', async () => {
    const work = pipelined(async (tx) => {
      await seen(tx.db);
      tx.send(note(tx.db, 1));
      tx.send(note(tx.db, 1));
      await tx.commitWith(note(tx.db, 2));
    });
    await expect(work).rejects.toThrow(/duplicate key/);
    expect(await noted()).toEqual([]);
  });

  it('is told to have failed when Postgres refuses it', async () => {
    await sql`alter table notes add constraint late unique (number) deferrable initially deferred`.execute(db.shared);
    await sql`alter table notes drop constraint notes_pkey`.execute(db.shared);
    const work = pipelined(async (tx) => {
      await seen(tx.db);
      await tx.commitWith(note(tx.db, 1), note(tx.db, 1)); // looked at by the commit only
    });
    await expect(work).rejects.toThrow(/duplicate key/);
    expect(await noted()).toEqual([]);
  });
});

describe('a pipelined transaction', () => {
  it('lets no statement through behind the commit: it would stand alone', async () => {
    const work = pipelined(async (tx) => {
      await Promise.all([tx.commitWith(note(tx.db, 1)), note(tx.db, 2)]);
    });
    await expect(work).rejects.toThrow(/behind the commit/);
    expect(await noted()).toEqual([1]);
  });

  it('lets no statement through when the beginning fails', async () => {
    const work = inPipelinedTransaction(db.shared, 'begin; select 1 / 0', async (tx) => {
      await seen(tx.db).catch(() => {});
      await note(tx.db, 1);
    });
    await expect(work).rejects.toThrow(/division by zero/);
    expect(await noted()).toEqual([]);
  });

  it('lets no statement through when it is over: the connection is another’s', async () => {
    let kept: SharedDb | undefined;
    await pipelined(async (tx) => {
      kept = tx.db;
    });
    await expect(note(kept as SharedDb, 1)).rejects.toThrow(/transaction that is over/);
    expect(await noted()).toEqual([]);
  });

  it('is rolled back when its work throws, and leaves the connection usable', async () => {
    const work = pipelined(async (tx) => {
      await note(tx.db, 1);
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await noted()).toEqual([]);
  });

  it('keeps plans for its own statements only', async () => {
    const mode = (on: SharedDb) => sql<{ mode: string }>`select current_setting('plan_cache_mode') as mode`.execute(on);
    const inside = await inPipelinedTransaction(db.shared, beginning({ keepsPlans: true }), (tx) => mode(tx.db));
    expect(inside.rows).toEqual([{ mode: 'force_generic_plan' }]);
    expect((await mode(db.shared)).rows).toEqual([{ mode: 'auto' }]);
  });
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
