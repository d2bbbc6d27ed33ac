/**
 * A cache of serialised pages of connections and variables. Reading, unsealing, masking and serialising a page takes
 * processor time, and clients often request unchanged pages of settings. A cached page is valid while the stamp of the
 * tenant's vault is the one from before it was read. Pages contain only what every reader may see, never a masked
 * value.
 */
import { LRUCache } from 'lru-cache';

export type PageKey = {
  tenantId: string;
  /** Everything of the request that changes the page. */
  query: object;
  /**
   * Must be read before the page. A change in between is then in the page, and the next reader builds the page again.
   */
  stamp: string;
};

export type KeptPages = { of(key: PageKey, make: () => Promise<string>): Promise<string> };

/** Characters of keys and pages together, enough for about 300 pages of 100 rows. */
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
