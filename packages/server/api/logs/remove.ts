import type { FastifyBaseLogger } from 'fastify';
import type { LogScope } from '../../logs/log-key.ts';
import type { LogStore } from '../../logs/store.ts';

/**
 * Removes the logs of deleted rows, after the commit. A later run with the same id would otherwise append to them. If
 * the removal fails, the rows are deleted anyway, so the failure is only logged.
 */
export async function removeLogs(logs: LogStore, scope: LogScope, log: FastifyBaseLogger): Promise<void> {
  try {
    await logs.remove(scope);
  } catch (error) {
    log.error({ code: 'SVC5012', err: error, ...scope }, 'task logs of what was deleted could not be removed');
  }
}
