/**
 * Moves one log one step towards the store, under a lease.
 *
 *   the try runs, and enough bytes for a part wait   they become a part
 *   the try has ended                                everything becomes one object, then the parts are deleted
 *
 * Every step may be repeated and may stop at any point, because only recorded steps count. A process that has lost its
 * lease without noticing does no harm. The name of a part says which bytes it contains, the one object is replaced only
 * if it is unchanged, and the step is not recorded.
 */
import type { Database } from '../../db/database.ts';
import { recordForeignObject, recordObject, recordPart, recordWhole } from '../../db/task-logs/uploads.ts';
import type { Upload } from '../../db/task-logs/uploads.ts';
import type { LogReader } from './log-reader.ts';
import { isProblem } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { ObjectNames } from './object-names.ts';

export type UploadTools = {
  db: Database;
  store: ObjectStore;
  names: ObjectNames;
  reader: LogReader;
  processId: string;
};

/** Maximum size of a part, because it is assembled in memory. */
const MAX_PART_BYTES = 8 * 1024 * 1024;

export async function uploadLog(tools: UploadTools, upload: Upload, signal: AbortSignal): Promise<void> {
  if (!upload.isOver) return uploadPart(tools, upload, signal);
  // If the object is complete, only its parts remain to be deleted.
  const isNew = upload.objectSize < upload.length;
  if (isNew && !(await uploadWhole(tools, upload, signal))) return;
  if (upload.parts.length > 0) await removeParts(tools, upload);
  if (upload.parts.length > 0 || !isNew) await recordWhole(tools.db, heldBy(tools, upload));
}

const heldBy = ({ processId }: UploadTools, { key, id }: Upload) => ({ tenantId: key.tenantId, id, processId });

async function uploadPart(tools: UploadTools, upload: Upload, signal: AbortSignal): Promise<void> {
  const { db, store, names, reader } = tools;
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of reader.readHeld(upload.key, upload, { from: upload.stored, to: upload.length })) {
    if (bytes > 0 && bytes + block.length > MAX_PART_BYTES) break;
    blocks.push(block);
    bytes += block.length;
  }
  if (bytes === 0) return;
  const part = { at: upload.stored, to: upload.stored + bytes };
  await store.write({
    key: names.partOf(upload.key, part),
    size: bytes,
    blocks: () => asyncOf(blocks),
    owner: String(upload.id),
    signal,
  });
  await recordPart(db, heldBy(tools, upload), part);
}

async function* asyncOf(blocks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* blocks;
}

/** Returns false if another object has this key. The next try replaces it. */
async function uploadWhole(tools: UploadTools, upload: Upload, signal: AbortSignal): Promise<boolean> {
  const { db, store, names, reader } = tools;
  const { length: size } = upload;
  const key = names.objectOf(upload.key);
  const owner = String(upload.id);
  const held = heldBy(tools, upload);
  let tag: string;
  try {
    ({ tag } = await store.write({
      key,
      size,
      blocks: () => reader.readHeld(upload.key, upload, { from: 0, to: size }),
      owner,
      replaces: upload.objectTag,
      signal,
    }));
  } catch (error) {
    if (!isProblem(error, 'changed')) throw error;
    const there = await store.head(key);
    if (there?.size !== size || there.owner !== owner) {
      await recordForeignObject(db, held, there?.tag ?? null);
      return false;
    }
    ({ tag } = there); // the object is ours: only the answer was lost
  }
  return recordObject(db, held, { size, tag, isWhole: upload.parts.length === 0 });
}

/** Deletes all parts, including uploaded ones that were never recorded. */
async function removeParts({ store, names }: UploadTools, { key }: Upload): Promise<void> {
  for await (const page of store.list(names.partsOf(key))) await store.remove(page.map((part) => part.key));
}
