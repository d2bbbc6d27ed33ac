/** Whole processes against a database that fails them: `svc server` must never end by itself. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { untilLockWaits } from '../postgres/lock-waits.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { ScratchCluster } from '../postgres/scratch-cluster.ts';
import { startHangUpServer } from '../server/hang-up-server.ts';
import { PROCESS_ADMIN, startServerProcess } from '../server/server-process.ts';
import type { ServerProcess } from '../server/server-process.ts';

let cluster: ScratchCluster;
const started: ServerProcess[] = [];
beforeAll(async () => {
  cluster = await startScratchCluster();
});
afterAll(async () => {
  await Promise.all(started.map((server) => server.stop('SIGKILL')));
  await cluster?.remove();
});

async function start(settings: Record<string, string>): Promise<ServerProcess> {
  const server = await startServerProcess({ settings });
  started.push(server);
  return server;
}

async function logIn(server: ServerProcess): Promise<string> {
  const response = await fetch(`${server.url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

const statusOf = async (url: string, init?: RequestInit): Promise<number> => {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return response.status;
};

// Servers start slowly: tests take those that the tests before them have left.
describe('a server without its database', () => {
  let server: ServerProcess;

  it('waits for a database that is not up yet: alive, not ready, then ready without a restart', async () => {
    const url = await cluster.createDatabase();
    await cluster.stop();
    server = await start({ 'database.url': url });
    expect(await statusOf(`${server.url}/healthz`)).toBe(200);
    const notReady = await fetch(`${server.url}/readyz`);
    expect(notReady.status).toBe(503);
    expect(await notReady.json()).toMatchObject({ type: 'urn:svc:error:not_ready', status: 503 });
    expect(await statusOf(`${server.url}/api/v2/version`)).toBe(503);
    const away = await startHangUpServer(cluster.port);
    await eventually(() => away.calls() > 2); // several attempts have failed
    await away.close();
    expect(server.exited()).toBe(null);
    await cluster.start();
    await server.untilReady();
    expect(await statusOf(`${server.url}/api/v2/version`)).toBe(401);
  });

  it('says once why it is not ready, in words, however often it is asked', async () => {
    // Not by the number of lines: one of the test before may still be on its way.
    const before = Date.now();
    await cluster.stop();
    const ask = () => statusOf(`${server.url}/readyz`);
    await eventually(async () => (await ask()) === 503);
    for (let time = 0; time < 10; time += 1) expect(await ask()).toBe(503);
    await cluster.start();
    await eventually(async () => (await ask()) === 200);
    for (let time = 0; time < 3; time += 1) expect(await ask()).toBe(200);
    const said = (text: string): string[] =>
      server
        .logLines()
        .filter((line) => line.includes(text) && Date.parse((JSON.parse(line) as { time: string }).time) >= before);
    await eventually(() => said('"ready again"').length > 0); // an answer may be here before the line about it
    expect(said('"not ready: the database is not available')).toHaveLength(1);
    expect(said('"ready again"')).toHaveLength(1);
    expect(said('not_ready')).toEqual([]);
  });

  it('ends by itself within seconds although the database does not answer', async () => {
    const token = await logIn(server);
    cluster.pause();
    try {
      const waiting = statusOf(`${server.url}/api/v2/version`, { headers: { authorization: `Bearer ${token}` } });
      // A request that the server has taken shows nowhere while Postgres is paused; one that came after it has an answer.
      for (let time = 0; time < 2; time += 1) expect(await statusOf(`${server.url}/healthz`)).toBe(200);
      expect(await server.stop('SIGTERM')).toBe(0);
      expect(await waiting).toBe(503); // it was in flight and got its answer
    } finally {
      cluster.resume();
    }
  });

  it('ends when the database refuses the password, for which no waiting helps', async () => {
    const url = new URL(await cluster.createDatabase());
    url.password = 'guess';
    const refused = await start({ 'database.url': url.toString() });
    await expect(refused.untilReady()).rejects.toThrow(/password authentication failed/);
    expect(refused.logLines().join('\n')).not.toContain('guess');
  });
});

describe('several servers of one database', () => {
  let url: string;
  let servers: ServerProcess[];

  it('makes schema, roles and the first administrator once when three processes boot on an empty database', async () => {
    url = await cluster.createDatabase();
    servers = await Promise.all(Array.from({ length: 3 }, () => start({ 'database.url': url })));
    await Promise.all(servers.map((server) => server.untilReady()));
    expect(await queryDatabase(url, 'select email from users')).toEqual([{ email: PROCESS_ADMIN.email }]);
    expect(await queryDatabase(url, 'select count(*)::int as roles from roles')).toEqual([{ roles: 4 }]);
    expect(await queryDatabase(url, 'select count(*)::int as tenants from tenants')).toEqual([{ tenants: 1 }]);
    const tokens = await Promise.all(servers.map(logIn));
    const headers = { authorization: `Bearer ${tokens[0]}` };
    const answers = await Promise.all(servers.map((server) => statusOf(`${server.url}/api/v2/version`, { headers })));
    expect(answers).toEqual([200, 200, 200]);
    const migrations = (): string[] =>
      servers.flatMap((server) => server.logLines().filter((line) => line.includes('schema migrated')));
    await eventually(() => migrations().length > 0);
    expect(migrations()).toHaveLength(1);
  }, 400_000);

  it('lets a request in flight finish at shutdown', async () => {
    const server = servers.pop() as ServerProcess;
    const token = await logIn(server);
    const blocker = new pg.Client({ connectionString: url });
    await blocker.connect();
    await blocker.query('begin; lock table variables');
    const slow = statusOf(`${server.url}/api/v2/variables`, { headers: { authorization: `Bearer ${token}` } });
    await untilLockWaits(url);
    const stopped = server.stop('SIGTERM');
    // It has begun to stop: nobody new is let in.
    await eventually(async () => (await statusOf(`${server.url}/healthz`).catch(() => 'closed')) !== 200);
    await blocker.query('rollback');
    expect(await slow).toBe(200);
    expect(await stopped).toBe(0);
    await blocker.end();
  });

  it('refuses a schema of a newer version and ends, saying so', async () => {
    await queryDatabase(url, `insert into kysely_migration (name, timestamp) values ('9999-from-the-future', 'now')`);
    const newcomer = await start({ 'database.url': url });
    await expect(newcomer.untilReady()).rejects.toThrow(/migrated by a newer version of svc/);
    expect(newcomer.exited()).toBe(1);
    // One that runs already is not disturbed: that is how a rolling upgrade starts.
    expect(servers.map((server) => server.exited())).toEqual([null, null]);
  });
});
