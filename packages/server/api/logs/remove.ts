import type { FastifyBaseLogger } from 'fastify';
import type { LogScope } from '../../logs/log-key.ts';
import type { LogStore } from '../../logs/store.ts';

/**
 * Logs of what has been deleted, after the commit. They must go with it: a later run of the same id would write into them.
 * That they could not be removed does not bring back what is gone, so it is told in our own log only.
 */
export async function removeLogs(logs: LogStore, scope: LogScope, log: FastifyBaseLogger): Promise<void> {
  try {
    await logs.remove(scope);
  } catch (error) {
    log.error({ err: error, ...scope }, 'task logs of what was deleted could not be removed');
  }
}
