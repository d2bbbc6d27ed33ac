/** The answers of the API; what the agent does is in executors/connection-test.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let off: TestServer;
let token: string;
const before = process.env['SVC_PYTHON'];
beforeAll(async () => {
  process.env['SVC_PYTHON'] = await pythonEnvironment();
  server = await startTestServer({ 'connections.test-enabled': 'true', 'executor.type': 'subprocess' });
  off = await startTestServer();
  token = await server.login();
});
afterAll(async () => {
  if (before === undefined) delete process.env['SVC_PYTHON'];
  else process.env['SVC_PYTHON'] = before;
  await server?.close();
  await off?.close();
});

type Result = { status: boolean; message: string };
const test = (body: object, { to = server, as = token }: { to?: TestServer; as?: string } = {}) =>
  to.call('/api/v2/connections/test', { method: 'POST', token: as, body });

describe('POST /api/v2/connections/test', () => {
  it('is off by default, and the web UI knows', async () => {
    const admin = await off.login();
    const answer = await test({ connection_id: 'x', conn_type: 'http' }, { to: off, as: admin });
    expect([answer.status, answer.json()['type']]).toEqual([403, 'urn:svc:error:disabled']);
    expect(answer.json()['detail']).toContain('connections.test_enabled');
    expect((await off.call('/ui/config', { token: admin })).json()['test_connection']).toBe('Disabled');
    expect((await server.call('/ui/config', { token })).json()['test_connection']).toBe('Enabled');
  });

  it('is for those who may write connections', async () => {
    await server.addUser({ email: 'op@example.com', roles: ['operator'] });
    const operator = await server.login('op@example.com');
    expect((await test({ conn_type: 'http' }, { as: operator })).status).toBe(403);
  });

  it('refuses what no connection can be', async () => {
    expect((await test({ conn_type: 'http', port: 'many' })).status).toBe(400);
    expect((await test({ connection_id: 'x' })).status).toBe(400);
  });

  it('says what is missing where the hook would run, and leaves an entry in the audit log but no secret', async () => {
    const canary = 'canary-of-the-test-of-connections';
    const stored = {
      connection_id: 'stored',
      conn_type: 'postgres',
      password: canary,
      extra: `{"token":"${canary}2"}`,
    };
    await server.call('/api/v2/connections', { method: 'POST', token, body: stored });
    const answer = await test({ connection_id: 'stored', conn_type: 'postgres', password: '***', host: 'db' });
    expect(answer.status).toBe(200);
    const { status, message } = answer.json<Result>();
    expect([status, message]).toEqual([false, expect.stringContaining('apache-airflow-providers-postgres')]);
    expect((await server.call('/api/v2/connections/stored', { token })).json()['host']).toBeNull();
    const entries = (await server.call('/api/v2/eventLogs?event=test_connection', { token })).text;
    expect(entries).toContain('connection:stored');
    expect(entries).toMatch(/host[^,]*db/); // a scan shows what it has looked for
    expect(`${entries}${answer.text}${server.logLines.join()}`).not.toContain(canary);
  });

  it('can be enqueued: its token gives the result to its tenant only, and a failed test saves nothing', async () => {
    const canary = 'canary-of-an-enqueued-test';
    const path = '/api/v2/connections/enqueue-test';
    const body = { connection_id: 'later', conn_type: 'postgres', password: canary, commit_on_success: true };
    const begun = await server.call(path, { method: 'POST', token, body });
    expect([begun.status, begun.json()]).toMatchObject([202, { connection_id: 'later', state: 'pending' }]);
    const headers = { 'airflow-connection-test-token': String(begun.json()['token']) };
    const state = () => server.call(path, { token, headers });
    await expect.poll(async () => (await state()).json()['state'], { timeout: 120_000 }).toBe('failed');
    expect((await state()).json()['result_message']).toContain('apache-airflow-providers-postgres');
    expect(`${(await state()).text}${server.logLines.join()}`).not.toContain(canary);
    expect((await server.call('/api/v2/connections/later', { token })).status).toBe(404);
    await server.addUser({ email: 'admin@elsewhere.example', roles: ['admin'], tenant: 'elsewhere' });
    const stranger = await server.login('admin@elsewhere.example', 'elsewhere');
    const ofStranger = await server.call(path, { token: stranger, headers });
    expect([ofStranger.status, (await server.call(path, { token })).status]).toEqual([404, 400]);
  });

  it('is refused in words where tasks run in pods, and the web UI knows', async () => {
    const alone = await startTestServer({
      'database.url': server.config.database.url,
      'connections.test-enabled': 'true',
      'scheduler.enabled': 'false',
    });
    try {
      const admin = await alone.login();
      const answer = await test({ conn_type: 'http' }, { to: alone, as: admin });
      expect([answer.status, answer.json()['type']]).toEqual([403, 'urn:svc:error:disabled']);
      expect(answer.json()['detail']).toContain('where tasks run in pods');
      expect((await alone.call('/ui/config', { token: admin })).json()['test_connection']).toBe('Disabled');
    } finally {
      await alone.close();
    }
  });
});
