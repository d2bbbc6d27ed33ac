/** Reads the facts of starting attempts in batches: attempts of a tenant that start together share a statement. */
import { readTenantFacts } from '../db/attempts/start-facts.ts';
import type { FactsQuery, StartFacts } from '../db/attempts/start-facts.ts';
import type { Database } from '../db/database.ts';
import { createBatches } from '../engine/batches.ts';
import type { Batches } from '../engine/batches.ts';

export type LookUpFacts = (tenantId: string, query: FactsQuery) => Promise<StartFacts>;

const MAX_ATTEMPTS = 100;
/** One batch being sent and one being answered. More would only take database connections from other work. */
const MAX_SETS = 2;

export function createStartFacts(db: Database): LookUpFacts {
  const byTenant = new Map<string, Batches<FactsQuery, StartFacts>>();

  function batchesOf(tenantId: string): Batches<FactsQuery, StartFacts> {
    const known = byTenant.get(tenantId);
    if (known) return known;
    const batches = createBatches<FactsQuery, StartFacts>({
      run: (queries) => readTenantFacts(db.tenant(tenantId), tenantId, queries),
      atMost: MAX_ATTEMPTS,
      concurrency: MAX_SETS,
      gathersTurn: true,
    });
    byTenant.set(tenantId, batches);
    return batches;
  }

  return (tenantId, query) => batchesOf(tenantId).add(query);
}
