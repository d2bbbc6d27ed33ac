/** What a caller of the API sees while the database fails: 503 as a problem body in bounded time, never 401, 500 or silence. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { untilLockWaits } from '../postgres/lock-waits.ts';
import { failOnStrayRejections } from '../vitest/no-stray-errors.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { ScratchCluster } from '../postgres/scratch-cluster.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '../server/test-server.ts';
import type { Answer, TestServer } from '../server/test-server.ts';

let cluster: ScratchCluster;
let server: TestServer;
/** The server that most tests use: after each fault it has to work again, and the next test begins with it. */
let shared: TestServer | undefined;
let token: string;

failOnStrayRejections();
beforeAll(async () => {
  cluster = await startScratchCluster();
});
afterEach(async () => {
  if (server !== shared) await server?.close();
});
afterAll(async () => {
  await shared?.close();
  await cluster?.remove();
});

/** Starts a separate server for a test that gives flags. All other tests share one server. */
async function start(flags?: Record<string, string>): Promise<void> {
  const settings = async () => ({ 'database.url': await cluster.createMigratedDatabase(), ...MANY_LOGINS, ...flags });
  if (flags) server = await startTestServer(await settings());
  else server = shared ??= await startTestServer(await settings());
  token = await server.login();
}

const MANY_LOGINS = { 'auth.login-rate-limit-per-minute': '100000' };
const SECRET_OR_SQL = /select|insert|127\.0\.0\.1|postgres:/i;

const problemOf = ({ status, headers, text }: Answer) => ({
  status,
  mediaType: headers.get('content-type'),
  retryAfter: headers.get('retry-after') !== null,
  type: (JSON.parse(text) as { type: string }).type,
});
const UNAVAILABLE = {
  status: 503,
  mediaType: 'application/problem+json',
  retryAfter: true,
  type: 'urn:svc:error:database_unavailable',
};
const NOT_READY = { ...UNAVAILABLE, type: 'urn:svc:error:not_ready' };

const writeVariable = (key: string, value: string) =>
  server.call('/api/v2/variables', { method: 'POST', token, body: { key, value } });
const logInOverHttp = () =>
  server.call('/auth/token', { method: 'POST', body: { username: ADMIN_EMAIL, password: TEST_PASSWORD } });

/** One of each kind: a token check, a read, a write in a transaction, a login. */
const everyKindOfCall = () =>
  Promise.all([
    server.call('/api/v2/version', { token }),
    server.call('/api/v2/variables', { token }),
    writeVariable('during', 'outage'),
    logInOverHttp(),
  ]);

async function expectWorkingAgain(): Promise<void> {
  await eventually(async () => expect((await server.call('/readyz')).status).toBe(200));
  expect((await everyKindOfCall()).map((answer) => answer.status)).toEqual([200, 200, 201, 200]);
  await expect
    .poll(async () => (await server.call('/api/v2/monitor/health', { token })).json())
    .toMatchObject({
      metadatabase: { status: 'healthy' },
      scheduler: { status: 'healthy' },
    });
}

/** Those that serve us. Of a killed Postgres they live until they notice, and may answer until then. */
async function backends(): Promise<number[]> {
  const { rows } = await cluster.asSuperuser((client) =>
    client.query<{ pid: number }>("select pid from pg_stat_activity where application_name = 'svc'"),
  );
  return rows.map(({ pid }) => pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Holds a table so that whatever needs it waits in the database. */
async function holdTable(table: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: server.config.database.url });
  await client.connect();
  await client.query(`begin; lock table ${table}`);
  return () => client.end();
}

describe('while the database is away', () => {
  it.each(['fast', 'immediate', 'kill'] as const)(
    'answers 503 without a secret or SQL, and works again after the restart (%s)',
    async (mode) => {
      await start();
      expect((await writeVariable('kept', mode)).status).toBe(201);
      const serving = await backends();
      await cluster.stop(mode);
      await expect.poll(() => serving.filter(isAlive)).toEqual([]);
      try {
        for (const answer of await everyKindOfCall()) {
          expect(problemOf(answer)).toEqual(UNAVAILABLE);
          expect(answer.text).not.toMatch(SECRET_OR_SQL);
        }
        expect(problemOf(await server.call('/readyz'))).toEqual(NOT_READY);
        expect((await server.call('/healthz')).status).toBe(200);
      } finally {
        await cluster.start();
      }
      await expectWorkingAgain();
      expect((await server.call('/api/v2/variables/kept', { token })).json()).toMatchObject({ value: mode });
    },
  );

  it('answers 503 in bounded time when nothing is closed but nothing answers either', async () => {
    await start();
    cluster.pause();
    try {
      for (const answer of await everyKindOfCall()) expect(problemOf(answer)).toEqual(UNAVAILABLE);
      expect(problemOf(await server.call('/readyz'))).toEqual(NOT_READY);
    } finally {
      cluster.resume();
    }
    await expectWorkingAgain();
  });

  it('loses one request at most for each backend that is terminated, and none that came later', async () => {
    await start({}); // a connection that an earlier fault has broken would fail one of the two requests at once
    const release = await holdTable('variables');
    const waiting = [writeVariable('a', '1'), server.call('/api/v2/variables', { token })];
    await untilLockWaits(server.config.database.url, 2);
    const { rows } = await cluster.asSuperuser((client) =>
      client.query<{ pid: number }>(
        "select pid, pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc'",
      ),
    );
    for (const answer of await Promise.all(waiting)) expect(problemOf(answer)).toEqual(UNAVAILABLE);
    // Told to end, those that served nobody may take a request before they do.
    await expect.poll(() => rows.filter(({ pid }) => isAlive(pid))).toEqual([]);
    await release();
    await expectWorkingAgain();
  });
});

describe('when the database is slow', () => {
  it('answers 503 with its own code when a statement reaches the statement timeout', async () => {
    await start({ 'database.statement-timeout': '5s' }); // for all others, too, on a machine that may be busy
    const release = await holdTable('variables');
    const answer = await server.call('/api/v2/variables', { token });
    await release();
    expect(problemOf(answer)).toEqual({ ...UNAVAILABLE, type: 'urn:svc:error:statement_timeout' });
    await expectWorkingAgain();
  });

  it('lets requests wait for a connection, refuses who waits too long, and opens no more than allowed', async () => {
    // Two for requests, and one that is kept for the scheduler.
    await start({ 'database.max-open-conns': '3', 'database.max-idle-conns': '3' });
    const release = await holdTable('variables');
    const waiting = Array.from({ length: 40 }, () => server.call('/api/v2/variables', { token }));
    await untilLockWaits(server.config.database.url, 2);
    const name = new URL(server.config.database.url).pathname.slice(1);
    const opened = async (): Promise<number> => {
      const { rows } = await cluster.asSuperuser((client) =>
        client.query<{ open: number }>(
          "select count(*)::int as open from pg_stat_activity where application_name = 'svc' and datname = $1 and pid <> pg_backend_pid()",
          [name],
        ),
      );
      return rows[0]?.open ?? 0;
    };
    // And the test's own. One that was closed just now may still be there for a moment.
    await expect.poll(opened).toBeLessThanOrEqual(3 + 1);
    await Promise.race(waiting); // refused: no other answer is possible while the table is held
    await release();
    const answers = await Promise.all(waiting);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
    const reasons = answers.filter(({ status }) => status === 503).map((answer) => answer.json()['type']);
    expect(new Set(reasons)).toEqual(new Set(['urn:svc:error:overloaded'])); // and not that the database is away
    await expectWorkingAgain();
  });
});
