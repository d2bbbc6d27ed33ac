/** Claims that are under way, and none: what a trigger or an ended attempt may claim itself depends on it. */
import { sql } from 'kysely';
import { expect } from 'vitest';
import { tryPools } from '@svc/server/engine/sql/slots.ts';
import type { ScriptedScheduler } from './scripted-scheduler.ts';

/** The dispatcher has no work, so it comes to rest. */
export async function nobodyClaims({ db }: ScriptedScheduler): Promise<void> {
  for (let quietLooks = 0; quietLooks < 3;) {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and state <> 'idle'
        and pid <> pg_backend_pid()`.execute(db.shared);
    quietLooks = rows.length === 0 ? quietLooks + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A pool is filled, as by a claim that is under way, for as long as the work takes. */
export const whileFillingPool = <T>(engine: ScriptedScheduler, pool: string, work: () => Promise<T>): Promise<T> =>
  engine.db.shared.transaction().execute(async (trx) => {
    // The scheduler may still be claiming for what came before.
    await expect.poll(async () => (await tryPools(trx, [{ tenant_id: engine.tenant.id, pool }])).size).toBe(1);
    return work();
  });
