/**
 * Callbacks of runs, and of tasks that could not call their own, run by agents like attempts do: started, finished, idempotent.
 *
 *   queued ──start──▶ running ──finish──▶ done | failed
 *
 * The id of the request is the attempt's id.
 */
import type { Database } from '../db/database.ts';
import type { RunRow } from '../engine/attempts.ts';
import type { AttemptIdentity } from './credentials.ts';

export type StartedCallback = { run: RunRow; callback: { id: string; which: string; reason: string } };

export type CallbackRequests = {
  /** Undefined when it is over, or its run is gone. */
  start(identity: AttemptIdentity): Promise<StartedCallback | undefined>;
  finish(identity: AttemptIdentity, succeeded: boolean): Promise<'recorded' | 'stale'>;
};

export function createCallbackRequests(db: Database): CallbackRequests {
  return {
    async start({ tenantId, attemptId, run }) {
      const scoped = db.tenant(tenantId);
      const callback = await scoped
        .updateTable('callback_requests')
        .set({ state: 'running', started_at: new Date() })
        .where('id', '=', attemptId)
        .where('state', 'in', ['queued', 'running'])
        .returning(['id', 'which', 'reason'])
        .executeTakeFirst();
      if (!callback) return undefined;
      const row = await scoped.selectFrom('dag_runs').selectAll().where('id', '=', run).executeTakeFirst();
      return row && { run: row, callback };
    },

    async finish({ tenantId, attemptId }, succeeded) {
      const result = await db
        .tenant(tenantId)
        .updateTable('callback_requests')
        .set({ state: succeeded ? 'done' : 'failed' })
        .where('id', '=', attemptId)
        .where('state', 'in', ['queued', 'running'])
        .executeTakeFirst();
      return result.numUpdatedRows > 0n ? 'recorded' : 'stale';
    },
  };
}
