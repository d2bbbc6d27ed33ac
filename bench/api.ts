// Measures the HTTP API under load: a real server process with default settings, its own Postgres, and a third process
// for the load. All of them share the machine, so requests per second are a lower bound. Processor time per request is
// the steadier figure.

import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveConnections } from '@svc/server/db/secrets/connections.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import { DEFAULT_TENANT, findTenantByName } from '@svc/server/db/identity/tenants.ts';
import { saveVariables } from '@svc/server/db/secrets/variables.ts';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { PROCESS_ADMIN, PROCESS_SECRET_KEY, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';
import { startForgingProvider } from '@svc/testing/services/forging-provider.ts';
import { CLIENT, startSsoServer } from '@svc/testing/services/sso-server.ts';
import { createKeyring } from '@svc/server/vault/keyring.ts';
import { connectionBinding, variableBinding } from '@svc/server/vault/vault.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { loadFromOutside } from './http-load.ts';
import type { LoadResult } from './http-load.ts';
import { cpuSecondsWithChildren, usageOf } from './process-usage.ts';

const STORED = 10_000;
const BATCH = 500;
const CONCURRENCIES = [10, 50];

const nameOf = (kind: string, n: number): string => `${kind}_${String(n).padStart(5, '0')}`;

const CALLS = [
  { figure: 'token check only', path: '/api/v2/version' },
  { figure: 'list 100 connections', path: '/api/v2/connections?limit=100' },
  { figure: 'list 100 variables', path: '/api/v2/variables?limit=100' },
  { figure: 'get one connection', path: `/api/v2/connections/${nameOf('connection', 5_000)}` },
  { figure: 'get one variable', path: `/api/v2/variables/${nameOf('variable', 5_000)}` },
];

type Sample = LoadResult & { serverCpu: number; postgresCpu: number; rss: number };

export async function run(options: BenchOptions): Promise<void> {
  const seconds = options.number('seconds', 5);
  const runs = options.number('runs', 3);
  const only = options.text('only');
  const profile = options.text('profile');
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const cluster = await startScratchCluster({ fsync: 'on' });
  let server: ServerProcess | undefined;
  try {
    const url = await cluster.createDatabase();
    server = await startServerProcess({
      settings: { 'database.url': url },
      logFile: join(directory, 'server.log'),
      ...(profile !== undefined && { nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${profile}`] }),
    });
    await server.untilReady();
    options.say(`storing ${STORED} connections and ${STORED} variables`);
    await store(url);
    const headers = { authorization: `Bearer ${await logIn(server)}` };
    const pids = { server: server.pid, postgres: cluster.pid ?? 0 };
    for (const call of CALLS.filter(({ figure }) => only === undefined || figure.includes(only))) {
      for (const connections of CONCURRENCIES) {
        const load = { url: `${server.url}${call.path}`, connections, headers };
        await loadFromOutside({ ...load, seconds: 2 }); // fills caches and connection pools, and compiles code
        const samples: Sample[] = [];
        for (let n = 0; n < runs; n += 1) samples.push(await measure(pids, { ...load, seconds }));
        report(options, call.figure, connections, samples);
      }
    }
    const comparison = { options, server, pids, headers, seconds, runs };
    if (only === undefined || 'service token'.includes(only))
      await compareTokens({ ...comparison, kind: 'service', token: await serviceToken(server, headers) });
    if (only === undefined || 'single sign-on'.includes(only))
      await compareTokens({ ...comparison, kind: 'single sign-on', token: await singleSignOnToken(url) });
    await server.stop();
  } finally {
    await server?.stop('SIGKILL');
    await cluster.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Measures a request that only checks its token. Another kind of token and that of a password session are interleaved
 * (A/B).
 */
async function compareTokens(input: {
  options: BenchOptions;
  server: ServerProcess;
  pids: { server: number; postgres: number };
  headers: { authorization: string };
  seconds: number;
  runs: number;
  kind: 'service' | 'single sign-on';
  token: string;
}): Promise<void> {
  const { options, server, pids, headers, seconds, runs, kind, token } = input;
  const [connections = 10] = CONCURRENCIES;
  const load = { url: `${server.url}/api/v2/version`, connections };
  const costs = { session: [] as number[], other: [] as number[] };
  for (let n = 0; n <= runs; n += 1) {
    for (const [which, presented] of [
      ['session', headers],
      ['other', { authorization: `Bearer ${token}` }],
    ] as const) {
      const { serverCpu, postgresCpu } = await measure(pids, { ...load, headers: presented, seconds });
      if (n > 0) costs[which].push(serverCpu + postgresCpu); // the first round is a warm-up
    }
  }
  options.print({
    bench: 'api',
    figure:
      kind === 'service' ? 'service token beside a session' : 'session from single sign-on beside one from a password',
    value: rounded(median(costs.other) / median(costs.session), 2),
    unit: 'ratio of CPU per request',
    session: rounded(median(costs.session), 3),
    [kind]: rounded(median(costs.other), 3),
    connections,
    runs,
    cores: cpus().length,
    node: process.version,
  });
}

async function serviceToken(server: ServerProcess, headers: { authorization: string }): Promise<string> {
  const response = await fetch(`${server.url}/api/v2/serviceAccounts`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', role: 'admin' }),
  });
  return ((await response.json()) as { token: string }).token;
}

/** Opens the session in another process on the same database, as with a load balancer. */
async function singleSignOnToken(databaseUrl: string): Promise<string> {
  const provider = await startForgingProvider(CLIENT);
  const server = await startSsoServer({ issuer: provider.issuer, flags: { 'database.url': databaseUrl } });
  provider.signsIn({ sub: 'bench', email: 'bench@example.com', email_verified: true, groups: ['svc-admins'] });
  const { token } = await server.signIn();
  await server.close();
  await provider.stop();
  if (token === undefined) throw new Error('nobody was signed in');
  return token;
}

async function measure(
  pids: { server: number; postgres: number },
  load: Parameters<typeof loadFromOutside>[0],
): Promise<Sample> {
  const read = () => ({ server: usageOf(pids.server), postgres: cpuSecondsWithChildren(pids.postgres) });
  const before = read();
  const result = await loadFromOutside(load);
  const after = read();
  if (result.failed > 0) throw new Error(`${load.url}: ${result.failed} of ${result.requests} requests failed`);
  const perRequest = (from: number | undefined, to: number | undefined): number =>
    (((to ?? Number.NaN) - (from ?? Number.NaN)) * 1_000) / result.requests;
  return {
    ...result,
    serverCpu: perRequest(before.server?.cpuSeconds, after.server?.cpuSeconds),
    postgresCpu: perRequest(before.postgres, after.postgres),
    rss: after.server?.rssMebibytes ?? Number.NaN,
  };
}

function report(options: BenchOptions, figure: string, connections: number, samples: readonly Sample[]): void {
  const conditions = { connections, stored: STORED, runs: samples.length, cores: cpus().length, node: process.version };
  const measures = [
    ['requests/s', (sample: Sample) => sample.perSecond, 0],
    ['p50 ms', (sample: Sample) => sample.p50, 1],
    ['p99 ms', (sample: Sample) => sample.p99, 1],
    ['server CPU ms/request', (sample: Sample) => sample.serverCpu, 3],
    ['Postgres CPU ms/request', (sample: Sample) => sample.postgresCpu, 3],
    ['server RSS MiB', (sample: Sample) => sample.rss, 0],
  ] as const;
  for (const [unit, pick, digits] of measures) {
    const value = rounded(median(samples.map(pick)), digits);
    if (!Number.isNaN(value)) options.print({ bench: 'api', figure, value, unit, ...conditions });
  }
}

/** Seals connections as the server does, so that lists include the cost of decryption. */
async function store(url: string): Promise<void> {
  const db = openDatabase({
    url,
    maxOpenConns: 2,
    maxIdleConns: 1,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  const tenant = await findTenantByName(db.shared, DEFAULT_TENANT);
  if (!tenant) throw new Error('the server has made no tenant');
  const scope = db.tenant(tenant.id);
  const keyring = createKeyring({ current: Buffer.from(PROCESS_SECRET_KEY, 'hex'), previous: [] });
  for (let start = 0; start < STORED; start += BATCH) {
    const names = (kind: string) => Array.from({ length: BATCH }, (_, n) => nameOf(kind, start + n));
    await scope.transaction().execute(async (trx) => {
      await saveConnections(trx, names('connection'), (id) => ({
        connection_id: id,
        conn_type: 'postgres',
        description: `connection number ${id}`,
        host: `${id}.example.com`,
        login: 'etl',
        schema: 'warehouse',
        port: 5_432,
        password_sealed: keyring.seal(`password of ${id}`, connectionBinding(tenant.id, id, 'password')),
        extra_sealed: keyring.seal(extraOf(id), connectionBinding(tenant.id, id, 'extra')),
      }));
      await saveVariables(trx, names('variable'), (key) => ({
        key,
        value_plain: null,
        value_sealed: keyring.seal(`value of ${key}, some forty characters`, variableBinding(tenant.id, key)),
        description: `variable number ${key}`,
      }));
    });
  }
  await db.close();
  // Autovacuum would do this within a minute. Without it, counting reads the whole table instead of its index.
  await queryDatabase(url, 'vacuum (analyze)');
}

const extraOf = (id: string): string =>
  JSON.stringify({ sslmode: 'require', region: 'eu-central-1', access_key: `key of ${id}`, options: { timeout: 30 } });

async function logIn(server: ServerProcess): Promise<string> {
  const response = await fetch(`${server.url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
