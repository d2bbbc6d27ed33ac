/**
 * Reads the bytes of a log from its one object, from parts, or from chunks of the database. Bytes move during a read: a
 * part is uploaded and its chunks are deleted, then the one object is made and the parts are deleted. If bytes are no
 * longer at their place, the row is read again. Written bytes never change, so blocks of objects can be cached.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { findTaskLog, readLogChunks } from '../../db/task-logs/task-logs.ts';
import type { TaskLogRow } from '../../db/task-logs/task-logs.ts';
import type { LogKey } from '../log-key.ts';
import type { ByteRange } from '../store.ts';
import { ObjectStoreError, isProblem } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { ObjectNames } from './object-names.ts';

export type LogReader = {
  read(logKey: LogKey, range?: ByteRange): AsyncGenerator<Buffer>;
  /** Yields the bytes `from` to `to` of a log. The caller holds the row, so no other process changes it. */
  readHeld(logKey: LogKey, row: TaskLogRow, range: { from: number; to: number }): AsyncGenerator<Buffer>;
};

/**
 * Size of one request to the store. A search reads one block after the other, and the last lines are usually in one
 * block.
 */
const BLOCK_BYTES = 512 * 1024;
const KEPT_BLOCKS = 32;
/** Blocks are passed on in small pieces, so that work on one does not block the event loop (disk-store.ts). */
const PIECE_BYTES = 64 * 1024;
const CHUNK_BYTES = 1024 * 1024;
/** If bytes are not where the row says, the read is repeated this many times, each time with a new row. */
const LOOKS = 5;

type Place = { kind: 'object'; name: string; at: number; to: number } | { kind: 'chunks'; to: number };

export function createLogReader(input: {
  db: Database;
  store: Pick<ObjectStore, 'read'>;
  names: ObjectNames;
}): LogReader {
  const { db, store, names } = input;
  const blocks = new LRUCache<string, Promise<Buffer>>({ max: KEPT_BLOCKS });

  /** Returns the whole block of the object that contains byte `from` of the log. */
  function blockWith(
    id: number,
    place: Place & { kind: 'object' },
    from: number,
  ): { at: number; bytes: Promise<Buffer> } {
    const at = place.at + Math.floor((from - place.at) / BLOCK_BYTES) * BLOCK_BYTES;
    const to = Math.min(at + BLOCK_BYTES, place.to);
    const name = `${id} ${at} ${to}`;
    const known = blocks.get(name);
    if (known) return { at, bytes: known };
    const bytes = store.read(place.name, { from: at - place.at, to: to - place.at });
    blocks.set(name, bytes);
    bytes.catch(() => blocks.get(name) === bytes && blocks.delete(name));
    return { at, bytes };
  }

  async function* objectBytes(
    id: number,
    place: Place & { kind: 'object' },
    from: number,
    to: number,
  ): AsyncGenerator<Buffer> {
    for (let next = blockWith(id, place, from); ;) {
      const { at, bytes } = next;
      const block = await bytes;
      const end = at + block.length;
      // Prefetches the next block while the caller uses this one.
      if (end < to) (next = blockWith(id, place, end)).bytes.catch(() => {});
      yield block.subarray(Math.max(0, from - at), Math.max(0, to - at));
      if (end >= to) return;
    }
  }

  async function* chunkBytes(log: { tenantId: string; id: number }, from: number, to: number): AsyncGenerator<Buffer> {
    for (let at = from; at < to;) {
      const chunks = await readLogChunks(db, log, { from: at, maxBytes: CHUNK_BYTES });
      const before = at;
      for (const chunk of chunks) {
        if (at < chunk.at || at >= to) break; // uploaded in the meantime, or enough read
        const bytes = chunk.bytes.subarray(at - chunk.at, to - chunk.at);
        at += bytes.length;
        if (bytes.length > 0) yield bytes;
      }
      if (at === before) return;
    }
  }

  async function* readPlace(logKey: LogKey, row: TaskLogRow, from: number, to: number): AsyncGenerator<Buffer> {
    const place = placeOf(names, logKey, row, from);
    const end = Math.min(to, place.to);
    if (place.kind === 'object') yield* objectBytes(row.id, place, from, end);
    else yield* chunkBytes({ tenantId: logKey.tenantId, id: row.id }, from, end);
  }

  /** Throws if bytes of an object are not where the row says. Ends early if chunks have been deleted. */
  async function* readHeld(
    logKey: LogKey,
    row: TaskLogRow,
    { from, to }: { from: number; to: number },
  ): AsyncGenerator<Buffer> {
    for (let at = from; at < to;) {
      const before = at;
      for await (const bytes of readPlace(logKey, row, at, to)) {
        at += bytes.length;
        yield bytes;
      }
      if (at === before) return;
    }
  }

  async function* read(
    logKey: LogKey,
    { from = 0, to = Number.POSITIVE_INFINITY }: ByteRange = {},
  ): AsyncGenerator<Buffer> {
    let id: number | undefined;
    let looks = 0;
    for (let at = from; at < to;) {
      const row = await findTaskLog(db, logKey);
      id ??= row?.id;
      // The read also ends if the log was removed, even if it was started again.
      if (!row || row.id !== id || at >= row.length) return;
      const before = at;
      try {
        for await (const bytes of readHeld(logKey, row, { from: at, to: Math.min(to, row.length) })) {
          at += bytes.length;
          for (let piece = 0; piece < bytes.length; piece += PIECE_BYTES)
            yield bytes.subarray(piece, piece + PIECE_BYTES);
        }
      } catch (error) {
        if (!isProblem(error, 'missing')) throw error;
      }
      looks = at > before ? 0 : looks + 1;
      if (looks === LOOKS)
        throw new ObjectStoreError(
          'missing',
          `the object ${names.objectOf(logKey)}, or a part of it, is not in the store any more (from byte ${at} of the log): something else has deleted it, such as a lifecycle rule of the bucket`,
        );
    }
  }

  return { read, readHeld };
}

function placeOf(names: ObjectNames, logKey: LogKey, row: TaskLogRow, at: number): Place {
  if (at < row.objectSize) return { kind: 'object', name: names.objectOf(logKey), at: 0, to: row.objectSize };
  const part = row.parts.find((each) => each.at <= at && at < each.to);
  if (part) return { kind: 'object', name: names.partOf(logKey, part), at: part.at, to: part.to };
  return { kind: 'chunks', to: row.length };
}
