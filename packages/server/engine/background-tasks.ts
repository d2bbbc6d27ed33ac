/** Work that nobody waits for. Its errors end here: what was not done now is found by the tick. */
import { isOutage } from '../db/outage.ts';
import type { Activity } from './activity.ts';

export type BackgroundTasks = {
  /** `what` for the log: "looking at the next run". Nothing is begun any more after the stop. */
  run(what: string, work: () => Promise<unknown>): void;
  /** Waits for what is under way. */
  stop(): Promise<void>;
};

export function createBackgroundTasks(
  log: { error(details: object, message: string): void },
  activity?: Activity,
): BackgroundTasks {
  const underWay = new Set<Promise<unknown>>();
  let isStopped = false;
  return {
    run(what, work) {
      if (isStopped) return;
      const promise = work().catch((error: unknown) => {
        // An outage is the pool's to report.
        if (!isOutage(error)) log.error({ err: error }, `scheduler: ${what} failed and is tried again`);
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
