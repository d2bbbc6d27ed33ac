/** Deletes task logs older than `logs.retention`, periodically while the process lives. */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { LogStore } from './store.ts';

const SWEEP_EVERY_MS = 60 * 60 * 1000;

type Log = { info(details: object, message: string): void; warn(details: Coded, message: string): void };

export type LogRetention = { start(): void; stop(): Promise<void> };

/** With a retention of zero or less, nothing is deleted and no timer is started. */
export function createLogRetention(input: {
  logs: Pick<LogStore, 'sweep'>;
  retentionMs: number;
  everyMs?: number;
  log: Log;
}): LogRetention {
  const { logs, retentionMs, everyMs = SWEEP_EVERY_MS, log } = input;
  const stopping = new AbortController();
  let sweeping: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function sweep(): Promise<void> {
    try {
      const { removed } = await logs.sweep({ before: Date.now() - retentionMs, signal: stopping.signal });
      if (removed > 0) log.info({ removed }, 'task logs past their retention removed');
    } catch (error) {
      log.warn({ code: 'SVC5001', err: error }, 'old task logs could not be removed; tried again later');
    }
    if (!stopping.signal.aborted) timer = setTimeout(begin, everyMs);
  }

  function begin(): void {
    sweeping = sweep();
  }

  return {
    start() {
      if (retentionMs > 0) begin();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await sweeping;
    },
  };
}
