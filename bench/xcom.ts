/**
 * Measures values of tasks that are pushed and pulled as the agent service does it: through Postgres alone, and through
 * Postgres with Redis, interleaved (A/B) on the same machine. Here Redis stores values of every size. The server leaves
 * small ones to Postgres (packages/server/xcom/value-cache.ts), for which these figures are the reason.
 *
 * Values that are too large for Postgres are stored on a disk in parts, and are read again. The growth of the memory of
 * this process includes parts that are not collected yet.
 *
 * There are two kinds of text: numbers as tasks write them, which Postgres compresses, and random text, which cannot be
 * compressed.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryUsage } from 'node:process';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { readXcomsOfRun, writeXcomOfAttempt } from '@svc/server/db/attempts/attempt-xcoms.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database } from '@svc/server/db/database.ts';
import type { AttemptKey } from '@svc/server/db/attempts/live-attempts.ts';
import { migrate } from '@svc/server/db/migrate.ts';
import { openRedis } from '@svc/server/redis/redis.ts';
import { createStoredValues } from '@svc/server/xcom/stored/stored-values.ts';
import { PART_BYTES, onDisk } from '@svc/server/xcom/stored/value-files.ts';
import { createValueCache } from '@svc/server/xcom/value-cache.ts';
import type { ValueCache } from '@svc/server/xcom/value-cache.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { startRedis } from '@svc/testing/services/redis.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { cpuSecondsWithChildren } from './process-usage.ts';

const SIZES = [
  { name: '1 kB', bytes: 1_000 },
  { name: '64 kB', bytes: 64_000 },
  { name: '256 kB', bytes: 256_000 },
  { name: '1 MB', bytes: 1_000_000 },
];
const LARGE_MEBIBYTES = [1, 10, 100];
const TEXTS = { numbers: numbersOf, random: randomOf };
/** Number of different values that are pulled alternately. */
const VALUES = 16;
const READERS = 8;

export async function run({ number, print, say }: BenchOptions): Promise<void> {
  const times = number('times', 60);
  const rounds = number('runs', 3);
  const cluster = await startScratchCluster({ fsync: 'on' });
  const server = await startRedis();
  const url = await cluster.createDatabase();
  await migrate(url);
  const db = openDatabase({
    url,
    maxOpenConns: READERS,
    maxIdleConns: READERS,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });
  const redis = openRedis({ settings: { url: server.url(), caFile: '' }, log: { info: () => {}, warn: () => {} } });
  try {
    await eventually(() => {
      if (!redis.isUp()) throw new Error('Redis does not answer');
    });
    const tenantId = (await ensureTenant(db.shared, 'default')).id;
    const scoped = db.tenant(tenantId);
    const attemptId = randomUUID();
    await insertDag(scoped, { dagId: 'values' });
    const instances = [{ task_id: 'task', state: 'running' as const, attempt_id: attemptId }];
    const runKey = await insertRun(scoped, { dagId: 'values', runId: 'one', instances });
    const attempt = { tenantId, run: runKey, taskId: 'task', mapIndex: -1, attemptId };
    await largeValues({ db, attempt, rounds, print, say });
    const caches: Record<string, ValueCache> = {
      postgres: createValueCache(null),
      redis: createValueCache(redis, { min: 0, max: 16 * 1024 * 1024 }),
    };

    const push = async (cache: ValueCache, key: string, value: string): Promise<void> => {
      const version = cache.versionFor(value);
      await writeXcomOfAttempt(scoped, attempt, { dagId: 'values', key, value, length: null, version });
      cache.written(tenantId, version, value);
    };
    const pull = async (cache: ValueCache, key: string): Promise<void> => {
      const query = { run: runKey, taskId: 'task', mapIndex: -1, key };
      const [found] = await cache.readThrough((without) => readXcomsOfRun(scoped, query, without));
      if (!found) throw new Error(`${key} is gone`);
    };

    for (const { name: size, bytes } of SIZES) {
      for (const [text, make] of Object.entries(TEXTS)) {
        const values = Array.from({ length: VALUES }, () => make(bytes));
        const taken = new Map<string, number[]>();
        const note = (figure: string, found: readonly number[]): void =>
          void taken.set(figure, [...(taken.get(figure) ?? []), ...found]);
        for (let round = 0; round < rounds; round += 1) {
          for (const [store, cache] of Object.entries(caches)) {
            say(`${size} of ${text}, ${store}, ${round + 1} of ${rounds}`);
            const keyOf = (n: number): string => `${store}-${n % VALUES}`;
            note(`push ${store}`, await eachMs(times, (n) => push(cache, keyOf(n), values[n % VALUES] ?? '')));
            for (let n = 0; n < VALUES; n += 1) await pull(cache, keyOf(n)); // puts missing values into the cache
            note(`pull ${store}`, await eachMs(times, (n) => pull(cache, keyOf(n))));
            const { perSecond, postgresMs } = await load(cluster.pid ?? 0, times * READERS, (n) =>
              pull(cache, keyOf(n)),
            );
            note(`pulls with ${READERS} readers ${store}`, [perSecond]);
            note(`processor time of Postgres per pull ${store}`, [postgresMs]);
          }
        }
        for (const [figure, found] of taken) {
          const unit = figure.startsWith('pulls') ? '1/s' : 'ms';
          // The fastest tenth is the most informative figure on a busy machine, so it is printed with the median.
          const least = rounded(found.toSorted((a, b) => a - b)[Math.floor(found.length / 10)] ?? Number.NaN, 3);
          const value = rounded(median(found), 3);
          print({ bench: 'xcom', figure, value, unit, fastest_tenth: least, size, text, rounds, times });
        }
      }
    }
  } finally {
    redis.close();
    await db.close();
    await server.close();
    await cluster.remove();
  }
}

/** Values that are too large for Postgres: on a disk, in parts, as an agent sends and a task reads them. */
async function largeValues(input: {
  db: Database;
  attempt: AttemptKey & { tenantId: string };
  rounds: number;
  print: BenchOptions['print'];
  say: BenchOptions['say'];
}): Promise<void> {
  const { db, attempt, rounds, print, say } = input;
  const folder = await mkdtemp(join(tmpdir(), 'svc-values-'));
  const values = createStoredValues({ db, files: onDisk(folder) });
  const part = Buffer.alloc(PART_BYTES, 'x');
  try {
    for (const megabytes of LARGE_MEBIBYTES) {
      const bytes = megabytes * PART_BYTES;
      for (let round = 0; round < rounds; round += 1) {
        say(`a value of ${megabytes} MiB, ${round + 1} of ${rounds}`);
        const id = randomUUID();
        const memory = memoryUsage.rss();
        let most = memory;
        const offsets = Array.from({ length: megabytes }, (_, n) => n * PART_BYTES);
        const inOrder = async (work: (offset: number) => Promise<unknown>): Promise<number> => {
          const start = performance.now();
          for (const offset of offsets) {
            await work(offset);
            most = Math.max(most, memoryUsage.rss());
          }
          return performance.now() - start;
        };
        const stored = await inOrder((offset) => values.append(attempt, { id, bytes, offset, data: part }));
        const scoped = db.tenant(attempt.tenantId);
        const read = await inOrder((offset) => values.read(scoped, { ...attempt, id }, offset / PART_BYTES));
        const size = `${megabytes} MiB`;
        print({ bench: 'xcom', figure: 'store a large value', value: rounded(stored, 1), unit: 'ms', size });
        print({ bench: 'xcom', figure: 'read a large value', value: rounded(read, 1), unit: 'ms', size });
        const growth = rounded((most - memory) / PART_BYTES, 1);
        print({ bench: 'xcom', figure: 'memory for a large value', value: growth, unit: 'MiB', size });
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function eachMs(times: number, work: (n: number) => Promise<void>): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const start = performance.now();
    await work(n);
    taken.push(performance.now() - start);
  }
  return taken;
}

async function load(
  postgres: number,
  times: number,
  work: (n: number) => Promise<void>,
): Promise<{ perSecond: number; postgresMs: number }> {
  const before = cpuSecondsWithChildren(postgres) ?? Number.NaN;
  const start = performance.now();
  let next = 0;
  const reader = async (): Promise<void> => {
    while (next < times) await work((next += 1));
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  const seconds = (performance.now() - start) / 1_000;
  const used = (cpuSecondsWithChildren(postgres) ?? Number.NaN) - before;
  return { perSecond: times / seconds, postgresMs: (used * 1_000) / times };
}

function numbersOf(bytes: number): string {
  const rows: string[] = [];
  for (let length = 0; length < bytes; length += 48) {
    rows.push(`{"id":${rows.length},"name":"row","value":${Math.random().toFixed(6)}}`.padEnd(47));
  }
  return `[${rows.join(',')}]`
    .slice(0, bytes - 1)
    .replace(/,[^,]*$/, '')
    .concat(']');
}

function randomOf(bytes: number): string {
  return JSON.stringify(randomBytes(Math.floor((bytes - 2) * 0.75)).toString('base64'));
}
