/** A line to Postgres that can be made slow, or go silent without hanging up, as half-open connections do. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type BadLine = {
  /** The address of the database, over this line. */
  url(databaseUrl: string): string;
  /** Every answer takes so much longer, in the order in which they come; the greetings of a new connection do not. */
  delay(ms: number): void;
  /** Connections that are open now stay open and carry nothing any more, not even an end. Answers with how many there are. */
  silence(): number;
  /** Whether connections are silent from their first word on. */
  silenceNew(isSilent: boolean): void;
  /** How many connections were made so far. */
  opened(): number;
  close(): void;
};

/** The server is ready and in no transaction: what the greetings end with. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function openBadLine(port: number): Promise<BadLine> {
  const sockets = new Set<Socket>();
  const lines = new Set<{ isSilent: boolean }>();
  let opened = 0;
  let delayMs = 0;
  let isNewSilent = false;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const line = { isSilent: isNewSilent };
    lines.add(line);
    opened += 1;
    let isGreeted = false;
    /** One after the other also when the delay changes in between. */
    let delivered: Promise<unknown> = Promise.resolve();
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {}); // its close says the rest
      socket.on('close', () => sockets.delete(socket));
      for (const event of ['end', 'close']) {
        socket.on(event, () => {
          if (line.isSilent) return; // nobody hears of it
          lines.delete(line);
          void delivered.then(() => [socket, other].map((each) => each.destroy()));
        });
      }
    }
    client.on('data', (chunk) => void (line.isSilent || upstream.write(chunk)));
    upstream.on('data', (chunk) => {
      const dueAt = performance.now() + (isGreeted ? delayMs : 0);
      isGreeted ||= chunk.subarray(-READY.length).equals(READY);
      delivered = delivered.then(async () => {
        const ms = dueAt - performance.now();
        if (ms > 0) await sleep(ms);
        if (!line.isSilent) client.write(chunk);
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      return url.toString();
    },
    delay: (ms) => void (delayMs = ms),
    silence() {
      const open = [...lines].filter(({ isSilent }) => !isSilent);
      for (const line of open) line.isSilent = true;
      return open.length;
    },
    silenceNew: (isSilent) => void (isNewSilent = isSilent),
    opened: () => opened,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
