// Measures an overload as users and agents see it: the gap between two tasks while thousands of requests are in flight,
// the answers that clients get, and the memory. `--only` selects a part: gap or turns.

import type { BenchOptions } from './figure.ts';
import { rounded } from './figure.ts';
import { chainRun, percentile } from './runs/tasks.ts';
import { benchTurns } from './overload-turns.ts';
import { startBurst } from './burst.ts';
import { usageOf } from './process-usage.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';

const PARALLEL = [1_000, 5_000];
const WARM_UPS = 3;
const PASSWORD = 'correct horse battery';
const WATCH_MS = 200;

export async function run(options: BenchOptions): Promise<void> {
  const runs = options.number('runs', 3);
  const only = options.text('only');
  if (only === undefined || only === 'gap') await benchGap(options, runs);
  if (only === undefined || only === 'turns') await benchTurns(options, runs);
}

async function benchGap(options: BenchOptions, runs: number): Promise<void> {
  const server = await startLiveServer();
  try {
    const headers = { authorization: `Bearer ${await addViewer(server)}` };
    const print = (figure: string, value: number, unit: string, parallel: number): void =>
      options.print({ bench: 'overload', figure, value: rounded(value), unit, parallel, runs });
    options.say('chains of 40 tasks, nobody asking');
    for (let run = 0; run < WARM_UPS; run += 1) await chainRun(server);
    const quiet = await gapsOf(server, runs);
    printGaps(quiet, (figure, value, unit) => print(`quiet: ${figure}`, value, unit, 0));
    for (const parallel of PARALLEL) {
      options.say(`the same while a viewer has ${parallel} requests under way`);
      const memory = watchMemory(server.pid);
      const burst = await startBurst({ url: `${server.url}/api/v2/dags?limit=100`, parallel, headers });
      const loaded = await gapsOf(server, runs);
      const { answers } = await burst.end();
      printGaps(loaded, (figure, value, unit) => print(`loaded: ${figure}`, value, unit, parallel));
      for (const share of [0.5, 0.95])
        print(`ratio of gaps, p${share * 100}`, percentile(loaded, share) / percentile(quiet, share), 'x', parallel);
      const total = Object.values(answers).reduce((sum, count) => sum + count, 0);
      print('answers', total, 'requests', parallel);
      for (const [kind, count] of Object.entries(answers))
        print(`answers: ${kind}`, (100 * count) / total, '%', parallel);
      print('largest RSS', memory.end(), 'MiB', parallel);
    }
  } finally {
    await server.close();
  }
}

function printGaps(gaps: readonly number[], print: (figure: string, value: number, unit: string) => void): void {
  for (const share of [0.5, 0.95, 1]) {
    print(
      `end of a task to start of the next, ${share === 1 ? 'longest' : `p${share * 100}`}`,
      percentile(gaps, share),
      'ms',
    );
  }
}

async function gapsOf(server: LiveServer, runs: number): Promise<number[]> {
  const gaps: number[] = [];
  for (let run = 0; run < runs; run += 1) gaps.push(...(await chainRun(server)).gaps);
  return gaps;
}

async function addViewer(server: LiveServer): Promise<string> {
  const email = 'viewer@example.com';
  await server.api('POST', '/users', { email, password: PASSWORD, roles: ['viewer'] });
  const response = await fetch(`${server.url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: email, password: PASSWORD }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

function watchMemory(pid: number): { end(): number } {
  let largest = 0;
  const timer = setInterval(() => (largest = Math.max(largest, usageOf(pid)?.rssMebibytes ?? 0)), WATCH_MS);
  return {
    end() {
      clearInterval(timer);
      return largest;
    },
  };
}
