/**
 * Values of tasks that are too large for Postgres. A task sends one in parts, and then names it in an XCom:
 *
 *   append, append, …     the row of the value counts what the store has
 *   complete              the XCom is written, with the id of the value, in the transaction of the task's end
 *   unused                no XCom names it any more, whatever the reason: the collector removes the bytes, then the row
 *
 * A part is in the store before the row counts it, and a value is complete before an XCom names it. A process that dies
 * in between therefore loses nothing that was acknowledged, and leaves only values that no XCom names.
 */
import type { AttemptKey } from '../../db/attempts/live-attempts.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import {
  beginStoredValue,
  completeValuesOf,
  findStoredValue,
  findUnusedValues,
  forgetStoredValue,
  growStoredValue,
} from '../../db/task-instances/stored-values.ts';
import type { StoredSize } from '../../db/task-instances/stored-values.ts';
import { PART_BYTES } from './value-files.ts';
import type { ValueFiles, ValueId } from './value-files.ts';

export type StoredValues = {
  /** Returns how many bytes are stored now, or why the part was refused. A repeated part changes nothing. */
  append(
    attempt: AttemptKey & { tenantId: string },
    part: ValuePart,
  ): Promise<{ received: number } | { refused: string }>;
  /** Returns one part and the size of the whole value. Undefined when there is no such value. */
  read(db: TenantDb, value: ValueId, part: number): Promise<{ bytes: number; data: Buffer } | undefined>;
  /** Returns the whole value, or only its size when it has more than `maxBytes`. Undefined when there is no such value. */
  readText(
    db: TenantDb,
    value: ValueId,
    maxBytes: number,
  ): Promise<{ bytes: number; text: string | undefined } | undefined>;
  /** Returns those of the ids that are no complete values of the attempt. */
  missing(attempt: { tenantId: string; attemptId: string }, ids: readonly string[]): Promise<string[]>;
  /** Removes values that no XCom names. Returns their number. */
  collect(signal?: AbortSignal): Promise<number>;
  close(): void;
};

/** `bytes`: of the whole value. `offset` is a multiple of the size of a part. */
type ValuePart = { id: string; bytes: number; offset: number; data: Buffer };

const COLLECTED_AT_ONCE = 100;

export function createStoredValues(input: { db: Database; files: ValueFiles }): StoredValues {
  const { db, files } = input;

  async function read(scoped: TenantDb, value: ValueId, part: number, known?: StoredSize) {
    const size = known ?? (await findStoredValue(scoped, value.id));
    const length = size && Math.min(PART_BYTES, size.bytes - part * PART_BYTES);
    if (!size || !length || length <= 0 || size.received < size.bytes) return undefined;
    return { bytes: size.bytes, data: await files.get(value, part, length) };
  }

  return {
    async append({ tenantId, ...attempt }, { id, bytes, offset, data }) {
      const scoped = db.tenant(tenantId);
      const size = await beginStoredValue(scoped, { tenantId, ...attempt }, { id, bytes });
      if (!size) return { refused: 'the attempt is over' };
      const end = offset + data.length;
      if (size.bytes !== bytes || end > bytes || (data.length !== PART_BYTES && end !== bytes))
        return { refused: `${data.length} bytes at ${offset} are no part of a value of ${size.bytes} bytes` };
      if (offset > size.received) return { refused: `the part at ${size.received} is missing` };
      if (offset < size.received) return { received: size.received };
      await files.put({ tenantId, id }, offset / PART_BYTES, data);
      await growStoredValue(scoped, id, { from: offset, to: end });
      return { received: end };
    },
    read: (scoped, value, part) => read(scoped, value, part),
    async readText(scoped, value, maxBytes) {
      const size = await findStoredValue(scoped, value.id);
      if (!size || size.received < size.bytes) return undefined;
      if (size.bytes > maxBytes) return { bytes: size.bytes, text: undefined };
      const parts: Buffer[] = [];
      for (let part = 0; part * PART_BYTES < size.bytes; part += 1) {
        const found = await read(scoped, value, part, size);
        if (found) parts.push(found.data);
      }
      return { bytes: size.bytes, text: Buffer.concat(parts).toString() };
    },
    async missing({ tenantId, attemptId }, ids) {
      if (ids.length === 0) return [];
      const complete = await completeValuesOf(db.tenant(tenantId), attemptId, ids);
      return ids.filter((id) => !complete.has(id));
    },
    async collect(signal) {
      for (let removed = 0; ;) {
        const unused = await findUnusedValues(db.shared, COLLECTED_AT_ONCE);
        for (const { tenant_id: tenantId, id, bytes } of unused) {
          if (signal?.aborted) return removed;
          await files.remove({ tenantId, id }, bytes);
          await forgetStoredValue(db.tenant(tenantId), id);
          removed += 1;
        }
        if (unused.length < COLLECTED_AT_ONCE) return removed;
      }
    },
    close: () => files.close(),
  };
}
