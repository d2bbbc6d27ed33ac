/** Facts of starting attempts, read in sets: attempts of a tenant that start together share a statement. */
import type { Database } from '../db/database.ts';
import { readStartFactsOfTenant } from '../db/attempts/start-facts.ts';
import type { FactsQuery, StartFacts } from '../db/attempts/start-facts.ts';
import { createBatcher } from './batcher.ts';

export type ReadStartFacts = (tenantId: string, query: FactsQuery) => Promise<StartFacts>;

export function createStartFacts(db: Database): ReadStartFacts {
  const batchers = new Map<string, (query: FactsQuery) => Promise<StartFacts>>();
  return (tenantId, query) => {
    const batcher =
      batchers.get(tenantId) ??
      createBatcher((queries) => readStartFactsOfTenant(db.tenant(tenantId), tenantId, queries));
    batchers.set(tenantId, batcher);
    return batcher(query);
  };
}
