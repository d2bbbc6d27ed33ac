/** Asks the store of task logs, while a process starts, whether it can be used. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../../config/load.ts';
import { checkLogSink } from './open-store.ts';

/** How long readiness waits for the word of the store. */
const WAIT_MS = 3_000;

/**
 * Returns why the store cannot be used, in words for the operator; empty when it can, or when it says nothing within the wait. A
 * store that says no is refused like a wrong key. One that says nothing delays readiness for a moment only: tasks can run without
 * it. What it says later is logged.
 */
export async function askLogSink(config: Config, logger: Logger): Promise<readonly string[]> {
  let isWaiting = true;
  const said = checkLogSink(config).then(
    ({ errors, warnings }) => {
      for (const warning of warnings) logger.warn(warning);
      const messages = errors.map(({ message }) => message);
      if (!isWaiting) for (const message of messages) logger.error(message);
      return messages;
    },
    (error: unknown) => {
      logger.error({ err: error }, 'the store of task logs could not be checked');
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
