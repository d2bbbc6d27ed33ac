/** A claim that is under way: what a trigger or an ended attempt may claim itself depends on it. */
import { expect } from 'vitest';
import { tryPools } from '@svc/server/engine/sql/slots.ts';
import type { ScriptedScheduler } from './scripted-scheduler.ts';

/** A pool is filled, as by a claim that is under way, for as long as the work takes. */
export const whileFillingPool = <T>(engine: ScriptedScheduler, pool: string, work: () => Promise<T>): Promise<T> =>
  engine.db.shared.transaction().execute(async (trx) => {
    // The scheduler may still be claiming for what came before.
    await expect.poll(async () => (await tryPools(trx, [{ tenant_id: engine.tenant.id, pool }])).size).toBe(1);
    return work();
  });
