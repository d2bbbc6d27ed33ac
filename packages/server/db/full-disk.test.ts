import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';
import { createDiskWatch } from './full-disk.ts';
import { DatabaseUnavailableError } from './outage.ts';

const coded = (code: string): Error => Object.assign(new Error('could not extend file'), { code });
const unavailable = (code: string): Error => new DatabaseUnavailableError(coded(code), true);

describe('the watch over the disk of the database', () => {
  it('asks for no write while nothing has failed for the disk', async () => {
    const watch = createDiskWatch();
    watch.failed(coded('ECONNREFUSED'));
    await watch.check(() => Promise.reject(new Error('unreachable')));
  });

  it.each(['53100', '58030'])('stays failing after %s until a write succeeds, and then asks no more', async (code) => {
    const watch = createDiskWatch();
    watch.failed(coded(code));
    const full = (): Promise<void> => Promise.reject(unavailable(code));
    for (let time = 0; time < 2; time += 1) await expect(watch.check(full)).rejects.toThrow('could not extend file');
    await watch.check(() => Promise.resolve());
    await watch.check(full);
  });

  it('takes a write that is refused for another reason as no word about the disk', async () => {
    const watch = createDiskWatch();
    watch.failed(coded('53100'));
    await watch.check(() => Promise.reject(unavailable('53400')));
    await watch.check(() => Promise.reject(unavailable('53100')));
  });
});

describe('a ping of a database whose disk was full', () => {
  let test: Awaited<ReturnType<typeof createTestDatabase>>;
  let db: Database;
  const disk = createDiskWatch();
  beforeAll(async () => {
    test = await createTestDatabase();
    const limits = { maxOpenConns: 2, maxIdleConns: 1, statementTimeoutMs: 30_000, idleInTransactionTimeoutMs: 30_000 };
    db = openDatabase({ url: test.url, ...limits, disk });
  });
  afterAll(async () => {
    await db?.close();
    await test?.drop();
  });

  const failForTheDisk = (): Promise<unknown> =>
    sql`do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`.execute(db.shared);
  const temporaryBytes = async (): Promise<number> => {
    const read = sql<{
      bytes: number;
    }>`select temp_bytes as bytes from pg_stat_database where datname = current_database()`;
    return (await read.execute(db.shared)).rows[0]?.bytes ?? 0;
  };

  it('writes a file to that disk before it calls the database well again', async () => {
    await eventually(() => db.ping());
    expect(await temporaryBytes()).toBe(0);
    await expect(failForTheDisk()).rejects.toThrow('could not extend file');
    await eventually(() => db.ping());
    await expect.poll(temporaryBytes).toBeGreaterThan(1_000_000);
    let isAsked = false;
    await disk.check(async () => void (isAsked = true));
    expect(isAsked).toBe(false);
  });

  it('fails as long as that file cannot be written, and leaves its connection usable', async () => {
    await expect(failForTheDisk()).rejects.toThrow('could not extend file');
    await expect(disk.check(() => failForTheDisk().then(() => {}))).rejects.toThrow('could not extend file');
    await eventually(() => db.ping());
  });
});
