// Measures task logs on disk and on the way to an object store, side by side: acknowledged lines per second, and the
// delay until a follower sees a line, in the same process and in another one.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database } from '@svc/server/db/database.ts';
import { migrate } from '@svc/server/db/migrate.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import type { LogKey } from '@svc/server/logs/log-key.ts';
import { createObjectLogStore } from '@svc/server/logs/objects/object-log-store.ts';
import type { LogStore } from '@svc/server/logs/store.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { startS3 } from '@svc/testing/services/s3.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const LOGS_AT_ONCE = 16;
/** What an agent sends for a task that writes rarely, and for one that writes constantly. */
const BATCHES = { 'batches of 1 line': 1, 'batches of 400 lines': 400 };
const LINE = `${JSON.stringify({ timestamp: '2026-11-15T06:31:12.123456Z', level: 'info', logger: 'task', event: 'x'.repeat(60) })}\n`;
const TAILED = 100;

export async function run({ number, print, say }: BenchOptions): Promise<void> {
  const seconds = number('seconds', 3);
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-logs-'));
  say('starting Postgres (with fsync) and an emulator of S3');
  const [cluster, s3] = await Promise.all([startScratchCluster({ fsync: 'on' }), startS3()]);
  const url = await cluster.createDatabase();
  await migrate(url);
  const databases = [openBenchDatabase(url), openBenchDatabase(url)] as const;
  const { id: tenantId } = await ensureTenant(databases[0].shared, 'default');
  const disk = createDiskLogStore({ dir: folder });
  const objects = databases.map((db) => openLogs(db, url, s3.store()));
  const [writer = disk, reader = disk] = objects;
  writer.background?.start();
  try {
    for (const [name, lines] of Object.entries(BATCHES)) {
      for (const [backend, logs] of [
        ['disk', disk],
        ['objstore', writer],
      ] as const) {
        const { rate, delayMs } = await appended({ logs, tenantId, lines, seconds });
        print({ bench: 'logs', figure: `lines acknowledged, ${name}`, value: Math.round(rate), unit: '1/s', backend });
        print({ bench: 'logs', figure: `one append, ${name}`, value: rounded(delayMs), unit: 'ms', backend });
      }
    }
    for (const [where, from, to] of [
      ['disk, same process', disk, disk],
      ['objstore, same process', writer, writer],
      ['objstore, another process', writer, reader],
    ] as const) {
      const value = rounded(await tailed(from, to, tenantId));
      print({ bench: 'logs', figure: 'a line is seen by a follower (median)', value, unit: 'ms', backend: where });
    }
  } finally {
    for (const logs of [disk, ...objects]) await logs.close();
    for (const db of databases) await db.close();
    await s3.stop();
    await cluster.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const openBenchDatabase = (url: string): Database =>
  openDatabase({
    url,
    maxOpenConns: 10,
    maxIdleConns: 10,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });

function openLogs(db: Database, url: string, store: Parameters<typeof createObjectLogStore>[0]['store']): LogStore {
  return createObjectLogStore({
    store,
    prefix: '',
    databaseUrl: url,
    writing: db,
    reading: db,
    processId: randomUUID(),
    maxSpoolBytes: 1e12,
    log: { info() {}, warn() {}, error() {} },
  });
}

const newLog = (tenantId: string): LogKey => ({
  tenantId,
  dagId: 'bench',
  runId: randomUUID(),
  taskId: 'task',
  mapIndex: -1,
  tryNumber: 1,
});

async function appended(input: {
  logs: LogStore;
  tenantId: string;
  lines: number;
  seconds: number;
}): Promise<{ rate: number; delayMs: number }> {
  const batch = Buffer.from(LINE.repeat(input.lines));
  const delays: number[] = [];
  const begin = performance.now();
  const end = begin + input.seconds * 1_000;
  await Promise.all(
    Array.from({ length: LOGS_AT_ONCE }, async () => {
      const logKey = newLog(input.tenantId);
      for (let length = 0; performance.now() < end;) {
        const sent = performance.now();
        ({ length } = await input.logs.append(logKey, length, batch));
        delays.push(performance.now() - sent);
      }
    }),
  );
  return { rate: (delays.length * input.lines * 1_000) / (performance.now() - begin), delayMs: median(delays) };
}

/** Measures from the call with the line until the follower has its bytes. */
async function tailed(from: LogStore, to: LogStore, tenantId: string): Promise<number> {
  const logKey = newLog(tenantId);
  const watch = to.watch(logKey);
  const delays: number[] = [];
  let length = 0;
  for (let line = 0; line <= TAILED; line += 1) {
    const sent = performance.now();
    const appending = from.append(logKey, length, Buffer.from(LINE));
    while ((await to.size(logKey)) <= length) await watch.next({ withinMs: 500 });
    for await (const _block of to.read(logKey, { from: length })) break;
    if (line > 0) delays.push(performance.now() - sent); // the first one waits for the listening connection
    ({ length } = await appending);
  }
  watch.close();
  return median(delays);
}
