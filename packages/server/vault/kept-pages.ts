/**
 * Pages of connections and variables as they were sent, kept in memory: to read a hundred rows and count the rest, to open what
 * is sealed, to mask it and to write it all as JSON takes some 4 ms of processors, and pages of settings are asked for again and
 * again without a change. A page is sent again while the stamp of the tenant's vault is the one it was made after. Only what
 * every reader may see is kept, never what was under the mask.
 */
import { LRUCache } from 'lru-cache';

export type PageKey = {
  tenantId: string;
  /** What was asked for, in every respect that changes the page. */
  query: object;
  /** Read before the page is: what was changed in between is in the page, and the next reader makes it anew. */
  stamp: string;
};

export type KeptPages = { of(key: PageKey, make: () => Promise<string>): Promise<string> };

/** In characters, of keys and pages together: some 300 pages of 100. */
const MAX_SIZE = 8_000_000;

export function createKeptPages(maxSize = MAX_SIZE): KeptPages {
  const kept = new LRUCache<string, { stamp: string; page: string }>({
    maxSize,
    sizeCalculation: ({ page }, key) => key.length + page.length,
  });
  return {
    async of({ tenantId, query, stamp }, make) {
      const key = `${tenantId} ${JSON.stringify(query)}`;
      const known = kept.get(key);
      if (known?.stamp === stamp) return known.page;
      const page = await make();
      kept.set(key, { stamp, page });
      return page;
    },
  };
}
