// Measures the latency of each tool of the tool server, as an agent sees it: a real svc-mcp process, a real control
// plane process with its own Postgres, and the official client. One run has ten tasks, the other ten thousand.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Client } from '@modelcontextprotocol/client';
import { MAIN, callTool, connectHttp } from '@svc/testing/mcp/connect.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import { DEFAULT_TENANT, findTenantByName } from '@svc/server/db/identity/tenants.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { insertRun } from '@svc/testing/engine/run-rows.ts';
import type { InstanceRows } from '@svc/testing/engine/run-rows.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { PROCESS_ADMIN, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { cpuSecondsWithChildren, usageOf } from './process-usage.ts';

const RUN_ID = 'manual__2026-01-02T03:04:05+00:00';
/** Parallel chains of tasks. In some chains the second task failed, so the tasks after it could not run. */
const RUNS = [
  { dagId: 'small', chains: 2, length: 5, failedChains: 1, calls: 200 },
  { dagId: 'large', chains: 100, length: 100, failedChains: 50, calls: 30 },
] as const;
const LOG_LINES = 20_000;
const BATCH = 1_000;

type Run = (typeof RUNS)[number];

export async function run(options: BenchOptions): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const cluster = await startScratchCluster({ fsync: 'on' });
  let server: ServerProcess | undefined;
  let svcMcp: { child: ChildProcess; url: string } | undefined;
  try {
    const url = await cluster.createDatabase();
    const logsDir = join(directory, 'logs');
    const settings = { 'database.url': url, 'logs.dir': logsDir, 'scheduler.enabled': 'false' };
    server = await startServerProcess({ settings, logFile: join(directory, 'server.log') });
    await server.untilReady();
    options.say('storing a run of 10 tasks and one of 10,000');
    await store(url, logsDir);
    svcMcp = await startToolServer(server.url);
    const client = await connectHttp(svcMcp.url, await logIn(server));
    const pids = { svcMcp: svcMcp.child.pid ?? 0, server: server.pid, postgres: cluster.pid ?? 0 };
    for (const one of RUNS) await measureRun(options, { client, run: one, pids });
    await client.close();
    await server.stop();
  } finally {
    svcMcp?.child.kill('SIGKILL');
    await server?.stop('SIGKILL');
    await cluster.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

type Pids = { svcMcp: number; server: number; postgres: number };

/** Processor time so far, which is the steadier figure on a busy machine. */
const cpuOf = ({ svcMcp, server, postgres }: Pids) => ({
  'svc-mcp': usageOf(svcMcp)?.cpuSeconds ?? Number.NaN,
  server: usageOf(server)?.cpuSeconds ?? Number.NaN,
  Postgres: cpuSecondsWithChildren(postgres) ?? Number.NaN,
});

async function measureRun(
  options: BenchOptions,
  { client, run: { dagId, chains, length, calls }, pids }: { client: Client; run: Run; pids: Pids },
): Promise<void> {
  const ids = { dag_id: dagId, run_id: RUN_ID };
  const inputs = [
    ['list_dags', {}],
    ['diagnose_run', ids],
    ['search_logs', { ...ids, task_id: 'task_0_1', query: 'needle' }],
  ] as const;
  for (const [tool, input] of inputs) {
    const once = async (): Promise<number> => {
      const start = performance.now();
      const { isError, text } = await callTool(client, tool, input);
      if (isError) throw new Error(`${tool}: ${text}`);
      return performance.now() - start;
    };
    const first = await once();
    for (let n = 0; n < 5; n += 1) await once();
    const times: number[] = [];
    const before = cpuOf(pids);
    for (let n = 0; n < calls; n += 1) times.push(await once());
    const after = cpuOf(pids);
    const cpu = (['svc-mcp', 'server', 'Postgres'] as const).map(
      (name) => [`${name} CPU ms/call`, ((after[name] - before[name]) * 1_000) / calls] as const,
    );
    times.sort((a, b) => a - b);
    const at = (share: number): number =>
      times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
    const conditions = { tasks: chains * length, calls, cores: cpus().length, node: process.version };
    const figures = [['first ms', first], ['p50 ms', at(0.5)], ['p99 ms', at(0.99)], ...cpu] as const;
    for (const [unit, value] of figures) {
      if (Number.isNaN(value)) continue;
      options.print({ bench: 'mcp', figure: tool, value: rounded(value, 1), unit, ...conditions });
    }
  }
  const rss = usageOf(pids.svcMcp)?.rssMebibytes;
  const tasks = chains * length;
  if (rss !== undefined)
    options.print({ bench: 'mcp', figure: 'svc-mcp', value: rounded(rss, 0), unit: 'RSS MiB', tasks });
}

async function startToolServer(server: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [MAIN, '--transport', 'http', '--listen', '127.0.0.1:0', '--server', server], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const { msg, url = '' } = JSON.parse(line) as { msg: string; url?: string };
    if (msg !== 'listening') continue;
    child.stderr.resume(); // unread log lines would fill the pipe
    return { child, url: url.replace(/\/mcp$/, '') };
  }
  throw new Error('svc-mcp did not start');
}

async function logIn(server: ServerProcess): Promise<string> {
  const { email: username, password } = PROCESS_ADMIN;
  const response = await fetch(`${server.url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function store(url: string, logsDir: string): Promise<void> {
  const db = openDatabase({
    url,
    maxOpenConns: 2,
    maxIdleConns: 1,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  const tenant = await findTenantByName(db.shared, DEFAULT_TENANT);
  if (!tenant) throw new Error('the server has made no tenant');
  for (const one of RUNS) {
    await storeRun(db.tenant(tenant.id), one);
    await storeLogs({ tenantId: tenant.id, logsDir, run: one });
  }
  await db.close();
  await queryDatabase(url, 'vacuum (analyze)');
}

const taskId = (chain: number, n: number): string => `task_${chain}_${n}`;

async function storeRun(db: TenantDb, { dagId, chains, length, failedChains }: Run): Promise<void> {
  const all = Array.from(
    { length: chains * length },
    (_, index) => [Math.floor(index / length), index % length] as const,
  );
  const tasks = all.map(([chain, n]) =>
    makeTask(taskId(chain, n), {
      upstream: n === 0 ? [] : [taskId(chain, n - 1)],
      downstream: n === length - 1 ? [] : [taskId(chain, n + 1)],
    }),
  );
  const actor = { name: 'bench', clientIp: '127.0.0.1', requestId: 'bench' };
  const registration = await registerVersion(db, { dagId, artifact: { spec: makeSpec({ dagId, tasks }) }, actor });
  if (registration.kind === 'refused') throw new Error(registration.problems.join('\n'));
  const run = await insertRun(db, { dagId, runId: RUN_ID, state: 'failed' });
  const stateOf = (chain: number, n: number): NonNullable<InstanceRows['state']> => {
    if (chain >= failedChains || n === 0) return 'success';
    return n === 1 ? 'failed' : 'upstream_failed';
  };
  const at = '2026-01-02T03:04:05Z';
  const rows = all.map(([chain, n]) => ({
    run,
    dag_id: dagId,
    task_id: taskId(chain, n),
    state: stateOf(chain, n),
    try_number: stateOf(chain, n) === 'upstream_failed' ? 0 : 1,
    max_tries: 0,
    operator: 'BashOperator',
    pool: 'default_pool',
    pool_slots: 1,
    priority_weight: 1,
    queue: 'default',
    upstream: '0',
    version_number: 1,
    start_date: at,
    end_date: at,
    failure_reason: stateOf(chain, n) === 'failed' ? 'exception: ValueError: no rows' : null,
  }));
  for (let from = 0; from < rows.length; from += BATCH) {
    await db
      .insertInto('task_instances')
      .values(rows.slice(from, from + BATCH))
      .execute();
  }
}

/** Stores logs of about two megabytes each, with the searched text near the end. */
async function storeLogs(input: { tenantId: string; logsDir: string; run: Run }): Promise<void> {
  const { tenantId, logsDir, run: one } = input;
  const logs = createDiskLogStore({ dir: logsDir });
  const line = (n: number): string =>
    `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000006Z', level: 'info', logger: 'task', event: `row ${n}${n === LOG_LINES - 100 ? ' needle' : ''}` })}\n`;
  const text = Buffer.from(Array.from({ length: LOG_LINES }, (_, n) => line(n)).join(''));
  for (let chain = 0; chain < one.failedChains; chain += 1) {
    const place = { tenantId, dagId: one.dagId, runId: RUN_ID, taskId: taskId(chain, 1), mapIndex: -1, tryNumber: 1 };
    await logs.append(place, 0, text);
  }
  await logs.close();
}
