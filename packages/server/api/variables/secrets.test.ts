/** What becomes of the secrets in variables: checked in the database, by opening what is stored there. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { readSecretKeys } from '../../config/secret-key.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { jsonText } from '../../vault/arbitrary-json.ts';
import { createKeyring } from '../../vault/keyring.ts';
import { loadVariable } from '../../vault/load-secrets.ts';

const PATH = '/api/v2/variables';
const KEY = 'c'.repeat(64);
type Body = Record<string, unknown>;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let server: TestServer;
let token = '';
let tenantId = '';
async function startWith(flags: Record<string, string>): Promise<void> {
  await server?.close();
  server = await startTestServer({ 'database.url': database.url, ...flags });
  token = await server.login();
  const tenants = server.db.shared.selectFrom('tenants').select('id').where('name', '=', 'default');
  tenantId = (await tenants.executeTakeFirstOrThrow()).id;
}
beforeAll(async () => {
  database = await createTestDatabase();
  await startWith({ 'secret-key': KEY });
});
afterAll(async () => {
  await server?.close();
  await database?.drop();
});

let count = 0;
const newKey = (name: string) => `${name}/${(count += 1)}`;

async function write(method: 'POST' | 'PATCH', key: string, body: Body): Promise<Body> {
  const path = method === 'POST' ? PATH : `${PATH}/${encodeURIComponent(key)}`;
  const answer = await server.call(path, { method, token, body: { key, ...body } });
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.json();
}
const read = async (key: string): Promise<Body> =>
  (await server.call(`${PATH}/${encodeURIComponent(key)}`, { token })).json();

function stored(key: string): Promise<string | undefined> {
  const { keys } = readSecretKeys(server.config);
  const keyring = createKeyring({ current: keys.current ?? null, previous: keys.previous });
  return loadVariable({ db: server.db.tenant(tenantId), keyring, tenantId }, key);
}
const columnsOf = (key: string) =>
  server.db
    .tenant(tenantId)
    .selectFrom('variables')
    .select(['value_plain', 'value_sealed'])
    .where('key', '=', key)
    .executeTakeFirstOrThrow();

const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((value) => !value.includes('\u0000'));

describe('a variable that was read and is sent back', () => {
  test('keeps its value to the byte, by either method, whatever its key and value', async () => {
    const names = fc.constantFrom('plain', 'db_password', 'API-KEY');
    const value = fc.oneof(jsonText, text).filter((sent) => !sent.includes('***'));
    await fc.assert(
      fc.asyncProperty(names, value, fc.constantFrom('POST', 'PATCH'), async (name, value, method) => {
        const key = newKey(name);
        await write('POST', key, { value });
        const before = await columnsOf(key);
        const shown = await read(key);
        expect(await write(method, key, shown)).toEqual(shown);
        expect(await columnsOf(key)).toEqual(before);
        expect(await stored(key)).toBe(value);
      }),
      { numRuns: 80 },
    );
  });

  test('reveals no secret of a sensitive key, or of a sensitive name inside its JSON', async () => {
    const canary = 'canary-93ab';
    await fc.assert(
      fc.asyncProperty(jsonText, async (inner) => {
        await write('POST', newKey('my_secret'), { value: canary });
        await write('POST', newKey('config'), { value: `[${inner},{"a":{"password":["${canary}"]}}]` });
        await write('POST', newKey('object'), { value: { deep: [{ token: canary }] } });
      }),
      { numRuns: 10 },
    );
    const { text: shown } = await server.call(`${PATH}?limit=1000`, { token });
    expect(shown).not.toContain(canary);
    expect(shown).toContain('***');
    expect(server.logLines.join('\n')).not.toContain(canary);
  });
});

describe('value and description of a variable, left out, null, empty or set', () => {
  const cases = [
    ['plain', {}, 'v', 'd'],
    ['plain', { value: null }, 'v', 'd'],
    ['plain', { value: '' }, '', 'd'],
    ['plain', { value: 'n' }, 'n', 'd'],
    ['plain', { value: '***' }, '***', 'd'],
    ['plain', { description: null }, 'v', null],
    ['plain', { description: '' }, 'v', null],
    ['plain', { description: 'n' }, 'v', 'n'],
    ['a_token', { value: '***' }, 'v', 'd'],
    ['a_token', { value: '' }, '', 'd'],
    ['a_token', { value: 'n' }, 'n', 'd'],
    ['a_token', { value: { password: '***' } }, '{"password":"***"}', 'd'],
  ] as const;
  for (const method of ['POST', 'PATCH'] as const) {
    test.each(cases)(`${method} %s %j`, async (name, body, value, description) => {
      const key = newKey(name);
      await write('POST', key, { value: 'v', description: 'd' });
      await write(method, key, body);
      expect(await stored(key)).toBe(value);
      expect(await read(key)).toMatchObject({ description });
    });
  }

  test.each([
    ['without a value', 'plain', {}, ''],
    ['with a null value', 'plain', { value: null }, ''],
    ['with the mask for a sensitive key', 'a_token', { value: '***' }, ''],
    ['with the mask for any other key', 'plain', { value: '***' }, '***'],
  ])('a new one %s', async (_what, name, body, value) => {
    const key = newKey(name);
    expect((await write('POST', key, body))['value']).toBe(value);
    expect(await stored(key)).toBe(value);
  });
});

describe('masks inside the JSON value of a variable', () => {
  it('stand for what is stored there, and the rest is as sent', async () => {
    const key = newKey('config');
    const shown = await write('POST', key, {
      value: '{"n": 12345678901234567890, "db": [{"h":"a","password":"p"}], "glob": "x"}',
    });
    expect(shown['value']).toBe('{"n":12345678901234567890,"db":[{"h":"a","password":"***"}],"glob":"x"}');
    await write('PATCH', key, { value: String(shown['value']).replace('"x"', '"***"') });
    expect(await stored(key)).toBe('{"n":12345678901234567890,"db":[{"h":"a","password":"p"}],"glob":"***"}');
  });

  it('with nothing behind them are dropped with their key', async () => {
    const key = newKey('config');
    await write('POST', key, { value: { token: '***', n: 1 } });
    expect(await stored(key)).toBe('{"n":1}');
  });
});

it('two tenants with the same keys never see each other’s variables', async () => {
  await server.addUser({ email: 'red@example.com', roles: ['admin'], tenant: 'red' });
  const red = await server.login('red@example.com', 'red');
  const key = newKey('shared_token');
  await write('POST', key, { value: 'ours', description: 'd' });
  const path = `${PATH}/${encodeURIComponent(key)}`;
  for (const method of ['GET', 'DELETE']) expect((await server.call(path, { method, token: red })).status).toBe(404);
  expect((await server.call(PATH, { token: red })).json()).toEqual({ variables: [], total_entries: 0 });
  const made = await server.call(PATH, { method: 'POST', token: red, body: { key, value: '***' } });
  expect(made.json()).toMatchObject({ value: '', description: null });
  expect(await stored(key)).toBe('ours');
});

it('changes of variables are in the audit log, with the names of the fields and none of their values', async () => {
  const key = newKey('audit_token');
  await write('POST', key, { value: 'audit-value', description: 'd' });
  await write('PATCH', key, { value: '***', description: 'e' });
  await server.call(`${PATH}/${encodeURIComponent(key)}`, { method: 'DELETE', token });
  const log = await server.call('/api/v2/eventLogs?limit=3', { token });
  type Entry = { event: string; owner: string; extra: string };
  const entries = log.json<{ event_logs: Entry[] }>().event_logs.toReversed();
  expect(entries.map(({ event, owner, extra }) => [event, owner, (JSON.parse(extra) as Body)['changed']])).toEqual([
    ['post_variable', ADMIN_EMAIL, ['value', 'description']],
    ['patch_variable', ADMIN_EMAIL, ['description']],
    ['delete_variable', ADMIN_EMAIL, undefined],
  ]);
  expect(log.text).not.toContain('audit-value');
});

describe('variables, while secret keys come and go,', () => {
  it('is_encrypted tells what is stored, and what cannot be read survives being sent back', async () => {
    await write('POST', 'kept', { value: 'sealed with the first key' });
    await write('POST', 'kept_json', { value: '{"token":"t"}' });
    expect(await read('kept')).toMatchObject({ is_encrypted: true });

    await startWith({ 'secret-key': '' });
    expect(await read('kept')).toMatchObject({ value: '***', is_encrypted: true });
    await write('PATCH', 'kept', { ...(await read('kept')), description: 'changed' });
    expect(await write('POST', 'open', { value: 'in the open' })).toMatchObject({
      value: 'in the open',
      is_encrypted: false,
    });
    expect(await columnsOf('open')).toEqual({ value_plain: 'in the open', value_sealed: null });
    const refused = await server.call(`${PATH}/kept_json`, {
      method: 'PATCH',
      token,
      body: { value: '{"token":"***"}' },
    });
    expect(refused.status).toBe(409);

    await startWith({ 'secret-key': KEY });
    expect(await read('kept')).toMatchObject({ value: 'sealed with the first key', description: 'changed' });
    expect(await stored('kept_json')).toBe('{"token":"t"}');
    expect(await read('open')).toMatchObject({ is_encrypted: false });
    expect(await write('POST', 'open', { value: 'in the open' })).toMatchObject({ is_encrypted: true });
  });
});
