import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range from which the system takes ports of outgoing connections and of whoever asks for any. */
const FIRST_PORT = 12_000;
const WORKERS = 16;
const PORTS_OF_WORKER = 500;

/** Test files that run at the same time have ports of their own: what one has not taken yet another does not find free. */
const worker = Number(process.env['VITEST_POOL_ID'] ?? randomInt(WORKERS)) % WORKERS;
const firstOfWorker = FIRST_PORT + worker * PORTS_OF_WORKER;
const given = new Set<number>();

/** For a server whose address must be known before it is started, or that is started again at the same one. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    if (given.size > PORTS_OF_WORKER / 2) given.clear();
    const port = randomInt(firstOfWorker, firstOfWorker + PORTS_OF_WORKER);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer();
    const isFree = await new Promise<boolean>((settle) => {
      server.once('error', () => settle(false)).listen(port, host, () => settle(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
