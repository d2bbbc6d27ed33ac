/**
 * Remembers for which DAG versions this process knows the provider packages. Otherwise each container for one attempt
 * would look for them, with another Python process, while its task begins.
 */
import { LRUCache } from 'lru-cache';
import { versionKey } from '../../engine/shared/dag-graphs.ts';
import type { VersionRef } from '../../engine/shared/dag-graphs.ts';

const REMEMBERED = 10_000;
/** The agent that was asked may have died before it answered. */
const ASK_AGAIN_MS = 60_000;

export type KnownProviders = {
  /**
   * True when the agent that is answered now must report. Another agent is asked if that one does not report for a
   * while.
   */
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
