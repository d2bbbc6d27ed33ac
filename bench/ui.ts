// Measures the pages of the web UI with 5,000 DAGs, 200,000 runs and 2,000,000 task instances. Each request of the UI
// is measured alone and with several people at once, against a real server on its own Postgres. On a busy machine:
// `chrt --rr 5 npm run bench -- ui`.

import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { PROCESS_ADMIN, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { cpuSecondsWithChildren, usageOf } from './process-usage.ts';
import { uiRequests } from './ui/requests.ts';
import type { UiRequest } from './ui/requests.ts';
import { STORED, storeHistory } from './ui/store.ts';

const WARM_UP = 10;
const CALLS = 60;
const PEOPLE = 4;
const TARGET_MS = 150;

export async function run(options: BenchOptions): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const cluster = await startScratchCluster({ fsync: 'on' });
  let server: ServerProcess | undefined;
  try {
    const url = await cluster.createDatabase();
    // The rows contain running tasks without workers. A scheduler would clean them up.
    const settings = { 'database.url': url, 'logs.dir': join(directory, 'logs'), 'scheduler.enabled': 'false' };
    server = await startServerProcess({ settings, logFile: join(directory, 'server.log') });
    await server.untilReady();
    options.say(`storing ${STORED.dags} DAGs, ${STORED.runs} runs and ${STORED.instances} task instances`);
    const from = performance.now();
    await storeHistory(url, options.say);
    options.say(`stored in ${Math.round((performance.now() - from) / 1_000)} s`);
    await measurePages(options, { server, postgres: cluster.pid ?? 0 });
  } finally {
    await server?.stop('SIGKILL');
    await cluster.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

type Measured = { server: Pick<ServerProcess, 'url' | 'pid'>; postgres: number };

export async function measurePages(options: BenchOptions, measured: Measured): Promise<void> {
  const only = options.text('only');
  const slow: string[] = [];
  const headers = { authorization: `Bearer ${await logIn(measured.server)}` };
  for (const request of uiRequests()) {
    if (only !== undefined && !request.name.includes(only)) continue;
    const p95 = await measureRequest(options, { request, headers, ...measured });
    if (request.isTarget && p95 > TARGET_MS) slow.push(`${request.name}: ${Math.round(p95)} ms`);
  }
  if (slow.length > 0) options.say(`above the target of ${TARGET_MS} ms (p95, alone):\n  ${slow.join('\n  ')}`);
}

/** Returns the p95 of the request alone. */
async function measureRequest(
  options: BenchOptions,
  { request, headers, server, postgres }: Measured & { request: UiRequest; headers: Record<string, string> },
): Promise<number> {
  const once = async (): Promise<number> => {
    const start = performance.now();
    const response = await fetch(`${server.url}${request.path}`, { headers });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`GET ${request.path}: ${response.status} ${text.slice(0, 500)}`);
    return performance.now() - start;
  };
  const cpu = () => ({
    server: usageOf(server.pid)?.cpuSeconds ?? Number.NaN,
    postgres: cpuSecondsWithChildren(postgres) ?? Number.NaN,
  });
  for (let call = 0; call < WARM_UP; call += 1) await once();
  const before = cpu();
  const alone: number[] = [];
  for (let call = 0; call < CALLS; call += 1) alone.push(await once());
  const after = cpu();
  const byPeople = (calls: number): Promise<number[][]> =>
    Promise.all(
      Array.from({ length: PEOPLE }, async () => {
        const times: number[] = [];
        for (let call = 0; call < calls; call += 1) times.push(await once());
        return times;
      }),
    );
  await byPeople(WARM_UP); // warm-up: further database connections plan their statements first
  const together = await byPeople(CALLS / PEOPLE);
  const perCall = (which: 'server' | 'postgres'): number =>
    rounded(((after[which] - before[which]) * 1_000) / CALLS, 1);
  const conditions = { calls: CALLS, ...STORED, cores: cpus().length, node: process.version };
  for (const [people, times] of [
    [1, alone],
    [PEOPLE, together.flat()],
  ] as const) {
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => rounded(percentile(times, share), 1));
    options.print({
      bench: 'ui',
      figure: request.name,
      value: p95 ?? Number.NaN,
      unit: 'ms p95',
      people,
      p50: p50 ?? Number.NaN,
      p99: p99 ?? Number.NaN,
      ...(people === 1 && { server_cpu_ms: perCall('server'), postgres_cpu_ms: perCall('postgres') }),
      ...conditions,
    });
  }
  return percentile(alone, 0.95);
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

async function logIn(server: Pick<ServerProcess, 'url'>): Promise<string> {
  const { email: username, password } = PROCESS_ADMIN;
  const response = await fetch(`${server.url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
