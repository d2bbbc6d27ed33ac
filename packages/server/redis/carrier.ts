/**
 * Short messages between processes over Redis channels, as hints only. If a message is lost, late or repeated, it
 * changes only how soon a process looks at the truth in Postgres. A carrier therefore always comes in addition to a
 * mechanism that finds out anyway (polling, NOTIFY).
 */
import { openLink } from './link.ts';
import type { Link, RedisClient } from './link.ts';
import type { RedisSettings } from './settings.ts';

export type Carrier = {
  /** Returns at once. */
  publish(channel: string, message: string): void;
  /** `onSubscribed` is called when messages can arrive. Messages from before that, and from any outage, are lost. */
  subscribe(channel: string, listener: Listener): void;
};

export type Listener = { onMessage: (message: string) => void; onSubscribed: () => void };

/** Subscriptions need a connection of their own, which is opened for the first listener. */
export function createSubscriptions(settings: RedisSettings): Pick<Carrier, 'subscribe'> & { close(): void } {
  const listeners = new Map<string, Listener>();
  let link: Link | undefined;

  const listenOn = async (client: RedisClient, channel: string, listener: Listener): Promise<void> => {
    await client.subscribe(channel, (message) => listener.onMessage(message));
    listener.onSubscribed();
  };

  return {
    subscribe(channel, listener) {
      listeners.set(channel, listener);
      if (link) {
        // The connection for commands reports a refusal.
        void link.use((client) => listenOn(client, channel, listener)).catch(() => {});
        return;
      }
      link = openLink({
        settings,
        onState: () => {}, // the connection for commands reports the state
        onConnected: async (client) => {
          for (const [each, its] of listeners) await listenOn(client, each, its);
        },
      });
    },
    close: () => link?.close(),
  };
}
