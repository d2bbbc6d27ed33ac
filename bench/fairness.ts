// Measures what the crowd of one tenant costs another tenant: the p95 of the other tenant's requests, and of its wait
// from a trigger to the start of a task, alone and beside the crowd. Rounds of requests are interleaved, so the ratio
// does not depend on the speed of the machine. `--only` selects a part: requests, streams or claims.

import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { secondTenant } from '@svc/testing/server/api-caller.ts';
import type { Api } from '@svc/testing/server/api-caller.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { startBurst } from './burst.ts';
import type { BurstOptions } from './burst.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { startNullEngine } from './runs/null-engine.ts';
import { percentile } from './runs/tasks.ts';

const CLIENTS = 1_000;
/** The clients of the crowd are these many users. */
const USERS = 100;
const OTHER_CLIENTS = 5;
const OTHER_PAUSE_MS = 20;
const WARM_UP_MS = 2_000;
const OTHER_PATHS = ['/api/v2/dags?limit=100', '/api/v2/dags/~/dagRuns?limit=50', '/api/v2/variables', '/api/v2/pools'];

type Print = (figure: string, value: number, unit: string) => void;

export async function run(options: BenchOptions): Promise<void> {
  const runs = options.number('runs', 3);
  const only = options.text('only');
  const print: Print = (figure, value, unit) =>
    options.print({ bench: 'fairness', figure, value: rounded(value), unit, clients: CLIENTS, runs });
  if (only !== 'claims') await benchServer(options, { runs, only, print });
  if (only === undefined || only === 'claims') await benchClaims(options, { runs, print });
}

type Part = { runs: number; print: Print };

async function benchServer(options: BenchOptions, { runs, only, print }: Part & { only: string | undefined }) {
  const server = await startLiveServer();
  try {
    const crowd = await secondTenant(server);
    const tokens = await accountsOf(crowd, USERS);
    const other = await accountsOf(server.api, OTHER_CLIENTS);
    const ms = options.number('seconds', 10) * 1_000;
    for (let n = 0; n < 100; n += 1) await server.api('POST', '/variables', { key: `v${n}`, value: 'x' });
    const loads: Record<string, () => Promise<BurstOptions>> = {
      requests: async () => ({ url: `${server.url}/api/v2/dags?limit=100`, parallel: CLIENTS, tokens }),
      streams: async () => ({ url: await followedLog(server, crowd), parallel: CLIENTS, tokens }),
    };
    for (const [name, loadOf] of Object.entries(loads)) {
      if (only !== undefined && only !== name) continue;
      const load = await loadOf();
      await latencies(server, other, WARM_UP_MS);
      const seen = { alone: [] as number[], beside: [] as number[] };
      for (let round = 0; round < runs; round += 1) {
        options.say(`${name}, round ${round + 1} of ${runs}`);
        seen.alone.push(...(await latencies(server, other, ms)));
        const burst = await startBurst(load);
        await sleep(WARM_UP_MS);
        seen.beside.push(...(await latencies(server, other, ms)));
        const { answers } = await burst.end();
        options.say(JSON.stringify(answers));
        await sleep(WARM_UP_MS);
      }
      report(name, seen, print);
    }
  } finally {
    await server.close();
  }
}

function report(name: string, { alone, beside }: { alone: number[]; beside: number[] }, print: Print): void {
  for (const share of [0.5, 0.95]) {
    const percent = `p${share * 100}`;
    print(`${name}: other tenant alone, ${percent}`, percentile(alone, share), 'ms');
    print(`${name}: beside the crowd, ${percent}`, percentile(beside, share), 'ms');
    print(`${name}: ratio, ${percent}`, percentile(beside, share) / percentile(alone, share), 'x');
  }
}

async function accountsOf(api: Api, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { token } = await api<{ token: string }>('POST', '/serviceAccounts', { name: `bench-${n}`, role: 'viewer' });
    tokens.push(token);
  }
  return tokens;
}

/** What the clients of the other tenant wait for, in milliseconds. Fails when one of them is refused. */
async function latencies(server: LiveServer, tokens: readonly string[], ms: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const until = performance.now() + ms;
  const waits: number[] = [];
  async function client(token: string): Promise<void> {
    for (let n = 0; performance.now() < until; n += 1) {
      const begun = performance.now();
      const status = await statusOf(`${server.url}${OTHER_PATHS[n % OTHER_PATHS.length]}`, { agent, token });
      if (status !== 200) throw new Error(`the other tenant got ${status}`);
      waits.push(performance.now() - begun);
      await sleep(OTHER_PAUSE_MS);
    }
  }
  await Promise.all(tokens.map(client));
  agent.destroy();
  return waits;
}

function statusOf(url: string, { agent, token }: { agent: Agent; token: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject).end();
  });
}

/** A log of the crowd that grows all the time. */
async function followedLog(server: LiveServer, crowd: Api): Promise<string> {
  const [spec] = Object.values(await server.addDag('talk', TALKING));
  await crowd('POST', '/dags/talk/dagVersions', { spec, fileloc: '/dags/talk.py' });
  await crowd('PATCH', '/dags/talk', { is_paused: false });
  const { dag_run_id: runId } = await crowd<{ dag_run_id: string }>('POST', '/dags/talk/dagRuns', {});
  const path = `/dags/talk/dagRuns/${encodeURIComponent(runId)}/taskInstances/talk`;
  while ((await crowd<{ state: string | null }>('GET', path)).state !== 'running') await sleep(50);
  return `${server.url}/api/v2${path}/logs/1?follow=true`;
}

const TALKING = `
import time
from airflow.sdk import dag, task

@dag(schedule=None)
def talk():
    @task(task_id="talk")
    def speak():
        for number in range(20 * 60 * 30):
            print("line", number, flush=True)
            time.sleep(0.05)
    speak()

talk()
`;

const SLOTS = 32;
const BODY_MS = 200;
const BACKLOG = 10_000;
const TRIGGERS = 60;
const TRIGGER_EVERY_MS = 50;

/** The executor ends every attempt after a moment, so only the scheduler is measured. */
async function benchClaims(options: BenchOptions, { runs, print }: Part): Promise<void> {
  const cluster = await startScratchCluster({ fsync: 'on' });
  const databaseUrl = await cluster.createDatabase();
  const engine = await startNullEngine(databaseUrl, { inFlight: SLOTS, bodyMs: BODY_MS });
  try {
    const { id: tenantId } = await ensureTenant(engine.db.shared, 'other');
    const scope = engine.db.tenant(tenantId);
    const actor = { name: 'bench', clientIp: '127.0.0.1', requestId: 'bench' };
    const spec = makeSpec({ dagId: 'one', tasks: [makeTask('only')] });
    await registerVersion(scope, { dagId: 'one', artifact: { spec }, actor });
    await scope.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', 'one').execute();
    const wide = Array.from({ length: BACKLOG }, (_, n) => makeTask(`t${n}`, { policy: { priority_weight: 10 } }));
    await engine.register('wide', wide);
    const isLive = () =>
      scope.selectFrom('dag_runs').select('id').where('state', 'in', ['queued', 'running']).executeTakeFirst();
    const triggers = async (): Promise<void> => {
      for (let n = 0; n < TRIGGERS; n += 1) {
        await engine.scheduler.trigger(tenantId, { dagId: 'one', runType: 'manual', triggeredBy: 'bench' });
        await sleep(TRIGGER_EVERY_MS);
      }
      while (await isLive()) await sleep(BODY_MS);
    };
    const waits = async (): Promise<number[]> => {
      const rows = await queryDatabase<{ ms: number }>(
        databaseUrl,
        `select extract(epoch from t.start_date - r.queued_at)::float8 * 1000 as ms
        from dag_runs r join task_instances t on t.tenant_id = r.tenant_id and t.run = r.id
        where r.tenant_id = '${tenantId}' order by r.id desc limit ${TRIGGERS}`,
      );
      return rows.map(({ ms }) => ms);
    };
    await triggers();
    const seen = { alone: [] as number[], beside: [] as number[] };
    for (const [kind, all] of Object.entries(seen)) {
      if (kind === 'beside') await engine.trigger('wide');
      for (let round = 0; round < runs; round += 1) {
        options.say(`claims ${kind}, round ${round + 1} of ${runs}`);
        await triggers();
        all.push(...(await waits()));
      }
    }
    report('claims', seen, print);
    await engine.scope.updateTable('dags').set({ is_paused: true }).execute();
    const isRunning = () =>
      engine.scope
        .selectFrom('task_instances')
        .select('run')
        .where('state', 'in', ['queued', 'running'])
        .executeTakeFirst();
    while (await isRunning()) await sleep(BODY_MS);
  } finally {
    await engine.close();
    await cluster.remove();
  }
}
