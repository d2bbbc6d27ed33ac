// The load of bench/api.ts in its own process: `node bench/http-load.ts '<options as JSON>'` prints one line of JSON.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import autocannon from 'autocannon';

export type LoadOptions = { url: string; connections: number; seconds: number; headers: Record<string, string> };
export type LoadResult = { requests: number; perSecond: number; p50: number; p99: number; failed: number };

/** Runs the load in another process and returns its figures. */
export async function loadFromOutside(options: LoadOptions): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    fileURLToPath(import.meta.url),
    JSON.stringify(options),
  ]);
  return JSON.parse(stdout) as LoadResult;
}

async function load({ url, connections, seconds, headers }: LoadOptions): Promise<LoadResult> {
  const result = await autocannon({ url, connections, duration: seconds, headers });
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  };
}

if (import.meta.main) {
  process.stdout.write(JSON.stringify(await load(JSON.parse(process.argv[2] ?? '') as LoadOptions)));
}
