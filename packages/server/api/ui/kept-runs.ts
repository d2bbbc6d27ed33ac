/**
 * A cache of the newest runs of DAGs as JSON, for the DAG list of the web UI, valid until one of the runs changes.
 * Every open page requests hundreds of runs every few seconds.
 */
import { LRUCache } from 'lru-cache';
import { findNewestRuns, findStatesOfNewestRuns } from '../../db/dag-runs/dag-runs.ts';
import type { TenantDb } from '../../db/database.ts';

type Asked = { tenantId: string; dagIds: readonly string[]; limit: number };

export type KeptRuns = {
  /** Omits DAGs without runs. */
  read(scope: TenantDb, asked: Asked): Promise<Map<string, string>>;
};

/** In characters, of which most take one byte. */
const KEPT_SIZE = 16 * 2 ** 20;

export function createKeptRuns(): KeptRuns {
  const kept = new LRUCache<string, string>({
    maxSize: KEPT_SIZE,
    sizeCalculation: (text, key) => text.length + key.length,
  });
  return {
    async read(scope, { tenantId, dagIds, limit }) {
      const states = await findStatesOfNewestRuns(scope, { tenantId, dagIds, limit });
      const keyOf = (dagId: string): string => `${tenantId} ${limit} ${states.get(dagId) ?? ''}`;
      const texts = new Map<string, string>();
      const missing: string[] = [];
      for (const dagId of states.keys()) {
        const text = kept.get(keyOf(dagId));
        if (text === undefined) missing.push(dagId);
        else texts.set(dagId, text);
      }
      // If a run changes now, the key of the next read changes as well.
      for (const [dagId, runs] of await findNewestRuns(scope, { tenantId, dagIds: missing, limit })) {
        const text = JSON.stringify(runs);
        texts.set(dagId, text);
        kept.set(keyOf(dagId), text);
      }
      return texts;
    },
  };
}
