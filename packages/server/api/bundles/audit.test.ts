import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.close());

it('a scan of ports by sources of bundles leaves each address in the audit log', async () => {
  const token = await server.login();
  const send = (method: string, path: string, body: object) =>
    server.call(`/api/v2/bundles${path}`, { method, token, body });
  const url = 'https://10.0.0.5:6379/x?key=canary-of-a-query';
  expect((await send('POST', '', { name: 'scan', kind: 'git', url })).status).toBe(201);
  expect((await send('PATCH', '/scan', { url: 'https://10.0.0.6:22/x' })).status).toBe(200);
  const { text } = await server.call('/api/v2/eventLogs', { token });
  for (const place of ['https://10.0.0.5:6379/x', 'https://10.0.0.6:22/x']) expect(text).toContain(place);
  expect(text).not.toContain('canary-of-a-query');
});
