/** The failed-login budget: five a minute and address, in the database, for all processes together. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
/** On the same database, behind a trusted proxy on this machine. */
let proxied: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  proxied = await startTestServer({
    'database.url': server.config.database.url,
    'server.trusted-proxies': ['127.0.0.1/32'],
  });
});
afterAll(async () => {
  await proxied?.close();
  await server?.close();
});
beforeEach(() => server.db.shared.deleteFrom('login_failures').execute());

type Attempt = { on?: TestServer; password?: string; username?: string; from?: string };

const attempt = ({ on = server, password = 'a wrong guess', username = ADMIN_EMAIL, from }: Attempt = {}) =>
  on.call('/auth/token', {
    method: 'POST',
    body: { username, password },
    ...(from !== undefined && { headers: { 'x-forwarded-for': from } }),
  });

async function statuses(attempts: readonly Attempt[]): Promise<number[]> {
  const result: number[] = [];
  for (const [index, one] of attempts.entries()) {
    // On a busy machine, these attempts may take longer than the minute of a window: the first one opens it again.
    if (index > 0) await moveWindowBack(0);
    result.push((await attempt(one)).status);
  }
  return result;
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const budgets = () =>
  server.db.shared.selectFrom('login_failures').select(['client_ip', 'failures']).orderBy('client_ip').execute();

describe('the failed-login budget', () => {
  it('allows five failures, then refuses with the time to wait, even the right password', async () => {
    expect(await statuses(times(5, {}))).toEqual(times(5, 401));
    const answers = [await attempt(), await attempt({ password: TEST_PASSWORD })];
    for (const answer of answers) expectLimited(answer);
    expect(answers[1]?.headers.getSetCookie()).toEqual([]);
  });

  it('is not touched by successful logins, before, between and after failures', async () => {
    const success = { password: TEST_PASSWORD };
    expect(await statuses(times(7, success))).toEqual(times(7, 200));
    expect(await statuses(times(4, {}))).toEqual(times(4, 401));
    expect(await statuses(times(3, success))).toEqual(times(3, 200));
    expect((await budgets())[0]?.failures).toBe(4);
    expect(await statuses([{}, {}, success])).toEqual([401, 429, 429]);
  });

  it('counts unknown users and known ones alike, so that the limit tells nobody who exists', async () => {
    const unknown = { username: 'nobody@example.com' };
    expect(await statuses([unknown, {}, unknown, {}, unknown])).toEqual(times(5, 401));
    expectLimited(await attempt(unknown));
    expectLimited(await attempt());
  });

  it('is shared by all processes', async () => {
    const elsewhere = { on: proxied };
    expect(await statuses([{}, elsewhere, {}, elsewhere, {}])).toEqual(times(5, 401));
    expect(await statuses([elsewhere, {}])).toEqual([429, 429]);
  });

  it('cannot be overrun by a burst: of thirty parallel guesses five are checked', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => attempt({ on: index % 2 ? server : proxied })),
    );
    const counted = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([counted(401), counted(429)]).toEqual([5, 25]);
    expect((await budgets())[0]?.failures).toBe(5);
  });

  it('is new after a minute', async () => {
    expect(await statuses(times(6, {}))).toEqual([...times(5, 401), 429]);
    await moveWindowBack(30);
    expectLimited(await attempt(), 30);
    await moveWindowBack(61);
    expect(await statuses(times(6, {}))).toEqual([...times(5, 401), 429]);
  });

  it('also pays for guesses at the current password when changing it', async () => {
    const token = await server.login();
    const guess = () =>
      server.call('/api/v2/auth/password', {
        method: 'POST',
        token,
        body: { current_password: 'a wrong guess', new_password: 'long enough' },
      });
    for (let count = 0; count < 5; count += 1) expect((await guess()).status).toBe(401);
    expectLimited(await guess());
    expectLimited(await attempt());
  });

  it('is not spent by a request that is no attempt at all', async () => {
    for (let count = 0; count < 10; count += 1) expect((await attempt({ password: '' })).status).toBe(400);
    expect(await statuses([{ password: TEST_PASSWORD }])).toEqual([200]);
    expect(await budgets()).toEqual([{ client_ip: '127.0.0.1', failures: 0 }]);
  });
});

describe('the address the budget belongs to', () => {
  it('is the peer while no proxy is trusted: a made-up X-Forwarded-For is no way around', async () => {
    const spoofed = Array.from({ length: 6 }, (_, index) => ({ from: `203.0.113.${index}` }));
    expect(await statuses(spoofed)).toEqual([...times(5, 401), 429]);
    expect(await budgets()).toEqual([{ client_ip: '127.0.0.1', failures: 5 }]);
  });

  it('is the left-most entry behind a trusted proxy: each client has its own', async () => {
    const client = (from: string) => ({ on: proxied, from });
    expect(await statuses(times(6, client('203.0.113.1, 10.9.9.9')))).toEqual([...times(5, 401), 429]);
    expect(await statuses([client('203.0.113.2'), client('203.0.113.1')])).toEqual([401, 429]);
    expect(await statuses([{ on: proxied, password: TEST_PASSWORD, from: '203.0.113.2' }])).toEqual([200]);
    expect(await budgets()).toEqual([
      { client_ip: '203.0.113.1', failures: 5 },
      { client_ip: '203.0.113.2', failures: 1 },
    ]);
  });

  it('is the proxy when the header holds no address: a made-up word is no fresh budget', async () => {
    const inventive = Array.from({ length: 6 }, (_, index) => ({ on: proxied, from: `client-${index}` }));
    expect(await statuses(inventive)).toEqual([...times(5, 401), 429]);
    expect(await budgets()).toEqual([{ client_ip: '127.0.0.1', failures: 5 }]);
  });

  it('is also the one the audit log shows', async () => {
    await attempt({ on: proxied, from: '203.0.113.77' });
    const entry = await server.db.shared
      .selectFrom('audit_log')
      .select(['event', 'client_ip', 'actor'])
      .orderBy('id', 'desc')
      .executeTakeFirst();
    expect(entry).toEqual({ event: 'login_failed', client_ip: '203.0.113.77', actor: ADMIN_EMAIL });
  });
});

function expectLimited(answer: Answer, atMostSeconds = 60): void {
  expect(answer.status).toBe(429);
  expect(answer.json()).toMatchObject({ type: 'urn:svc:error:login_rate_limited', status: 429 });
  const seconds = Number(answer.headers.get('retry-after'));
  expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= atMostSeconds).toBe(true);
}

/** As if the first failure had been so long ago. */
async function moveWindowBack(seconds: number): Promise<void> {
  await server.db.shared
    .updateTable('login_failures')
    .set({ window_started_at: new Date(Date.now() - seconds * 1_000) })
    .execute();
}
