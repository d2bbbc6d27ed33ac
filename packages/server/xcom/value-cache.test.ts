/** Against a real Postgres and a real Redis: whatever happens to either, who reads a value reads what Postgres has. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '@svc/testing/chaos/random.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { SEED } from '@svc/testing/seed.ts';
import { startRedis } from '@svc/testing/services/redis.ts';
import type { TestRedis } from '@svc/testing/services/redis.ts';
import { ensureTenant } from '../auth/tenants.ts';
import { readPriorXcoms, readXcomsOfRun, writeXcomOfAttempt } from '../db/attempts/attempt-xcoms.ts';
import { openDatabase } from '../db/database.ts';
import type { Database, TenantDb } from '../db/database.ts';
import { saveValues } from '../engine/sql/attempt-outputs.ts';
import { openRedis } from '../redis/redis.ts';
import type { Redis } from '../redis/redis.ts';
import { createXcomStore } from './store.ts';
import { createValueCache } from './value-cache.ts';
import type { ValueCache } from './value-cache.ts';

const SIZES = { min: 1_000, max: 5_000 };
const large = (text: string): string => JSON.stringify(text.padEnd(2_000, '.'));

let db: Database;
let drop: () => Promise<void>;
let tenantId: string;
let ours: TenantDb;
let run: number;
let server: TestRedis;
const processes: { redis: Redis; cache: ValueCache }[] = [];
const attemptId = randomUUID();

beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  const limits = { maxOpenConns: 4, maxIdleConns: 2, statementTimeoutMs: 0, idleInTransactionTimeoutMs: 0 };
  db = openDatabase({ url: database.url, ...limits });
  tenantId = (await ensureTenant(db.shared, 'ours')).id;
  ours = db.tenant(tenantId);
  await insertDag(ours, { dagId: 'etl' });
  const instances = [{ task_id: 'task', state: 'running' as const, attempt_id: attemptId }];
  const logicalDate = '2026-01-01T00:00:00Z';
  run = await insertRun(ours, { dagId: 'etl', runId: 'r1', logical_date: logicalDate, instances });
  server = await startRedis();
  for (let n = 0; n < 2; n += 1) {
    const redis = openRedis({
      settings: { url: server.url(), caFile: '', answerWithinMs: 10_000 },
      log: { info: () => {}, warn: () => {} },
    });
    processes.push({ redis, cache: createValueCache(redis, SIZES) });
  }
  await allUp();
});
afterAll(async () => {
  for (const { redis } of processes) redis.close();
  await server?.close();
  await db?.close();
  await drop?.();
});

const allUp = () => eventually(() => processes.forEach(({ redis }) => expect(redis.isUp()).toBe(true)));
const allDown = () => eventually(() => processes.forEach(({ redis }) => expect(redis.isUp()).toBe(false)));
const cacheOf = (n: number): ValueCache => {
  const found = processes[n];
  if (!found) throw new Error('it is not started yet');
  return found.cache;
};
const here = () => cacheOf(0);
const there = () => cacheOf(1);
const storeOf = (cache: ValueCache) => createXcomStore({ maxBytes: 100_000, cache });
const at = (key: string) => ({ run, taskId: 'task', mapIndex: -1, key });

async function push(cache: ValueCache, key: string, value: string): Promise<void> {
  const version = cache.versionFor(value);
  const attempt = { tenantId, run, taskId: 'task', mapIndex: -1, attemptId };
  expect(await writeXcomOfAttempt(ours, attempt, { dagId: 'etl', key, value, length: null, version })).toBe(true);
  cache.written(tenantId, version, value);
}

const pull = async (cache: ValueCache, key: string): Promise<string | undefined> =>
  (await cache.readThrough((without) => readXcomsOfRun(ours, { ...at(key), taskId: null }, without)))[0]?.value;

/** What Redis has, by its own tool. */
const cached = (keys = server.keys()): string[] => (keys.length === 0 ? [] : server.cli('MGET', ...keys).split('\n'));

function keysAndTexts(keys: readonly string[]): { key: string; text: string }[] {
  const texts = cached([...keys]);
  return keys.map((key, n) => ({ key, text: texts[n] ?? '' }));
}

describe('a large value', () => {
  it('is read from Redis once it is there: Postgres is not asked for its text', async () => {
    await push(here(), 'k', large('one'));
    await eventually(() => expect(cached()).toContain(large('one')));
    const before = there().reads().hits;
    const asked: unknown[] = [];
    const read = (without: { min: number; max: number } | null) => {
      asked.push(without);
      return readXcomsOfRun(ours, { ...at('k') }, without);
    };
    expect((await there().readThrough(read))[0]?.value).toBe(large('one'));
    expect(asked).toEqual([SIZES]);
    expect(there().reads().hits).toBe(before + 1);
    expect((await storeOf(there()).find(ours, at('k')))?.value).toBe(large('one'));
    const upTo = '2026-01-02T00:00:00Z';
    const prior = { tenantId, dagId: 'etl', taskId: 'task', mapIndex: null, key: 'k', upTo };
    const priors = await there().readThrough((without) => readPriorXcoms(ours, prior, without));
    expect(priors.map(({ value }) => value)).toEqual([large('one')]);
    expect(there().reads().hits).toBe(before + 3);
  });

  it('is put there by who reads it first when it is not, and every key of Redis has an end', async () => {
    await push(here(), 'k', large('two'));
    await eventually(() => expect(cached()).toContain(large('two')));
    server.cli('FLUSHALL');
    expect(await pull(there(), 'k')).toBe(large('two'));
    await eventually(() => expect(cached()).toEqual([large('two')]));
    for (const key of server.keys()) expect(Number(server.cli('TTL', key))).toBeGreaterThan(0);
  });

  it('of a size that is not worth it, or too large, never goes there', async () => {
    server.cli('FLUSHALL');
    await push(here(), 'small', '"small"');
    await push(here(), 'huge', JSON.stringify('x'.repeat(SIZES.max)));
    expect([await pull(here(), 'small'), (await pull(here(), 'huge'))?.length]).toEqual(['"small"', SIZES.max + 2]);
    await push(here(), 'last', large('last'));
    await eventually(() => expect(cached()).toEqual([large('last')]));
  });

  it('without a version, from before there were any, is read from Postgres', async () => {
    await push(here(), 'old', large('old'));
    await sql`alter table xcoms disable trigger xcoms_new_version`.execute(db.shared);
    await sql`update xcoms set version = null where key = 'old'`.execute(db.shared);
    await sql`alter table xcoms enable trigger xcoms_new_version`.execute(db.shared);
    expect(await pull(here(), 'old')).toBe(large('old'));
  });
});

describe('a value that is another now', () => {
  it.each<[string, (value: string) => Promise<unknown>]>([
    ['by a statement of an earlier release, which knows no versions', (value) => sql`update xcoms set value = ${value} where key = 'k'`.execute(db.shared)],
    ['by one that writes over it', (value) => sql`insert into xcoms (tenant_id, run, task_id, map_index, key, dag_id, value)
      values (${tenantId}::uuid, ${run}, 'task', -1, 'k', 'etl', ${value})
      on conflict (tenant_id, run, task_id, map_index, key) do update set value = excluded.value`.execute(db.shared)],
    ['by the outcome of the task', (value) => saveValues(db.shared, [{ of: { tenantId, run, taskId: 'task', mapIndex: -1 }, dagId: 'etl', key: 'k', value, length: null }])],
    ['by a person', (value) => storeOf(createValueCache(null)).update(ours, at('k'), value)],
    ['by a set of values', (value) => storeOf(createValueCache(null)).set(ours, { ...at('k'), dagId: 'etl' }, [{ key: 'k', value }])],
  ])('%s, behind the back of Redis, is never served as it was', async (_how, write) => {
    await push(here(), 'k', large('before'));
    expect(await pull(there(), 'k')).toBe(large('before'));
    await write(large('after'));
    expect([await pull(here(), 'k'), await pull(there(), 'k')]).toEqual([large('after'), large('after')]);
  }); // prettier-ignore
});

it('a random history of two processes and a Redis that stops, forgets and remembers too much: always what Postgres has', async () => {
  const random = createRandom(SEED);
  const truth = new Map<string, string>();
  let remembered: { key: string; text: string }[] = [];
  let isUp = true;
  for (let step = 0; step < 120; step += 1) {
    const key = `r${random.below(3)}`;
    const { cache } = random.pick(processes);
    const value = large(`${key} ${step}`);
    switch (random.below(10)) {
      case 0:
      case 1:
      case 2:
        await push(cache, key, value);
        truth.set(key, value);
        break;
      case 3: // the process dies between its commit and Redis
        await push(createValueCache(null), key, value);
        truth.set(key, value);
        break;
      case 4:
        await storeOf(cache).delete(ours, at(key));
        truth.delete(key);
        break;
      case 5: // cleared, and written again
        await storeOf(cache).deleteAll(ours, { run, taskId: 'task', mapIndex: -1 });
        truth.clear();
        await push(cache, key, value);
        truth.set(key, value);
        break;
      case 6:
        if (isUp) server.cli('FLUSHALL');
        break;
      case 7: // an old dump: all that it ever had is there again
        if (!isUp) break;
        for (const { key: old, text } of remembered) server.cli('SET', old, text, 'EX', '60');
        remembered = keysAndTexts(server.keys()).slice(-3);
        break;
      default:
        if (random.below(6) > 0) break;
        await (isUp ? server.stop() : server.start());
        isUp = !isUp;
        await (isUp ? allUp() : allDown());
    }
    for (const each of processes) expect([step, key, await pull(each.cache, key)]).toEqual([step, key, truth.get(key)]);
  }
  if (!isUp) await server.start();
  await allUp();
  const reads = processes.map(({ cache }) => cache.reads());
  expect(reads.every(({ hits, misses, unavailable }) => hits > 0 && misses > 0 && unavailable > 0)).toBe(true);
});

it('a run that is gone takes its values with it, whatever Redis still has', async () => {
  const other = await insertRun(ours, { dagId: 'etl', runId: 'gone' });
  await storeOf(here()).set(ours, { run: other, dagId: 'etl', taskId: 'task', mapIndex: -1 }, [
    { key: 'k', value: large('gone') },
  ]);
  const read = (without: { min: number; max: number } | null) =>
    readXcomsOfRun(ours, { run: other, taskId: null, mapIndex: null, key: 'k' }, without);
  expect((await here().readThrough(read)).map(({ value }) => value)).toEqual([large('gone')]);
  await eventually(() => expect(cached()).toContain(large('gone')));
  await ours.deleteFrom('dag_runs').where('id', '=', other).execute();
  expect(await here().readThrough(read)).toEqual([]);
});
