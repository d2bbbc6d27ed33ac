/** Measures how long one request of maximum size blocks the event loop: the longest turn by operation. */
import { calibrate, watchHeldTurns } from '@svc/testing/event-loop/held-turns.ts';
import { largestRequests } from '@svc/testing/event-loop/largest-requests.ts';
import { startOutsideClient } from '@svc/testing/event-loop/outside-client.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

/** Number of operations that are printed separately. The last figure covers the rest. */
const SHOWN = 20;

export async function benchTurns(options: BenchOptions, runs: number): Promise<void> {
  const cluster = await startScratchCluster({ fsync: 'on' });
  const server = await startTestServer({ 'database.url': await cluster.createDatabase() });
  const client = startOutsideClient();
  try {
    const token = await server.login();
    const requests = await largestRequests(server, token);
    const turns = watchHeldTurns();
    const held: { name: string; ms: number }[] = [];
    for (const { kind, name, token: by = token, requests: variants } of requests) {
      const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' };
      const ask = (time: number) => {
        const request = variants[time % variants.length] ?? variants[0];
        return client.ask({ ...request, url: `${server.url}${request.url}`, headers });
      };
      await ask(0); // compiles schemas and code
      const samples: number[] = [];
      for (let run = 0; run < runs; run += 1) {
        turns.longest();
        await ask(run + 1);
        samples.push(turns.longest());
      }
      held.push({ name: `${kind}: ${name}`, ms: Math.min(...samples) });
    }
    turns.stop();
    const print = (figure: string, value: number): void =>
      options.print({ bench: 'overload', figure, value: rounded(value), unit: 'ms', runs });
    print('a MiB of JSON parsed and written, in comparison', calibrate());
    const ordered = held.toSorted((a, b) => b.ms - a.ms);
    for (const { name, ms } of ordered.slice(0, SHOWN)) print(`longest turn, ${name}`, ms);
    print(`longest turn, the other ${Math.max(0, ordered.length - SHOWN)} requests`, ordered[SHOWN]?.ms ?? 0);
  } finally {
    await client.close();
    await server.close();
    await cluster.remove();
  }
}
