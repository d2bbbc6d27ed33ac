/**
 * Cross-task values in Postgres. Every call takes the database as its caller may see it, or a transaction of it, so that a
 * value can be written together with what it belongs to.
 */
import type { TenantDb } from '../db/database.ts';
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
import { itemCount, problemWith } from './value.ts';

/** `value` is JSON text. */
export type XcomEntry = { key: string; value: string };

/** `problem` says what is wrong with the value; nothing was written. */
export type Refusal = { kind: 'refused'; problem: string };

export type XcomStore = {
  /** Writes all of them or none, over what is there. */
  set(db: TenantDb, instance: XcomInstance, entries: readonly XcomEntry[]): Promise<{ kind: 'written' } | Refusal>;
  create(db: TenantDb, instance: XcomInstance, entry: XcomEntry): Promise<{ kind: 'written' | 'exists' } | Refusal>;
  update(db: TenantDb, key: XcomKey, value: string): Promise<{ kind: 'written' | 'missing' } | Refusal>;
  find(db: TenantDb, key: XcomKey): Promise<XcomRow | undefined>;
  list(db: TenantDb, query: XcomQuery): Promise<XcomPage>;
  /** False: there was none. */
  delete(db: TenantDb, key: XcomKey): Promise<boolean>;
  /** All values of one task instance: a new try begins without them. */
  deleteAll(db: TenantDb, instance: Omit<XcomInstance, 'dagId'>): Promise<void>;
};

export function createXcomStore({ maxBytes }: { maxBytes: number }): XcomStore {
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
    find: findXcom,
    list: listXcoms,
    delete: deleteXcom,
    deleteAll: deleteXcomsOf,
  };
}

const measured = ({ key, value }: XcomEntry) => ({ key, value, length: itemCount(value) });
