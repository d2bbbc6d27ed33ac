/** Checks at start whether the store of task logs can be used. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../../config/load.ts';
import { checkLogSink } from './open-store.ts';

/** Readiness waits this long for the answer of the store. */
const WAIT_MS = 3_000;

/**
 * Returns messages for the operator that say why the store cannot be used. The list is empty if it can be used, or if
 * it does not answer in time. A refusal by the store is treated like a wrong key and stops the start. A store that does
 * not answer only delays readiness, because tasks can run without it. A later answer is logged.
 */
export async function askLogSink(config: Config, logger: Logger): Promise<readonly string[]> {
  let isWaiting = true;
  const said = checkLogSink(config).then(
    ({ errors, warnings }) => {
      for (const warning of warnings) logger.warn({ code: 'SVC5006' }, warning);
      const messages = errors.map(({ message }) => message);
      if (!isWaiting) for (const message of messages) logger.error({ code: 'SVC5007' }, message);
      return messages;
    },
    (error: unknown) => {
      logger.error({ code: 'SVC5008', err: error }, 'the store of task logs could not be checked');
      return [];
    },
  );
  const answered = new AbortController();
  const enough = sleep(WAIT_MS, [], { ref: false, signal: answered.signal }).catch(() => []);
  const messages = await Promise.race([said, enough]);
  isWaiting = false;
  answered.abort();
  return messages;
}
