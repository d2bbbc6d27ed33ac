/** Removes the logs of removed runs from their store, after the runs. */
import type { Database } from '../db/database.ts';
import { findRemovedLogs, forgetRemovedLogs } from '../db/prune/removed-logs.ts';
import type { LogStore } from '../logs/store.ts';

export type LogRemoval = {
  /** Removes all noted logs. Returns the number of their runs. */
  removeNoted(signal?: AbortSignal): Promise<number>;
};

const AT_ONCE = 100;

export function createLogRemoval(input: { db: Database; logs: Pick<LogStore, 'remove'> }): LogRemoval {
  const { db, logs } = input;
  return {
    async removeNoted(signal) {
      let done = 0;
      for (;;) {
        const noted = await findRemovedLogs(db.shared, AT_ONCE);
        if (noted.length === 0 || signal?.aborted) return done;
        for (const { tenantId, dagId, runId, isTaken } of noted)
          if (!isTaken) await logs.remove({ tenantId, dagId, runId });
        await forgetRemovedLogs(db.shared, noted);
        done += noted.length;
      }
    },
  };
}
