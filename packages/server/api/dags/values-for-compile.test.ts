import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let server: TestServer;
const tokens = new Map<string, string>();

beforeAll(async () => {
  server = await startTestServer();
  tokens.set('admin', await server.login());
  for (const role of ['viewer', 'operator', 'editor'] as const) {
    await server.addUser({ email: `${role}@example.com`, roles: [role] });
    tokens.set(role, await server.login(`${role}@example.com`));
  }
  const write = (path: string, body: object) =>
    server.call(path, { method: 'POST', token: tokens.get('admin') ?? '', body });
  await write('/api/v2/variables', { key: 'when', value: '@hourly' });
  await write('/api/v2/variables', { key: 'api_token', value: 'a-token-of-the-vault' });
  await write('/api/v2/connections', { connection_id: 'open', conn_type: 'http', host: 'h' });
  await write('/api/v2/connections', { connection_id: 'warehouse', conn_type: 'postgres', password: 'a-password' });
});
afterAll(() => server?.close());

const read = (role: string, kind: string, name: string) =>
  server.call('/api/v2/valuesForCompile', {
    method: 'POST',
    token: tokens.get(role) ?? '',
    body: { kind, name, is_declared: true },
  });

it.each([
  ['viewer', 'variable', 'when', 'missing permission write:dag'],
  ['operator', 'variable', 'when', 'given'],
  ['operator', 'connection', 'open', 'given'],
  ['operator', 'variable', 'api_token', 'missing permission write:variable'],
  ['operator', 'connection', 'warehouse', 'missing permission write:connection'],
  ['editor', 'variable', 'api_token', 'given'],
  ['editor', 'connection', 'warehouse', 'given'],
])(
  'to compile a DAG file, the role %s gets of the %s %s what its permissions allow',
  async (role, kind, name, expected) => {
    const answer = await read(role, kind, name);
    const isGiven = expected === 'given';
    expect(answer.status).toBe(isGiven ? 200 : 403);
    expect(isGiven ? answer.headers.get('cache-control') : answer.json()['detail']).toBe(
      isGiven ? 'no-store' : expected,
    );
  },
);

it('a value that is read to compile a DAG file is audited by name, without the value', async () => {
  await read('editor', 'connection', 'warehouse');
  const { text } = await server.call('/api/v2/eventLogs?event=post_value_for_compile&limit=1000', {
    token: tokens.get('admin') ?? '',
  });
  expect(text).toContain('warehouse');
  expect(text).toContain('editor@example.com');
  expect(text).not.toContain('a-password');
});
