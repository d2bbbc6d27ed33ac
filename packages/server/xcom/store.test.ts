import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '../auth/tenants.ts';
import { openDatabase } from '../db/database.ts';
import type { Database, TenantDb } from '../db/database.ts';
import { xcomPage } from '../db/task-instances/xcoms.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { createXcomStore } from './store.ts';

let db: Database;
let drop: () => Promise<void>;
let ours: TenantDb;
let theirs: TenantDb;
let run: number;
let theirRun: number;
beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  const limits = { maxOpenConns: 4, maxIdleConns: 1, statementTimeoutMs: 0, idleInTransactionTimeoutMs: 0 };
  db = openDatabase({ url: database.url, ...limits });
  ours = db.tenant((await ensureTenant(db.shared, 'ours')).id);
  theirs = db.tenant((await ensureTenant(db.shared, 'theirs')).id);
  for (const tenant of [ours, theirs]) await insertDag(tenant, { dagId: 'etl' });
  run = await insertRun(ours, { dagId: 'etl', runId: 'r1' });
  theirRun = await insertRun(theirs, { dagId: 'etl', runId: 'r1' });
});
afterAll(async () => {
  await db?.close();
  await drop?.();
});

const store = createXcomStore({ maxBytes: 1_000 });
const at = (taskId: string, mapIndex = -1) => ({ run, dagId: 'etl', taskId, mapIndex });
const value = async (taskId: string, key: string, mapIndex = -1) =>
  (await store.find(ours, { run, taskId, mapIndex, key }))?.value;
const lengthOf = async (taskId: string, key: string) =>
  (
    await ours
      .selectFrom('xcoms')
      .select('length')
      .where('task_id', '=', taskId)
      .where('key', '=', key)
      .executeTakeFirst()
  )?.length;

describe('cross-task values', () => {
  it.each([
    ['a number with all its digits', '12345678901234567890.10'],
    ['keys in their order, also those that look like numbers', '{"b": 1, "10": 2, "2": 3, "a": 4}'],
    ['the same key twice', '{"a": 1, "a": 2}'],
    ['a text with what Postgres cannot store', String.raw`"a\u0000b\ud800"`],
    ['null', 'null'],
    ['text of any script', '"Où? Ωμέγα, 漢字 & 🚀"'],
    ['blanks', ' [ 1 ,\n 2 ] '],
  ])('come back as they were written: %s', async (what, json) => {
    expect(await store.set(ours, at('exact'), [{ key: what, value: json }])).toEqual({ kind: 'written' });
    expect(await value('exact', what)).toBe(json);
  });

  it('know how many items they have, also after a change', async () => {
    await store.set(ours, at('length'), [{ key: 'a', value: '[1,2,3]' }]);
    expect(await lengthOf('length', 'a')).toBe(3);
    await store.set(ours, at('length'), [{ key: 'a', value: '"text"' }]);
    expect(await lengthOf('length', 'a')).toBeNull();
    await store.update(ours, { run, taskId: 'length', mapIndex: -1, key: 'a' }, '{"x":1}');
    expect(await lengthOf('length', 'a')).toBe(1);
  });

  it('are written all or none: one that is too large keeps the others out', async () => {
    const entries = [
      { key: 'small', value: '1' },
      { key: 'large', value: JSON.stringify('x'.repeat(1_000)) },
    ];
    expect(await store.set(ours, at('limits'), entries)).toEqual({
      kind: 'refused',
      problem: expect.stringContaining('"large" has 1002 bytes') as string,
    });
    expect(await value('limits', 'small')).toBeUndefined();
    expect(await store.create(ours, at('limits'), { key: 'large', value: 'x' })).toMatchObject({ kind: 'refused' });
    expect(await store.set(ours, at('limits'), [])).toEqual({ kind: 'written' });
  });

  it('take the later of two values for one key', async () => {
    await store.set(ours, at('twice'), [
      { key: 'k', value: '1' },
      { key: 'k', value: '2' },
    ]);
    expect(await value('twice', 'k')).toBe('2');
  });

  it('are created only where there is none, and changed only where there is one', async () => {
    const key = { run, taskId: 'once', mapIndex: -1, key: 'k' };
    expect(await store.update(ours, key, '1')).toEqual({ kind: 'missing' });
    const created = await Promise.all(
      ['1', '2'].map((json) => store.create(ours, at('once'), { key: 'k', value: json })),
    );
    expect(created.map(({ kind }) => kind).toSorted()).toEqual(['exists', 'written']);
    expect(await store.update(ours, key, '3')).toEqual({ kind: 'written' });
    expect(await value('once', 'k')).toBe('3');
    expect([await store.delete(ours, key), await store.delete(ours, key)]).toEqual([true, false]);
  });

  it('go with their instance, and leave those of its neighbours', async () => {
    for (const [taskId, mapIndex] of [
      ['gone', 0],
      ['gone', 1],
      ['stays', 0],
    ] as const)
      await store.set(ours, at(taskId, mapIndex), [
        { key: 'a', value: '1' },
        { key: 'b', value: '2' },
      ]);
    await store.deleteAll(ours, at('gone', 0));
    expect(await value('gone', 'a', 0)).toBeUndefined();
    expect([await value('gone', 'b', 1), await value('stays', 'a', 0)]).toEqual(['2', '1']);
  });

  it('of one tenant are out of reach for another, whatever it names', async () => {
    await store.set(ours, at('private'), [{ key: 'k', value: '"ours"' }]);
    const key = { run, taskId: 'private', mapIndex: -1, key: 'k' };
    expect(await store.find(theirs, key)).toBeUndefined();
    expect(await store.update(theirs, key, '1')).toEqual({ kind: 'missing' });
    expect(await store.delete(theirs, key)).toBe(false);
    await store.deleteAll(theirs, key);
    await expect(store.set(theirs, at('private'), [{ key: 'k', value: '1' }])).rejects.toThrow(/foreign key/);
    await store.set(theirs, { ...at('private'), run: theirRun }, [{ key: 'k', value: '"theirs"' }]);
    const page = { limit: 100, offset: 0, order: [], taskId: 'private' };
    expect((await store.list(theirs, page)).total).toBe(1);
    expect(await value('private', 'k')).toBe('"ours"');
  });
});

describe('a page of all values of a tenant', () => {
  it('costs what it shows, not what there is: newest runs first without sorting them all', async () => {
    for (let index = 0; index < 20; index += 1) await insertRun(ours, { dagId: 'etl', runId: `bulk-${index}` });
    await sql`insert into xcoms (tenant_id, run, task_id, map_index, key, dag_id, value)
      select tenant_id, id, 'bulk', n, 'k', dag_id, '1' from dag_runs, generate_series(1, 1000) n
      where run_id like 'bulk-%'`.execute(db.shared);
    await sql`analyze xcoms, dag_runs`.execute(db.shared);
    const newest = { limit: 100, offset: 0, order: [{ column: 'run', direction: 'desc' }] } as const;
    const plan = JSON.stringify(await xcomPage(ours, newest).explain());
    expect(plan).toContain('Incremental Sort');
    expect(plan).toContain('Presorted Key: x.run');
    expect(plan).not.toMatch(/Seq Scan on xcoms|Hash Join/);
  });
});
