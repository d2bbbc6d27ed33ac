/** Connections when the key is missing, was lost or was replaced. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const PATH = '/api/v2/connections';
const OLD_KEY = 'a'.repeat(64);
const NEW_KEY = 'b'.repeat(64);
type Body = Record<string, unknown>;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let server: TestServer;
let token = '';

async function startWith(flags: Record<string, string>): Promise<void> {
  await server?.close();
  server = await startTestServer({ 'database.url': database.url, ...flags });
  token = await server.login();
}
const call = (method: string, path: string, body?: Body) =>
  server.call(`${PATH}${path}`, { method, token, ...(body && { body }) });
const bytesOf = (id: string) =>
  server.db.shared
    .selectFrom('connections')
    .select(['password_sealed', 'extra_sealed'])
    .where('connection_id', '=', id)
    .executeTakeFirstOrThrow();

beforeAll(async () => {
  database = await createTestDatabase();
  await startWith({ 'secret-key': OLD_KEY });
  for (const id of ['one', 'two', 'three']) {
    await call('POST', '', { connection_id: id, conn_type: 'x', password: 'p', extra: '{"host":"h","token":"t"}' });
  }
});
afterAll(async () => {
  await server?.close();
  await database?.drop();
});

describe('connections without a configured key', () => {
  beforeAll(() => startWith({ 'secret-key': '' }));

  test.each([
    ['a create', 'POST', '', { connection_id: 'new', conn_type: 'x' }],
    ['a change', 'PATCH', '/one', { conn_type: 'x' }],
    ['a change of what does not exist', 'PATCH', '/none', { conn_type: 'x' }],
    [
      'a bulk create',
      'PATCH',
      '',
      { actions: [{ action: 'create', entities: [{ connection_id: 'new', conn_type: 'x' }] }] },
    ],
  ])('%s is 503 even when it carries no secret, and says what to set', async (_what, method, path, body) => {
    const answer = await call(method, path, body);
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({
      type: 'urn:svc:error:encryption_unavailable',
      detail: expect.stringContaining('SVC_SECRET_KEY'),
    });
  });

  it('an invalid body is still 400: mending it is the caller’s part', async () => {
    expect((await call('POST', '', { connection_id: 'new' })).status).toBe(400);
    expect((await call('PATCH', '/one', {})).status).toBe(400);
    expect((await call('POST', '', { connection_id: 'n', conn_type: 'x', team_name: 't' })).status).toBe(400);
  });

  it('reading works, shows nothing, and warns once per value', async () => {
    for (let times = 0; times < 3; times += 1) {
      expect((await call('GET', '/one')).json()).toMatchObject({ connection_id: 'one', extra: '***' });
      expect((await call('GET', '')).json()).toMatchObject({ total_entries: 3 });
    }
    const warnings = server.logLines.filter((line) => line.includes('a stored secret cannot be read'));
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toContain('secret_key_previous');
  });

  it('deleting works, alone and in bulk', async () => {
    expect((await call('DELETE', '/two')).status).toBe(204);
    const bulk = await call('PATCH', '', { actions: [{ action: 'delete', entities: ['three'] }] });
    expect(bulk.json()).toMatchObject({ delete: { success: ['three'], errors: [] } });
  });
});

describe('connections with another key and without the old one', () => {
  beforeAll(() => startWith({ 'secret-key': NEW_KEY }));

  it('what is read and sent back keeps the sealed bytes, so that the old key can still bring them back', async () => {
    const before = await bytesOf('one');
    const shown = (await call('GET', '/one')).json();
    expect(shown).toMatchObject({ extra: '***' });
    expect((await call('PATCH', '/one', { ...shown, host: 'changed', password: '***' })).json()).toMatchObject({
      host: 'changed',
    });
    expect(await bytesOf('one')).toEqual(before);
  });

  it('masks inside an extra that cannot be read are refused instead of dropped', async () => {
    const before = await bytesOf('one');
    const answer = await call('PATCH', '/one', { conn_type: 'x', extra: '{"host":"h","token":"***"}' });
    expect(answer.status).toBe(409);
    expect(answer.json()['detail']).toContain('secret_key_previous');
    expect(await bytesOf('one')).toEqual(before);
  });

  it('a new value replaces what cannot be read', async () => {
    await call('POST', '', { connection_id: 'four', conn_type: 'x', extra: '{"token":"t4"}' });
    const answer = await call('PATCH', '/four', { conn_type: 'x', extra: '{"token":"t5","n":1}' });
    expect(answer.json()).toMatchObject({ extra: '{"token":"***","n":1}' });
  });
});

describe('connections with another key and the old one as previous', () => {
  beforeAll(() => startWith({ 'secret-key': NEW_KEY, 'secret-key-previous': OLD_KEY }));

  it('everything is readable again', async () => {
    expect((await call('GET', '/one')).json()).toMatchObject({ extra: '{"host":"h","token":"***"}', host: 'changed' });
  });
});
