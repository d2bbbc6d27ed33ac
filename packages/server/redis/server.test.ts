/** The server with Redis beside it: what people and probes see while it is there, away, and back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { startRedis } from '@svc/testing/services/redis.ts';
import type { TestRedis } from '@svc/testing/services/redis.ts';
import { ensureTenant } from '../auth/tenants.ts';

const PASSWORD = 'the/password+of:redis';
const ENTRIES = '/api/v2/dags/etl/dagRuns/r1/taskInstances/task/xcomEntries';

let redis: TestRedis;
let drop: () => Promise<void>;
let one: TestServer;
let other: TestServer;
let token: string;

beforeAll(async () => {
  redis = await startRedis();
  const user = ['on', `>${PASSWORD}`, '~svc:*', '&svc:*', '-@all', '+mget', '+set', '+ping', '+publish', '+subscribe'];
  redis.cli('ACL', 'SETUSER', 'svc', ...user);
  const database = await createTestDatabase();
  drop = database.drop;
  const flags = {
    'database.url': database.url,
    'redis.url': redis.url(`svc:${encodeURIComponent(PASSWORD)}`),
  };
  await redis.stop();
  one = await startTestServer(flags); // boots without it
  const db = one.db.tenant((await ensureTenant(one.db.shared, 'default')).id);
  await insertDag(db, { dagId: 'etl' });
  await insertRun(db, { dagId: 'etl', runId: 'r1', instances: [{ task_id: 'task' }] });
  token = await one.login();
  other = await startTestServer(flags);
});
afterAll(async () => {
  await one?.close();
  await other?.close();
  await redis?.close();
  await drop?.();
});

const large = (text: string) => text.padEnd(300_000, '.');
const valueAt = async (server: TestServer, key: string) => {
  const answer = await server.call(`${ENTRIES}/${key}`, { token });
  return [answer.status, answer.json<{ value?: string }>().value];
};
const readiness = async (server: TestServer) => {
  const { status, text } = await server.call('/readyz');
  return { status, text };
};
const health = async (server: TestServer) =>
  (await server.call('/api/v2/monitor/health', { token })).json<{ redis: object }>().redis;
const metric = async (server: TestServer, name: string): Promise<number> => {
  const line = (await (await fetch(server.metricsUrl)).text()).split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? Number.NaN);
};
const isBack = () =>
  eventually(async () => {
    for (const server of [one, other]) expect(await readiness(server)).toEqual({ status: 200, text: 'ready\n' });
  });

describe('while Redis is away', () => {
  it('the server is ready and says what it does without, and no request fails for it', async () => {
    for (const server of [one, other]) {
      const { status, text } = await readiness(server);
      expect([status, text]).toEqual([200, expect.stringMatching(/^ready\nRedis is away: .*nothing is lost\n$/)]);
      expect(text).not.toContain('127.0.0.1'); // it is shown to anybody
    }
    expect(await health(one)).toEqual({ status: 'unhealthy', problem: expect.stringContaining('Redis is away') });
    expect(await metric(one, 'svc_redis_up')).toBe(0);
    await eventually(async () => expect(await metric(one, 'svc_redis_outages_total')).toBe(1));
    const body = { key: 'k', value: large('away') };
    expect((await one.call(ENTRIES, { method: 'POST', token, body })).status).toBe(201);
    expect(await valueAt(other, 'k')).toEqual([200, large('away')]);
    const told = one.logLines.filter((line) => line.includes('Redis is away')).map((line) => JSON.parse(line) as { reason: string }); // prettier-ignore
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told.map(({ reason }) => reason)).size).toBe(told.length);
  });
});

describe('when it is there', () => {
  it('values come from it, and what one process changed the other never shows as it was', async () => {
    await redis.start();
    await eventually(() => redis.cli('ACL', 'SETUSER', 'svc', 'on', `>${PASSWORD}`, '~svc:*', '&svc:*', '+@all'));
    await isBack();
    expect(await health(one)).toEqual({ status: 'healthy', problem: null });
    expect(await metric(one, 'svc_redis_up')).toBe(1);
    // Read again where a busy Redis was late, and done without.
    await eventually(async () => {
      expect(await valueAt(one, 'k')).toEqual([200, large('away')]);
      expect(redis.keys()).toHaveLength(1);
    });
    await eventually(async () => {
      expect(await valueAt(other, 'k')).toEqual([200, large('away')]);
      expect(await metric(other, 'svc_xcom_cache_reads_total{result="hits"}')).toBeGreaterThan(0);
    });
    const body = { value: large('changed') };
    expect((await one.call(`${ENTRIES}/k`, { method: 'PATCH', token, body })).status).toBe(200);
    expect(await valueAt(other, 'k')).toEqual([200, large('changed')]);
    await redis.stop();
    await redis.start();
    expect(await valueAt(other, 'k')).toEqual([200, large('changed')]);
    expect((await one.call(`${ENTRIES}/k`, { method: 'DELETE', token })).status).toBe(204);
    expect((await valueAt(other, 'k'))[0]).toBe(404);
  });

  it('its password is in no log line', () => {
    const lines = [...one.logLines, ...other.logLines].join('');
    expect(lines).toContain('Redis answers');
    for (const form of [PASSWORD, encodeURIComponent(PASSWORD)]) expect(lines).not.toContain(form);
  });
});
