/** Removes stored values that no XCom names any more, periodically while the process lives. */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { StoredValues } from './stored-values.ts';

const LOOK_EVERY_MS = 60_000;

type Log = { info(details: object, message: string): void; warn(details: Coded, message: string): void };

type ValueCollector = { start(): void; stop(): Promise<void> };

export function createValueCollector(input: {
  values: Pick<StoredValues, 'collect'>;
  everyMs?: number;
  log: Log;
}): ValueCollector {
  const { values, everyMs = LOOK_EVERY_MS, log } = input;
  const stopping = new AbortController();
  let collecting: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function collect(): Promise<void> {
    try {
      const removed = await values.collect(stopping.signal);
      if (removed > 0) log.info({ removed }, 'large values of tasks that nothing uses any more removed');
    } catch (error) {
      log.warn({ code: 'SVC5010', err: error }, 'unused large values of tasks could not be removed; tried again later');
    }
    if (!stopping.signal.aborted) timer = setTimeout(begin, everyMs);
  }

  function begin(): void {
    collecting = collect();
  }

  return {
    start: begin,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await collecting;
    },
  };
}
