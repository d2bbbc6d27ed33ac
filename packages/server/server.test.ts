import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.close());

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(server.metricsUrl)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
};

it('counts failed logins and shows how long ago the scheduler last gave a sign of life', async () => {
  expect(await metric('svc_login_failures_total')).toBe(0);
  await server.call('/auth/token', { method: 'POST', body: { username: ADMIN_EMAIL, password: 'a wrong one' } });
  await server.login();
  expect(await metric('svc_login_failures_total')).toBe(1);
  const age = () => metric('svc_scheduler_heartbeat_age_seconds');
  await vi.waitFor(async () => expect(await age()).toBeLessThan(60), { timeout: 120_000 });
});
