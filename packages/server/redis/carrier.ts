/**
 * Short messages between processes by Redis' channels, as hints only: one that is lost, late or repeated must change nothing but
 * how soon somebody looks where the truth is. The place for it is beside what finds out anyway (polling, NOTIFY).
 */
import { openLink } from './link.ts';
import type { Link, RedisClient } from './link.ts';
import type { RedisSettings } from './settings.ts';

export type Carrier = {
  /** Returns at once. */
  publish(channel: string, message: string): void;
  /** `onSubscribed`: messages come from now on; what was sent before is lost, also after every outage. */
  subscribe(channel: string, listener: Listener): void;
};

export type Listener = { onMessage: (message: string) => void; onSubscribed: () => void };

/** Who listens needs a connection that does nothing else; it is made for the first listener. */
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
        void link.use((client) => listenOn(client, channel, listener)).catch(() => {}); // refused: told by the commands' link
        return;
      }
      link = openLink({
        settings,
        onState: () => {}, // the other connection tells
        onConnected: async (client) => {
          for (const [each, its] of listeners) await listenOn(client, each, its);
        },
      });
    },
    close: () => link?.close(),
  };
}
