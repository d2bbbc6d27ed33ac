import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startGcs } from '@svc/testing/services/gcs.ts';
import { startS3 } from '@svc/testing/services/s3.ts';
import { LogMissingError } from '../../logs/store.ts';
import { PART_BYTES, inBucket, onDisk } from './value-files.ts';
import type { ValueFiles } from './value-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-values-'));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
afterAll(() => Promise.all(closing.map((close) => close())));

async function bucketOf(start: typeof startS3 | typeof startGcs): Promise<ValueFiles> {
  const server = await start();
  closing.push(() => server.stop());
  return inBucket(server.store(), 'logs/.values');
}

it.each([
  ['a disk', async () => onDisk(folder)],
  ['S3', () => bucketOf(startS3)],
  ['Google Cloud Storage', () => bucketOf(startGcs)],
])('parts of a value are kept in %s until the value is removed, and no longer', async (_where, open) => {
  const files = await open();
  const [value, other] = [randomUUID(), randomUUID()].map((id) => ({ tenantId: 'tenant', id }));
  if (!value || !other) throw new Error('unreachable');
  const parts = [Buffer.alloc(PART_BYTES, 'a'), Buffer.from('the end')];
  for (const [part, bytes] of [...parts.entries(), ...parts.entries()]) await files.put(value, part, bytes);
  await files.put(other, 0, Buffer.from('other'));
  expect((await files.get(value, 0, PART_BYTES)).equals(parts[0] ?? Buffer.alloc(0))).toBe(true);
  expect((await files.get(value, 1, 7)).toString()).toBe('the end');
  await files.remove(value, PART_BYTES + 7);
  await files.remove(value, PART_BYTES + 7);
  for (const part of [0, 1]) await expect(files.get(value, part, 7)).rejects.toBeInstanceOf(LogMissingError);
  expect((await files.get(other, 0, 5)).toString()).toBe('other');
  files.close();
});
