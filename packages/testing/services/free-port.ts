import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Beyond the last that browsers and fetch refuse (10,080); all are below 32,768, where the system begins to choose. */
const FIRST = 10_100;
const OF_EACH_PROCESS = 20;
const PROCESSES = 500;

/** From anywhere on: another run of tests may have a process of nearly the same number. */
let given = randomInt(OF_EACH_PROCESS);

/**
 * For a server whose address must be known before it is started, or that comes back where it was. Not one that the system
 * chooses: as long as nobody listens there, the next who listens at port 0 could get it, and so could an outgoing connection
 * (or, dialling it again and again, one even connects to itself). Processes of tests do not share their ports either.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const first = FIRST + (process.pid % PROCESSES) * OF_EACH_PROCESS;
  for (let tries = 0; tries < OF_EACH_PROCESS; tries += 1) {
    const port = first + (given % OF_EACH_PROCESS);
    given += 1;
    if (await isFree(host, port)) return port;
  }
  throw new Error(`none of the ports from ${first} to ${first + OF_EACH_PROCESS - 1} is free`);
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen({ host, port, exclusive: true }, () => resolve(true));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}
