/**
 * Cross-task values in Postgres, with an optional cache for large ones. Every call takes the database in the scope of
 * its caller, or a transaction of it. A value can therefore be written in one transaction with related rows.
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

/** `problem` says what is wrong with the value. Nothing was written. */
export type Refusal = { kind: 'refused'; problem: string };

export type FoundXcom = XcomRow & { value: string };

export type XcomStore = {
  /** Writes all entries or none, and replaces existing values. */
  set(db: TenantDb, instance: XcomInstance, entries: readonly XcomEntry[]): Promise<{ kind: 'written' } | Refusal>;
  create(db: TenantDb, instance: XcomInstance, entry: XcomEntry): Promise<{ kind: 'written' | 'exists' } | Refusal>;
  update(db: TenantDb, key: XcomKey, value: string): Promise<{ kind: 'written' | 'missing' } | Refusal>;
  find(db: TenantDb, key: XcomKey): Promise<FoundXcom | undefined>;
  list(db: TenantDb, query: XcomQuery): Promise<XcomPage>;
  /** Returns false if the value did not exist. */
  delete(db: TenantDb, key: XcomKey): Promise<boolean>;
  /** Deletes all values of one task instance, because a new try starts without them. */
  deleteAll(db: TenantDb, instance: Omit<XcomInstance, 'dagId'>): Promise<void>;
};

/** Writes need no cache. Every write gives the value a new version, and the first reader puts it into the cache. */
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
