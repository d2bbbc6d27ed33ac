import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const given = new Set<number>();

/**
 * For a server whose address must be known before it is started, or that is started again at the same one. Below the range from
 * which the system takes ports of outgoing connections and of whoever asks for any: one of those could take it meanwhile.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 20_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((settle) => {
      server.once('error', () => settle(false)).listen(port, host, () => settle(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    if (given.has(port)) continue;
    given.add(port);
    return port;
  }
}
