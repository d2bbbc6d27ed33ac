/**
 * Large values of tasks in a cache beside Postgres, never stale by construction:
 *
 *   - Postgres gives every write of a value a new random `version` (migration 0024: a default and a trigger, so that no
 *     statement can forget it), and the cache holds texts by version. What a version means never changes.
 *   - Every read asks Postgres first which version counts, in the small row without its text. A value that was overwritten,
 *     deleted, cleared or whose run is gone has no row with that version any more, so nobody asks the cache for it: whatever
 *     was away, died halfway or was restored from an old dump, on either side.
 *
 * Texts below `MIN_BYTES` come with the row: they cost less than a second round trip (`npm run bench -- xcom`).
 */
import { randomUUID } from 'node:crypto';
import type { SizeRange } from '../db/text-of-value.ts';
import type { TextCache } from '../redis/redis.ts';

/** `value` null: its text is not with the row. `version` null: written before there were any, and not cached. */
export type VersionedRow = { tenant_id: string; version: string | null; value: string | null };

export type CacheReads = { hits: number; misses: number; unavailable: number };

export type ValueCache = {
  /**
   * `read(null)` reads the rows with their texts, `read(sizes)` without those of these sizes. When one of the texts is not in
   * the cache all are read from Postgres again, so that what is answered was true at one moment.
   */
  readThrough<Row extends VersionedRow>(
    read: (without: SizeRange | null) => Promise<Row[]>,
  ): Promise<(Row & { value: string })[]>;
  /** For a value that is about to be written; undefined: Postgres gives it one, and it is not cached yet. */
  versionFor(value: string): string | undefined;
  /** Once it is committed. */
  written(tenantId: string, version: string | undefined, value: string): void;
  reads(): CacheReads;
};

const SIZES: SizeRange = { min: 64 * 1024, max: 4 * 1024 * 1024 };
/** A value is mostly read soon after it was written. Also how long one may lie there that was deleted. */
const TTL_SECONDS = 3_600;

/** Null: there is none, and every read is one statement. */
export function createValueCache(cache: TextCache | null, sizes: SizeRange = SIZES): ValueCache {
  const reads: CacheReads = { hits: 0, misses: 0, unavailable: 0 };
  const isCached = (value: string): boolean => {
    const bytes = Buffer.byteLength(value);
    return bytes >= sizes.min && bytes <= sizes.max;
  };

  async function readThrough<Row extends VersionedRow>(
    read: (without: SizeRange | null) => Promise<Row[]>,
  ): Promise<(Row & { value: string })[]> {
    if (!cache) return withTexts(await read(null));
    if (!cache.isUp()) {
      reads.unavailable += 1;
      return withTexts(await read(null));
    }
    const rows = await read(sizes);
    const keys = rows.flatMap((row) => (row.value === null ? [keyOf(row.tenant_id, row.version ?? '')] : []));
    if (keys.length === 0) return withTexts(rows);
    const texts = await cache.getMany(keys);
    if (texts?.every((text) => text !== null)) {
      reads.hits += texts.length;
      const left = texts.values();
      return withTexts(rows.map((row) => (row.value === null ? { ...row, value: left.next().value ?? null } : row)));
    }
    if (texts) reads.misses += 1;
    else reads.unavailable += 1;
    const whole = withTexts(await read(null));
    if (texts) for (const row of whole) written(row.tenant_id, row.version ?? undefined, row.value);
    return whole;
  }

  function written(tenantId: string, version: string | undefined, value: string): void {
    if (cache?.isUp() && version !== undefined && isCached(value))
      cache.put(keyOf(tenantId, version), value, TTL_SECONDS);
  }

  return {
    readThrough,
    versionFor: (value) => (cache?.isUp() && isCached(value) ? randomUUID() : undefined),
    written,
    reads: () => reads,
  };
}

const keyOf = (tenantId: string, version: string): string => `svc:xcom:${tenantId}:${version}`;

/** The statement without sizes has every text. */
const withTexts = <Row extends VersionedRow>(rows: readonly Row[]): (Row & { value: string })[] =>
  rows.map((row) => {
    if (row.value === null) throw new Error('a value was read without its text');
    return { ...row, value: row.value };
  });
