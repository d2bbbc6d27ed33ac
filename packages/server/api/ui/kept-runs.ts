/**
 * The newest runs of DAGs as the DAG list of the web UI has them, as JSON, kept until one of them changes. A page of 50 DAGs has
 * 700 runs and is asked for every few seconds, by everybody who looks at it: to read and write them anew took most of it.
 */
import { LRUCache } from 'lru-cache';
import { findNewestRuns, findStatesOfNewestRuns } from '../../db/dag-runs/dag-runs.ts';
import type { TenantDb } from '../../db/database.ts';

type Asked = { tenantId: string; dagIds: readonly string[]; limit: number };

export type KeptRuns = {
  /** Of those that have any. */
  read(scope: TenantDb, asked: Asked): Promise<Map<string, string>>;
};

/** Characters, of which most take a byte. */
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
      // Whoever changes one of them now changes what the next reader asks for, too.
      for (const [dagId, runs] of await findNewestRuns(scope, { tenantId, dagIds: missing, limit })) {
        const text = JSON.stringify(runs);
        texts.set(dagId, text);
        kept.set(keyOf(dagId), text);
      }
      return texts;
    },
  };
}
