/** Opens the object store of the configuration, and checks whether it can be used. */
import { randomUUID } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import type { Config } from '../../config/load.ts';
import type { BootProblem } from '../../config/boot-report.ts';
import { createGcsStore } from './gcs-store.ts';
import { ObjectStoreError } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';
import { objectNames } from './object-names.ts';
import { createS3Store } from './s3-store.ts';

/** Returns undefined for logs on disk. */
export function openObjectStore(
  { logs }: Pick<Config, 'logs'>,
  options: { timeoutMs?: number } = {},
): ObjectStore | undefined {
  const { bucket, credentialsFile } = logs.sink;
  switch (logs.backend) {
    case 'disk':
      return undefined;
    case 'objstore':
      return createS3Store({ ...logs.sink, ...options });
    case 'cloudstore':
      return createGcsStore({ bucket, credentialsFile, ...options });
  }
}

/** Time limit of a check against an unreachable store. */
const CHECK_TIMEOUT_MS = 5_000;

/**
 * Does with a small object what will be done with logs. A refusal is an error. A missing answer is only a warning,
 * because tasks can run without the store. Incomplete settings skip the check, because `checkBoot` reports them.
 */
export async function checkLogSink(
  config: Pick<Config, 'logs' | 'server'>,
  { timeoutMs = CHECK_TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<{ errors: BootProblem[]; warnings: string[] }> {
  const { sink, backend } = config.logs;
  if (backend === 'disk' || sink.bucket === '') return { errors: [], warnings: [] };
  if (backend === 'cloudstore' && sink.credentialsFile !== '') {
    try {
      await access(sink.credentialsFile, constants.R_OK);
    } catch (error) {
      const message = `logs.sink.credentials_file: ${sink.credentialsFile} cannot be read (${(error as Error).message}): name a service-account key file, or leave it empty to use application default credentials`;
      return { errors: [{ key: 'logs.sink.credentials_file', message }], warnings: [] };
    }
  }
  const store = openObjectStore(config, { timeoutMs });
  try {
    if (store) await tryOut(store, `${objectNames(sink.prefix).check}-${randomUUID()}`, config.server.role !== 'api');
    return { errors: [], warnings: [] };
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    if (error.problem === 'away') return { errors: [], warnings: [`logs.backend is ${backend}: ${error.message}`] };
    return {
      errors: [{ key: 'logs.sink.bucket', message: `logs.backend is ${backend}: ${error.message}` }],
      warnings: [],
    };
  } finally {
    store?.close();
  }
}

async function tryOut(store: ObjectStore, key: string, writes: boolean): Promise<void> {
  for await (const _page of store.list(key)) break;
  if (!writes) return;
  const bytes = Buffer.from('svc checks that task logs can be stored here\n');
  await store.write({
    key,
    size: bytes.length,
    owner: 'check',
    async *blocks() {
      yield bytes;
    },
  });
  await store.read(key, { from: 0, to: bytes.length });
  await store.remove([key]);
}
