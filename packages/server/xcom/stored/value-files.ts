/**
 * Keeps the bytes of large values where task logs are kept, in parts of one size:
 *
 *   {logs.dir}/{prefix}/.values/{tenant}/{id}/{part}    on a disk
 *   {prefix}/.values/{tenant}/{id}/{part}               in a bucket
 *
 * No encoded id of a log begins with a dot, so the names of logs and values never meet. A part never changes. It is in
 * the store when `put` returns, so it survives any end of this process and, on a disk, a power cut.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/load.ts';
import { explainDiskError } from '../../logs/disk-errors.ts';
import { encodeName } from '../../logs/log-key.ts';
import { ObjectStoreError } from '../../logs/objects/object-store.ts';
import type { ObjectStore } from '../../logs/objects/object-store.ts';
import { openObjectStore } from '../../logs/objects/open-store.ts';
import { LogMissingError, LogStorageError } from '../../logs/store.ts';

/** One call carries one part, so this bounds the memory of a control plane and an agent for each value in transit. */
export const PART_BYTES = 1024 * 1024;

export type ValueId = { tenantId: string; id: string };

export type ValueFiles = {
  put(value: ValueId, part: number, bytes: Buffer): Promise<void>;
  /** Throws a `LogStorageError`, or a `LogMissingError` when the part does not exist. */
  get(value: ValueId, part: number, bytes: number): Promise<Buffer>;
  /** A value that does not exist is no error. */
  remove(value: ValueId, bytes: number): Promise<void>;
  close(): void;
};

export function createValueFiles(config: Pick<Config, 'logs'>): ValueFiles {
  const { dir, sink } = config.logs;
  const prefix = [...sink.prefix.split('/').filter((part) => part !== ''), ''].map((part) =>
    part === '' ? FOLDER : encodeName(part, { caseSensitive: true }),
  );
  const store = openObjectStore(config);
  return store ? inBucket(store, prefix.join('/')) : onDisk(join(dir, ...prefix));
}

const FOLDER = '.values';
const partsOf = (bytes: number): number[] => Array.from({ length: Math.ceil(bytes / PART_BYTES) }, (_, part) => part);

export function onDisk(root: string): ValueFiles {
  const folderOf = ({ tenantId, id }: ValueId): string => join(root, tenantId, id);
  const explained = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        throw new LogMissingError(`${root} does not have this value of a task`, error);
      throw explainDiskError(error, root);
    });

  async function put(value: ValueId, part: number, bytes: Buffer): Promise<void> {
    const folder = folderOf(value);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = join(folder, `${part}.${randomUUID()}`);
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(folder, String(part)));
    await syncFolder(folder);
  }

  return {
    put: (value, part, bytes) => explained(put(value, part, bytes)),
    get: (value, part) => explained(readFile(join(folderOf(value), String(part)))),
    async remove(value) {
      await explained(rm(folderOf(value), { recursive: true, force: true }));
      await rmdir(dirname(folderOf(value))).catch(() => {}); // it has other values, or another process removed it
    },
    close() {},
  };
}

/** Makes the name of a new file as durable as its content. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function inBucket(store: ObjectStore, root: string): ValueFiles {
  const keyOf = ({ tenantId, id }: ValueId, part: number): string => `${root}/${tenantId}/${id}/${part}`;
  return {
    async put(value, part, bytes) {
      const write = store.write({
        key: keyOf(value, part),
        size: bytes.length,
        owner: value.id,
        async *blocks() {
          yield bytes;
        },
      });
      await fromBucket(write);
    },
    get: (value, part, bytes) => fromBucket(store.read(keyOf(value, part), { from: 0, to: bytes })),
    remove: (value, bytes) => fromBucket(store.remove(partsOf(bytes).map((part) => keyOf(value, part)))),
    close: () => store.close(),
  };
}

function fromBucket<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof ObjectStoreError)) throw error;
    const Kind = error.problem === 'missing' ? LogMissingError : LogStorageError;
    throw new Kind(error.message, error);
  });
}
