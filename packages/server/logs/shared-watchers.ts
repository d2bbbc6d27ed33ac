/**
 * Watchers that writes of other processes also wake, if a carrier brings their notifications. Without a carrier, or if
 * a notification is lost, followers look every half second (follow.ts).
 */
import { createHash } from 'node:crypto';
import type { Carrier } from '../redis/carrier.ts';
import type { Watchers } from './watchers.ts';

export const LOGS_CHANNEL = 'svc:logs';
/** All logs that grow within this time share one message. */
const COALESCE_MS = 25;
/** If more logs have grown, the message says "any". */
const MAX_NAMES = 400;
const ANY = '*';

export function shareWatchers(watchers: Watchers, carrier: Carrier): Watchers {
  const watched = new Map<string, { path: string; count: number }>();
  let grown = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isListening = false;

  const wakeAll = (): void => {
    for (const { path } of watched.values()) watchers.notify(path);
  };

  function send(): void {
    timer = undefined;
    carrier.publish(LOGS_CHANNEL, grown.size > MAX_NAMES ? ANY : [...grown].join());
    grown = new Set();
  }

  function onMessage(message: string): void {
    if (message === ANY) return wakeAll();
    for (const name of message.split(',')) {
      const known = watched.get(name);
      if (known) watchers.notify(known.path);
    }
  }

  return {
    notify(path) {
      watchers.notify(path);
      grown.add(nameOf(path));
      timer ??= setTimeout(send, COALESCE_MS).unref();
    },
    watch(path) {
      if (!isListening) carrier.subscribe(LOGS_CHANNEL, { onMessage, onSubscribed: wakeAll });
      isListening = true;
      const name = nameOf(path);
      const known = watched.get(name) ?? { path, count: 0 };
      known.count += 1;
      watched.set(name, known);
      const watch = watchers.watch(path);
      return {
        next: watch.next,
        close() {
          watch.close();
          known.count -= 1;
          if (known.count === 0) watched.delete(name);
        },
      };
    },
  };
}

/** A short name that does not reveal the names of DAGs. */
const nameOf = (path: string): string => createHash('sha256').update(path).digest('hex').slice(0, 16);
