/**
 * A cache for large values of tasks. It is never stale by construction:
 *
 * - Postgres gives every write of a value a new random `version` (migration 0024: a default and a trigger, so that no
 *   statement can forget it). The cache holds texts by version, and the text of a version never changes.
 * - Every read first asks Postgres for the current version, in the small row without its text. A value that was
 *   overwritten, deleted or cleared has no row with its old version, and neither has a value of a removed run. The
 *   cache is then never asked for that version, even after a crash or a restored backup on either side.
 *
 * Texts below `SIZES.min` come with the row. That costs less than a second round trip (`npm run bench -- xcom`).
 */
import { randomUUID } from 'node:crypto';
import type { SizeRange } from '../db/text-of-value.ts';
import type { TextCache } from '../redis/redis.ts';

/**
 * `value` is null if the text is not in the row. `version` is null for a value from before versions existed, which is
 * not cached.
 */
export type VersionedRow = { tenant_id: string; version: string | null; value: string | null };

export type CacheReads = { hits: number; misses: number; unavailable: number };

export type ValueCache = {
  /**
   * `read(null)` reads the rows with their texts, `read(sizes)` without texts of these sizes. If a text is not in the
   * cache, all are read again from Postgres, so that the answer is consistent.
   */
  readThrough<Row extends VersionedRow>(
    read: (without: SizeRange | null) => Promise<Row[]>,
  ): Promise<(Row & { value: string })[]>;
  /**
   * Returns a version for a value that will be written. Undefined leaves the version to Postgres, and the value is not
   * cached yet.
   */
  versionFor(value: string): string | undefined;
  /** Stores the value in the cache. Call it after the commit. */
  written(tenantId: string, version: string | undefined, value: string): void;
  reads(): CacheReads;
};

const SIZES: SizeRange = { min: 64 * 1024, max: 4 * 1024 * 1024 };
/** Most values are read soon after they were written. A deleted value also stays in the cache for at most this long. */
const TTL_SECONDS = 3_600;

/** Null means that there is no cache, so every read is one statement. */
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

/** The statement without sizes returns every text. */
const withTexts = <Row extends VersionedRow>(rows: readonly Row[]): (Row & { value: string })[] =>
  rows.map((row) => {
    if (row.value === null) throw new Error('a value was read without its text');
    return { ...row, value: row.value };
  });
