/** Runs work for which no caller waits. Its errors end here, because the tick finds what was not done. */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { isOutage } from '../db/outage.ts';
import type { Activity } from './activity.ts';

export type BackgroundTasks = {
  /** `what` names the work for the log, such as "looking at the next run". After the stop no work is started. */
  run(what: string, work: () => Promise<unknown>): void;
  /** Waits for the work that is under way. */
  stop(): Promise<void>;
};

export function createBackgroundTasks(
  log: { error(details: Coded, message: string): void },
  activity?: Activity,
): BackgroundTasks {
  const underWay = new Set<Promise<unknown>>();
  let isStopped = false;
  return {
    run(what, work) {
      if (isStopped) return;
      const promise = work().catch((error: unknown) => {
        // The connection pool reports outages.
        if (!isOutage(error))
          log.error({ code: 'SVC2002', err: error }, `scheduler: ${what} failed and is tried again`);
      });
      underWay.add(promise);
      void activity?.track(promise);
      void promise.finally(() => underWay.delete(promise));
    },
    async stop() {
      isStopped = true;
      await Promise.allSettled(underWay);
    },
  };
}
