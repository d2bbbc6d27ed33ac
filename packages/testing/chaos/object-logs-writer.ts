/**
 * A process that takes lines and brings them to an object store, to be killed: `node object-logs-writer.ts <json>`. Says for each
 * log how long it is as soon as that is acknowledged, and goes on where its logs end.
 */
import { randomUUID } from 'node:crypto';
import { openDatabase } from '@svc/server/db/database.ts';
import type { LogKey } from '@svc/server/logs/log-key.ts';
import { createObjectLogStore } from '@svc/server/logs/objects/object-log-store.ts';
import { createS3Store } from '@svc/server/logs/objects/s3-store.ts';

export type WriterInput = {
  databaseUrl: string;
  endpoint: string;
  bucket: string;
  prefix: string;
  logKeys: LogKey[];
  pace: { lookEveryMs: number; leaseMs: number; partBytes: number; settleMs: number };
};

/** Every line has the same length, so a position says which lines are before it. */
export const CHAOS_LINE_BYTES = 64;
export const chaosLine = (number: number): string =>
  `${JSON.stringify({ event: `line ${number}` }).padEnd(CHAOS_LINE_BYTES - 1)}\n`;

if (import.meta.main) {
  const input = JSON.parse(process.argv[2] ?? '{}') as WriterInput;
  const db = openDatabase({
    url: input.databaseUrl,
    maxOpenConns: 6,
    maxIdleConns: 2,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });
  const logs = createObjectLogStore({
    store: createS3Store({
      bucket: input.bucket,
      region: '',
      endpoint: input.endpoint,
      forcePathStyle: true,
      accessKeyId: 'test',
      secretAccessKey: 'test',
      timeoutMs: 2_000,
    }),
    prefix: input.prefix,
    databaseUrl: input.databaseUrl,
    writing: db,
    reading: db,
    processId: randomUUID(),
    maxSpoolBytes: 1e9,
    pace: input.pace,
    log: { info() {}, warn() {}, error() {} },
  });
  logs.background?.start();
  await Promise.all(
    input.logKeys.map(async (logKey, index) => {
      for (let length = await logs.size(logKey); ;) {
        const first = Math.floor(length / CHAOS_LINE_BYTES);
        const lines = Array.from({ length: 40 }, (_, line) => chaosLine(first + line)).join('');
        ({ length } = await logs.append(logKey, first * CHAOS_LINE_BYTES, Buffer.from(lines)));
        process.stdout.write(`${index} ${length}\n`);
      }
    }),
  );
}
