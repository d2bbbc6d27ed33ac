/** An emulator of Google Cloud Storage, with one bucket. The SDK finds it by the variable STORAGE_EMULATOR_HOST. */
import { createGcsStore } from '@svc/server/logs/objects/gcs-store.ts';
import type { ObjectStore } from '@svc/server/logs/objects/object-store.ts';
import { startEmulator } from './object-stores.ts';
import { TEST_BUCKET } from './s3.ts';

export type GcsServer = Awaited<ReturnType<typeof startGcs>>;

export async function startGcs() {
  const emulator = await startEmulator((port) => [
    '-m',
    'gcp_storage_emulator',
    'start',
    '--host=127.0.0.1',
    `--port=${port}`,
    '--in-memory',
    '--quiet',
    `--default-bucket=${TEST_BUCKET}`,
  ]);
  return {
    ...emulator,
    /** The SDK reads the variable when it is opened: one address at a time in a process. */
    store(url = emulator.url, options: { bucket?: string; timeoutMs?: number } = {}): ObjectStore {
      process.env['STORAGE_EMULATOR_HOST'] = url;
      return createGcsStore({ bucket: TEST_BUCKET, credentialsFile: '', ...options });
    },
    settings: (): Record<string, string> => ({ 'logs.backend': 'cloudstore', 'logs.sink.bucket': TEST_BUCKET }),
  };
}
