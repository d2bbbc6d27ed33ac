// The load of bench/overload.ts in its own process: `node bench/burst.ts '<options as JSON>'`. It keeps this many
// requests in flight until its input closes, and then prints the number of answers of each kind as one line of JSON.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export type BurstOptions = {
  url: string;
  parallel: number;
  headers?: Record<string, string>;
  /** The clients use these tokens in turns. */
  tokens?: readonly string[];
};
/** Counts by status, and for problems also by type: `200`, `429 urn:svc:error:overloaded`, `ECONNRESET`. */
export type BurstResult = { answers: Record<string, number> };

export type Burst = { end(): Promise<BurstResult> };

/** Starts the load in another process, and resolves when its first requests are in flight. */
export async function startBurst(options: BurstOptions): Promise<Burst> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  while (!output.includes('begun\n')) {
    if (child.exitCode !== null) throw new Error(`the load ended with ${child.exitCode}`);
    await sleep(20);
  }
  return {
    async end() {
      const gone = once(child, 'close');
      child.stdin.end();
      await gone;
      return JSON.parse(output.slice(output.indexOf('begun\n') + 'begun\n'.length)) as BurstResult;
    },
  };
}

/** After a refusal with Retry-After, a client waits a little, but less than requested. */
const PAUSE_AFTER_REFUSAL_MS = 100;

async function load({ url, parallel, headers = {}, tokens }: BurstOptions): Promise<BurstResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: parallel });
  const answers: Record<string, number> = {};
  const over = new AbortController();

  async function client(_: unknown, index: number): Promise<void> {
    const token = tokens?.[index % tokens.length];
    const own = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
    while (!over.signal.aborted) {
      const kind = await ask(url, { agent, headers: own });
      answers[kind] = (answers[kind] ?? 0) + 1;
      if (kind !== '200') await sleep(PAUSE_AFTER_REFUSAL_MS);
    }
  }

  const clients = Array.from({ length: parallel }, client);
  process.stdout.write('begun\n');
  await once(process.stdin.resume(), 'end');
  over.abort();
  await Promise.race([Promise.all(clients), sleep(30_000)]);
  return { answers };
}

function ask(url: string, options: { agent: Agent; headers: Record<string, string> }): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(url, options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      response.on('end', () => {
        const status = String(response.statusCode);
        if (response.statusCode === 200) return resolve(status);
        const { type } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { type: string };
        resolve(`${status} ${type}${response.headers['retry-after'] === undefined ? ' without Retry-After' : ''}`);
      });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end();
  });
}

if (import.meta.main) {
  process.stdout.write(JSON.stringify(await load(JSON.parse(process.argv[2] ?? '') as BurstOptions)));
  process.exit(0);
}
