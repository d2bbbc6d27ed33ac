/**
 * Measures `svc lite` as a new user sees it: from nothing to a usable UI, later starts, a changed DAG file, and its
 * idle cost. Usable means: the password is printed, `/` answers with the page of the web UI, and a login with that
 * password lists a DAG. Package caches (npm, pip) are warm, and everything of svc is new.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import type { SpawnedSvc } from '@svc/testing/cli/spawn-svc.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { cpuSecondsWithChildren, usageOf } from './process-usage.ts';

const EXAMPLES = join(import.meta.dirname, '..', 'examples');
const POLL_MS = 20;
/** For a while after a start, V8 still optimises code and collects garbage (cli/lite/collect-when-idle.ts). */
const SETTLE_MS = 35_000;

type Place = { directory: string; workspace: string; env: Record<string, string> };
type Started = { process: SpawnedSvc; url: string; token: string; ms: number; cpuSeconds: number };

export async function run({ number, print, say }: BenchOptions): Promise<void> {
  const runs = number('runs', 3);
  const seconds = number('seconds', 30);
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-lite-'));
  await chmod(directory, 0o755); // Postgres of root runs as another user, which must be able to enter
  const workspace = join(directory, 'workspace');
  await cp(EXAMPLES, workspace, { recursive: true });
  await writeFile(join(workspace, 'changing.py'), dagFile(0));
  const place: Place = { directory, workspace, env: await environment(directory) };
  const figure = (name: string, value: number, unit: string, more: Record<string, number> = {}): void =>
    print({ bench: 'lite', figure: name, value: rounded(value), unit, ...more });
  let lite: Started | undefined;
  try {
    say('fetching packages once, so that their caches are warm');
    await spawnSvc(['setup'], place.env).ended;
    await rm(join(directory, 'cache'), { recursive: true, force: true });

    say('first start');
    lite = await start(place);
    figure('first_start', lite.ms / 1_000, 's', { cpu_seconds: rounded(lite.cpuSeconds) });

    const starts: Started[] = [];
    for (let round = 0; round < runs; round += 1) {
      await stop(lite);
      say(`later start ${round + 1} of ${runs}`);
      lite = await start(place, lite.token);
      starts.push(lite);
    }
    const times = starts.map(({ ms }) => ms / 1_000);
    figure('later_start', median(times), 's', {
      least: rounded(Math.min(...times)),
      most: rounded(Math.max(...times)),
      cpu_seconds: rounded(median(starts.map(({ cpuSeconds }) => cpuSeconds))),
      runs,
    });

    say(`nobody uses it for ${seconds} s`);
    await sleep(SETTLE_MS);
    const before = await cpuMs(lite.process.pid);
    await sleep(seconds * 1_000);
    figure('idle_cpu', ((await cpuMs(lite.process.pid)) - before) / seconds / 10, '%', { seconds });
    figure('idle_rss', usageOf(lite.process.pid)?.rssMebibytes ?? Number.NaN, 'MiB');

    const changes: number[] = [];
    for (let change = 1; change <= runs; change += 1) {
      say(`changed file ${change} of ${runs}`);
      changes.push(await changeToLive(lite, place, change));
    }
    figure('changed_file_live', median(changes), 'ms', { most: rounded(Math.max(...changes)), runs });
  } finally {
    if (lite) await stop(lite);
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns an environment with a new empty cache, but with the user's pip cache, which contains packages. */
async function environment(directory: string): Promise<Record<string, string>> {
  const inherited = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || name.startsWith('SVC_') ? [] : [[name, value] as const],
  );
  const pip = await promisify(execFile)('python3', ['-m', 'pip', 'cache', 'dir']).catch(() => ({ stdout: '' }));
  return {
    ...Object.fromEntries(inherited),
    XDG_CACHE_HOME: join(directory, 'cache'),
    PIP_CACHE_DIR: process.env['PIP_CACHE_DIR'] ?? (pip.stdout.trim() || join(directory, 'pip')),
  };
}

async function start({ directory, workspace, env }: Place, known?: string): Promise<Started> {
  const begun = performance.now();
  const lite = spawnSvc(['lite', workspace, '--port', '0', '--data-dir', join(directory, 'data')], env);
  await lite.until('Ctrl-C');
  const url = /^URL\s+(\S+)$/m.exec(lite.output())?.[1] ?? '';
  const password = /^Password\s+(\S+)$/m.exec(lite.output())?.[1] ?? '';
  const token = known ?? (await login(url, password));
  await until(async () => {
    const page = await fetch(`${url}/`, { headers: { cookie: `_token=${token}` } });
    const dags = await fetch(`${url}/api/v2/dags?limit=1`, { headers: { authorization: `Bearer ${token}` } });
    const listed = (await dags.json()) as { total_entries?: number };
    return /<script[^>]+type="module"/.test(await page.text()) && (listed.total_entries ?? 0) > 0;
  });
  const ms = performance.now() - begun;
  return { process: lite, url, token, ms, cpuSeconds: cpuSecondsWithChildren(lite.pid) ?? Number.NaN };
}

async function stop({ process: lite }: Started): Promise<void> {
  lite.kill('SIGINT');
  await lite.ended;
}

async function login(url: string, password: string): Promise<string> {
  const response = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin@localhost', password }),
  });
  if (!response.ok) throw new Error(`the printed password was not taken: ${response.status}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

const dagFile = (change: number): string => `from airflow.sdk import DAG, task

with DAG("changing", description="change ${change}"):

    @task
    def step():
        return ${change}

    step()
`;

async function changeToLive({ url, token }: Started, { workspace }: Place, change: number): Promise<number> {
  const begun = performance.now();
  await writeFile(join(workspace, 'changing.py'), dagFile(change));
  await until(async () => {
    const response = await fetch(`${url}/api/v2/dags/changing`, { headers: { authorization: `Bearer ${token}` } });
    return ((await response.json()) as { description?: string }).description === `change ${change}`;
  });
  return performance.now() - begun;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(POLL_MS);
}

/** Uses the scheduler's clock of every thread, because ticks of the system clock are too coarse for an idle process. */
async function cpuMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')));
  return stats.reduce((sum, stat) => sum + Number(stat.split(' ', 1)[0]) / 1e6, 0);
}
