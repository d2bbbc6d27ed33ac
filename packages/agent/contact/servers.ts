/**
 * Chooses the server for an agent. Of several servers it takes the first that answers, and stays there until that one
 * is lost. Then it tries the next ones in the given order, again and again.
 *
 *   connecting ──▶ connected ──▶ the connection breaks ──▶ connecting to the next one, at once
 *        └──▶ refused, or no answer for 2 s ──▶ the next one; after a round without an answer, a pause first
 *
 * A name with several addresses is one server here: the library connects to the first of its addresses that answers.
 */
import { connectivityState } from '@grpc/grpc-js';
import type { Client } from '@grpc/grpc-js';
import { createBackoff } from '@svc/spec/backoff.ts';

type Channel = ReturnType<Client['getChannel']>;

export type Servers<C> = {
  client(): C;
  /** The current server, as `host:port`. */
  address(): string;
  /** Reports that the server of this client does not serve. Does nothing when another server was chosen already. */
  failed(client: C): void;
  close(): void;
};

/** A host that is switched off does not even refuse a connection. */
const CONNECT_MS = 2_000;
/** Spread, so that agents that lost the same server do not all reconnect at the same moment. */
const PAUSES = { firstMs: 100, longestMs: 2_000, spread: true };

export function chooseServer<C extends Pick<Client, 'getChannel' | 'close'>>(
  addresses: readonly string[],
  open: (address: string) => C,
): Servers<C> {
  const pauses = createBackoff(PAUSES);
  let index = 0;
  let failures = 0;
  let isClosed = false;
  let slow: NodeJS.Timeout | undefined;
  let pausing: NodeJS.Timeout | undefined;
  const addressAt = (at: number): string => addresses[at % addresses.length] ?? '';
  let client = connect();

  function connect(): C {
    const opened = open(addressAt(index));
    const channel = opened.getChannel();
    const state = channel.getConnectivityState(true); // connects while the caller prepares its other parts
    if (addresses.length < 2) return opened;
    slow = setTimeout(() => failed(opened), CONNECT_MS).unref();
    watch(opened, channel, state);
    return opened;
  }

  function watch(watched: C, channel: Channel, before: connectivityState): void {
    channel.watchConnectivityState(before, Infinity, (error) => {
      if (error || isClosed || client !== watched) return;
      const now = channel.getConnectivityState(true);
      if (now === connectivityState.READY) {
        clearTimeout(slow);
        failures = 0;
        pauses.reset();
      } else if (now === connectivityState.TRANSIENT_FAILURE || before === connectivityState.READY) {
        return failed(watched);
      }
      watch(watched, channel, now);
    });
  }

  function failed(from: C): void {
    if (isClosed || client !== from || pausing || addresses.length < 2) return;
    clearTimeout(slow);
    failures += 1;
    if (failures % addresses.length !== 0) return moveOn();
    pausing = setTimeout(moveOn, pauses.next()).unref();
  }

  function moveOn(): void {
    pausing = undefined;
    if (isClosed) return;
    const left = client;
    index += 1;
    client = connect();
    left.close(); // calls that waited for it fail now, and are repeated
  }

  return {
    client: () => client,
    address: () => addressAt(index),
    failed,
    close() {
      isClosed = true;
      clearTimeout(slow);
      clearTimeout(pausing);
      client.close();
    },
  };
}
