/**
 * Processes of one control plane notify each other that something is to be done. A notification carries no message: truth is in
 * the tables, a lost one costs at most one tick, a repeated one nothing. One channel; many requests to notify become one
 * notification, because a transaction that notifies takes a global lock at its commit.
 */
import { randomUUID } from 'node:crypto';
import { listenTo } from '../db/listen.ts';
import type { Listening } from '../db/listen.ts';

const CHANNEL = 'svc_wake';
const COALESCE_MS = 10;

export type Notifications = { notifyOthers(): void; listen(): void; stop(): Promise<void> };

export function createNotifications(options: {
  url: string;
  /** With `pg_notify(channel, from)`. */
  send: (channel: string, from: string) => Promise<unknown>;
  /** Null: this process has nothing to do when it is notified. */
  onNotified: (() => void) | null;
  checkEveryMs?: number;
  answerWithinMs?: number;
}): Notifications {
  const { url, send, onNotified, ...limits } = options;
  const self = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let listening: Listening | undefined;
  let isStopped = false;

  return {
    listen() {
      if (isStopped || !onNotified) return;
      listening ??= listenTo({
        url,
        channel: CHANNEL,
        // The sender has acted already.
        onNotification: (payload) => payload !== self && onNotified(),
        onListening: onNotified, // what was sent while nobody listened
        ...limits,
      });
    },
    notifyOthers() {
      timer ??= setTimeout(() => {
        timer = undefined;
        send(CHANNEL, self).catch(() => {}); // the tick finds it
      }, COALESCE_MS);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await listening?.stop();
    },
  };
}
