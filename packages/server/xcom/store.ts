/**
 * Cross-task values in Postgres, the large ones beside it in a cache when there is one. Every call takes the database as its caller may see it, or a transaction of it, so that a
 * value can be written together with what it belongs to.
 */
import type { TenantDb } from '../db/database.ts';
import type { SizeRange } from '../db/text-of-value.ts';
import {
  deleteXcom,
  deleteXcomsOf,
  findXcom,
  insertXcom,
  listXcoms,
  updateXcom,
  upsertXcoms,
} from '../db/task-instances/xcoms.ts';
import type { XcomInstance, XcomKey, XcomPage, XcomQuery, XcomRow } from '../db/task-instances/xcoms.ts';
import { createValueCache } from './value-cache.ts';
import type { ValueCache } from './value-cache.ts';
import { itemCount, problemWith } from './value.ts';

/** `value` is JSON text. */
export type XcomEntry = { key: string; value: string };

/** `problem` says what is wrong with the value; nothing was written. */
export type Refusal = { kind: 'refused'; problem: string };

export type FoundXcom = XcomRow & { value: string };

export type XcomStore = {
  /** Writes all of them or none, over what is there. */
  set(db: TenantDb, instance: XcomInstance, entries: readonly XcomEntry[]): Promise<{ kind: 'written' } | Refusal>;
  create(db: TenantDb, instance: XcomInstance, entry: XcomEntry): Promise<{ kind: 'written' | 'exists' } | Refusal>;
  update(db: TenantDb, key: XcomKey, value: string): Promise<{ kind: 'written' | 'missing' } | Refusal>;
  find(db: TenantDb, key: XcomKey): Promise<FoundXcom | undefined>;
  list(db: TenantDb, query: XcomQuery): Promise<XcomPage>;
  /** False: there was none. */
  delete(db: TenantDb, key: XcomKey): Promise<boolean>;
  /** All values of one task instance: a new try begins without them. */
  deleteAll(db: TenantDb, instance: Omit<XcomInstance, 'dagId'>): Promise<void>;
};

/** Writes need no cache: every one gets a new version, and who reads it first puts it there. */
export function createXcomStore(input: { maxBytes: number; cache?: ValueCache }): XcomStore {
  const { maxBytes, cache = createValueCache(null) } = input;
  const refusalOf = (entries: readonly XcomEntry[]): Refusal | undefined => {
    for (const { key, value } of entries) {
      const problem = problemWith(key, value, maxBytes);
      if (problem !== undefined) return { kind: 'refused', problem };
    }
    return undefined;
  };

  return {
    async set(db, instance, entries) {
      const refusal = refusalOf(entries);
      if (refusal) return refusal;
      await upsertXcoms(db, instance, entries.map(measured));
      return { kind: 'written' };
    },
    async create(db, instance, entry) {
      const refusal = refusalOf([entry]);
      if (refusal) return refusal;
      return { kind: (await insertXcom(db, instance, measured(entry))) ? 'written' : 'exists' };
    },
    async update(db, key, value) {
      const refusal = refusalOf([{ key: key.key, value }]);
      if (refusal) return refusal;
      return { kind: (await updateXcom(db, key, { value, length: itemCount(value) })) ? 'written' : 'missing' };
    },
    async find(db, key) {
      const read = async (without: SizeRange | null) => {
        const row = await findXcom(db, key, without);
        return row ? [row] : [];
      };
      return (await cache.readThrough(read))[0];
    },
    list: listXcoms,
    delete: deleteXcom,
    deleteAll: deleteXcomsOf,
  };
}

const measured = ({ key, value }: XcomEntry) => ({ key, value, length: itemCount(value) });
