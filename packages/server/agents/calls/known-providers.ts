/**
 * Of which versions this process has been told the provider packages. A container for one attempt would otherwise look for
 * them each time, with another Python process, while its task begins.
 */
import { LRUCache } from 'lru-cache';
import { versionKey } from '../../engine/shared/dag-graphs.ts';
import type { VersionRef } from '../../engine/shared/dag-graphs.ts';

const REMEMBERED = 10_000;
/** Who was asked may have died before it could tell. */
const ASK_AGAIN_MS = 60_000;

export type KnownProviders = {
  /** True: whoever is answered now is to tell. Another is asked when that one has not told for a while. */
  ask(version: VersionRef): boolean;
  told(version: VersionRef): void;
};

export function createKnownProviders(): KnownProviders {
  const askedAt = new LRUCache<string, number>({ max: REMEMBERED });
  return {
    ask(version) {
      const key = versionKey(version);
      const now = performance.now();
      if (now - (askedAt.get(key) ?? -Infinity) < ASK_AGAIN_MS) return false;
      askedAt.set(key, now);
      return true;
    },
    told: (version) => void askedAt.set(versionKey(version), Infinity),
  };
}
