/** A server that speaks like S3 (moto), with one bucket. */
import { createS3Store } from '@svc/server/logs/objects/s3-store.ts';
import type { ObjectStore } from '@svc/server/logs/objects/object-store.ts';
import { startEmulator } from './object-stores.ts';

export const TEST_BUCKET = 'task-logs';

export type S3Server = Awaited<ReturnType<typeof startS3>>;

export async function startS3() {
  const emulator = await startEmulator((port) => ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)]);
  const makeBucket = async (): Promise<void> => {
    const made = await fetch(`${emulator.url}/${TEST_BUCKET}`, { method: 'PUT', headers: SIGNED });
    if (!made.ok) throw new Error(`the bucket could not be made: ${made.status} ${await made.text()}`);
  };
  await makeBucket();
  return {
    ...emulator,
    makeBucket,
    /** Everything is forgotten, the bucket too. */
    async forget(): Promise<void> {
      await fetch(`${emulator.url}/moto-api/reset`, { method: 'POST' });
    },
    /** Over a proxy, when one is named. */
    store: (url = emulator.url, options: { bucket?: string; timeoutMs?: number } = {}): ObjectStore =>
      createS3Store({ ...sinkOf(url), ...options }),
    /** Configuration keys. */
    settings: (url = emulator.url): Record<string, string> => ({
      'logs.backend': 'objstore',
      'logs.sink.bucket': TEST_BUCKET,
      'logs.sink.endpoint': url,
      'logs.sink.force_path_style': 'true',
      'logs.sink.access_key_id': 'test',
      'logs.sink.secret_access_key': 'test',
    }),
  };
}

const SIGNED = { authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request' };

const sinkOf = (endpoint: string) => ({
  bucket: TEST_BUCKET,
  region: '',
  endpoint,
  forcePathStyle: true,
  accessKeyId: 'test',
  secretAccessKey: 'test',
});
