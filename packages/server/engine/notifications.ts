/**
 * Processes of one control plane notify each other that there is work, or that attempts must stop. A notification
 * carries no content, because Postgres has the truth. A lost one costs at most one tick (a stop: one heartbeat of the
 * agent), and a repeated one nothing.
 *
 * The first notification is sent at once. Those that follow within a few milliseconds are coalesced into one, because a
 * transaction that notifies takes a global lock at its commit.
 */
import { randomUUID } from 'node:crypto';
import { listenTo } from '../db/listen.ts';
import type { Listening } from '../db/listen.ts';

const WAKE = 'svc_wake';
const STOP = 'svc_stop';
/** The triggers of migration 0046 notify that there are facts for alerts. */
const ALERTS = 'svc_alerts';
const COALESCE_MS = 10;

export type Notifications = {
  /** Tells other processes that there is work. */
  notifyOthers(): void;
  /** Tells other processes that superseded attempts may run there. */
  notifyStops(): void;
  listen(): void;
  stop(): Promise<void>;
};

export function createNotifications(options: {
  url: string;
  /** Sends with `pg_notify(channel, from)`. */
  send: (channel: string, from: string) => Promise<unknown>;
  /** Null when this process has nothing to do after a notification. */
  onNotified: (() => void) | null;
  /** Called when attempts of this process may have been superseded. */
  onStops?: () => void;
  /** Called when an alert may have to be sent. */
  onAlerts?: () => void;
  checkEveryMs?: number;
  answerWithinMs?: number;
}): Notifications {
  const { url, send, onNotified, onStops, onAlerts, ...limits } = options;
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
        channels: [WAKE, STOP, ALERTS],
        onNotification(payload, channel) {
          if (payload === self) return; // the sender has acted already
          if (channel === ALERTS) onAlerts?.();
          else if (channel === STOP) onStops?.();
          else onNotified();
        },
        // Notifications may have been missed before the connection listened.
        onListening() {
          onNotified();
          onStops?.();
          onAlerts?.();
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

/** Sends at once if nothing was sent lately. Otherwise it sends once more when the time has passed. */
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
