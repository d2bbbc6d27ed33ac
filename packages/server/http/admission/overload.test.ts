/** Bursts of requests against a real server: who is turned away, with what, and who is not. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
const tokens = { one: '', other: '' };

beforeAll(async () => {
  server = await startTestServer({ 'server.max-requests-at-once': '2', 'server.max-requests-waiting': '40' });
  for (const email of ['one@example.com', 'other@example.com']) await server.addUser({ email, roles: ['viewer'] });
  tokens.one = await server.login('one@example.com');
  tokens.other = await server.login('other@example.com');
  // A token that was good once is known to be its user's.
  for (const token of Object.values(tokens)) await server.call('/api/v2/dags', { token });
});

afterAll(() => server?.close());

const burst = (token: string, count: number): Promise<Answer>[] =>
  Array.from({ length: count }, () => server.call('/api/v2/dags', { token }));

const shares = (answers: readonly Answer[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]));

/** While requests for DAGs are held up in the database, so that what comes first is served last. */
async function whileBlocked(work: () => Promise<void>): Promise<void> {
  await server.db.shared.transaction().execute(async (trx) => {
    await sql`lock table dags in access exclusive mode`.execute(trx);
    await work();
  });
}

/** Resolves when so many of them are refused. */
async function untilRefused(burst: readonly Promise<Answer>[], count: number): Promise<void> {
  let refused = 0;
  for (const answer of burst) void answer.then(({ status }) => (refused += Number(status !== 200)));
  await expect.poll(() => refused).toBe(count);
}

describe('a burst of requests by one user', () => {
  it('is answered as far as there is room; the rest is told to come back, and why', async () => {
    let requests: Promise<Answer>[] = [];
    await whileBlocked(async () => {
      requests = burst(tokens.one, 100);
      await untilRefused(requests, 89);
    });
    const answers = await Promise.all(requests);
    expect(shares(answers)).toEqual({ 200: 11, 429: 89 }); // one that was served, and a quarter of those who may wait
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(refused?.headers.get('content-type')).toBe('application/problem+json');
    expect(refused?.json()).toEqual({
      type: 'urn:svc:error:overloaded',
      title: 'Overloaded',
      status: 429,
      detail: expect.stringContaining('you have more requests waiting than one user may'),
      instance: '/api/v2/dags',
    });
  });

  it('turns nobody else away, and the probes are answered meanwhile', async () => {
    let others: Promise<Answer>[] = [];
    await whileBlocked(async () => {
      const crowd = burst(tokens.one, 100);
      await untilRefused(crowd, 89);
      others = burst(tokens.other, 5);
      const probes = await Promise.all(['/healthz', '/readyz'].map((path) => server.call(path)));
      expect(probes.map(({ status }) => status)).toEqual([200, 200]);
    });
    expect(shares(await Promise.all(others))).toEqual({ 200: 5 });
  });

  it('gets 503 when everybody has as much as everybody else, and never another reason', async () => {
    const users = await Promise.all(
      Array.from({ length: 4 }, async (_, n) => {
        const email = `user${n}@example.com`;
        await server.addUser({ email, roles: ['viewer'] });
        const token = await server.login(email);
        await server.call('/api/v2/dags', { token });
        return token;
      }),
    );
    let requests: Promise<Answer>[] = [];
    await whileBlocked(async () => {
      requests = [...users, tokens.one, tokens.other].flatMap((token) => burst(token, 40));
      await untilRefused(requests, 240 - 42);
    });
    const answers = await Promise.all(requests);
    expect(Object.keys(shares(answers))).toEqual(['200', '429', '503']);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(answer.json()).toMatchObject({ type: 'urn:svc:error:overloaded', status: answer.status });
      expect(answer.headers.has('retry-after')).toBe(true);
    }
  });

  it('is counted, and the log says that requests were turned away', async () => {
    await expect.poll(() => server.logLines.join('')).toContain('requests were turned away');
    const metrics = await (await fetch(server.metricsUrl)).text();
    expect(metrics).toMatch(/svc_http_requests_refused_total\{reason="user"\} [1-9]/);
  });
});

describe('somebody who follows a log, or waits for a run', () => {
  it('holds up nobody: what is answered by and by does not count as being served', async () => {
    const followers = Array.from({ length: 4 }, () => new AbortController());
    await Promise.all(
      followers.map(({ signal }) =>
        fetch(`${server.url}/docs/static/swagger-ui-bundle.js`, { signal }).then(({ status }) =>
          expect(status).toBe(200),
        ),
      ),
    );
    expect((await server.call('/api/v2/dags', { token: tokens.one })).status).toBe(200);
    for (const follower of followers) follower.abort();
  });
});
