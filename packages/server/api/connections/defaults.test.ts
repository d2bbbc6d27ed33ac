import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
});
afterAll(() => server?.close());

type Connections = { connections: { connection_id: string; conn_type: string; host: string | null }[] };
const list = async () =>
  (await server.call('/api/v2/connections?limit=1000', { token })).json<Connections>().connections;

it('the default connections are created once, and what exists stays as it is', async () => {
  const own = { connection_id: 'postgres_default', conn_type: 'postgres', host: 'mine.example.com', password: 'kept' };
  await server.call('/api/v2/connections', { method: 'POST', token, body: own });
  const create = () => server.call('/api/v2/connections/defaults', { method: 'POST', token });
  const first = await create();
  expect([first.status, first.text]).toEqual([204, '']);
  const made = await list();
  expect(made.length).toBeGreaterThan(10);
  expect(made.find(({ connection_id: id }) => id === 'postgres_default')).toMatchObject({ host: 'mine.example.com' });
  expect(made.find(({ connection_id: id }) => id === 'http_default')).toMatchObject({ conn_type: 'http', host: null });
  expect((await create()).status).toBe(204);
  expect(await list()).toEqual(made);
  const { event_logs: logged } = (
    await server.call('/api/v2/eventLogs?event=create_default_connections&order_by=id', { token })
  ).json<{ event_logs: { extra: string }[] }>();
  const created = logged.map(({ extra }) => (JSON.parse(extra) as { created: string[] }).created.length);
  expect(created).toEqual([made.length - 1, 0]);
});
