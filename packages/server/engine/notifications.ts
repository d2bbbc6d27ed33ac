/**
 * Processes of one control plane notify each other that something is to be done, or that attempts are to be stopped. A
 * notification carries no message: truth is in the tables, a lost one costs at most one tick (a stop: one heartbeat of the
 * agent), a repeated one nothing. The first goes out at once; what is wanted in the next moments becomes one, because a
 * transaction that notifies takes a global lock at its commit.
 */
import { randomUUID } from 'node:crypto';
import { listenTo } from '../db/listen.ts';
import type { Listening } from '../db/listen.ts';

const WAKE = 'svc_wake';
const STOP = 'svc_stop';
const COALESCE_MS = 10;

export type Notifications = {
  /** Something is to be done. */
  notifyOthers(): void;
  /** Attempts were superseded that may run elsewhere. */
  notifyStops(): void;
  listen(): void;
  stop(): Promise<void>;
};

export function createNotifications(options: {
  url: string;
  /** With `pg_notify(channel, from)`. */
  send: (channel: string, from: string) => Promise<unknown>;
  /** Null: this process has nothing to do when it is notified. */
  onNotified: (() => void) | null;
  /** Attempts of this process may have been superseded. */
  onStops?: () => void;
  checkEveryMs?: number;
  answerWithinMs?: number;
}): Notifications {
  const { url, send, onNotified, onStops, ...limits } = options;
  const self = randomUUID();
  let listening: Listening | undefined;
  let isStopped = false;
  const wake = createSender(() => send(WAKE, self));
  const stops = createSender(() => send(STOP, self));

  return {
    listen() {
      if (isStopped || !onNotified) return;
      listening ??= listenTo({
        url,
        channels: [WAKE, STOP],
        onNotification(payload, channel) {
          if (payload === self) return; // the sender has acted already
          if (channel === STOP) onStops?.();
          else onNotified();
        },
        // What was sent while nobody listened.
        onListening() {
          onNotified();
          onStops?.();
        },
        ...limits,
      });
    },
    notifyOthers: wake.send,
    notifyStops: stops.send,
    async stop() {
      isStopped = true;
      wake.close();
      stops.close();
      await listening?.stop();
    },
  };
}

/** At once when none was sent lately; otherwise one more, when the time has passed. */
function createSender(send: () => Promise<unknown>): { send(): void; close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  function sendNow(): void {
    send().catch(() => {}); // the tick finds it
    timer = setTimeout(() => {
      timer = undefined;
      if (isWanted) sendNow();
    }, COALESCE_MS);
    isWanted = false;
  }
  return {
    send: () => (timer === undefined ? sendNow() : void (isWanted = true)),
    close: () => clearTimeout(timer),
  };
}
