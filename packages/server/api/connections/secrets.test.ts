/** What becomes of the secrets of a connection: checked in the database, by opening what is stored there. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { readSecretKeys } from '../../config/secret-key.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { jsonObjectText } from '../../vault/arbitrary-json.ts';
import { createKeyring } from '../../vault/keyring.ts';
import { loadConnectionSecrets } from '../../vault/load-secrets.ts';

let server: TestServer;
let token = '';
let tenantId = '';
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  tenantId = (await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow()).id;
});
afterAll(() => server?.close());

const PATH = '/api/v2/connections';
type Body = Record<string, unknown>;
let count = 0;
const newId = () => `c${(count += 1)}`;

async function write(method: 'POST' | 'PATCH', id: string, body: Body): Promise<Body> {
  const path = method === 'POST' ? PATH : `${PATH}/${id}`;
  const answer = await server.call(path, { method, token, body: { connection_id: id, conn_type: 'x', ...body } });
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.json();
}
const read = async (id: string): Promise<Body> => (await server.call(`${PATH}/${id}`, { token })).json();

async function stored(id: string) {
  const { keys } = readSecretKeys(server.config);
  const keyring = createKeyring({ current: keys.current ?? null, previous: keys.previous });
  const found = await loadConnectionSecrets({ db: server.db.tenant(tenantId), keyring, tenantId }, id);
  if (!found) throw new Error(`no connection ${id}`);
  return found;
}
const sealedBytes = (id: string) =>
  server.db
    .tenant(tenantId)
    .selectFrom('connections')
    .select(['password_sealed', 'extra_sealed'])
    .where('connection_id', '=', id)
    .executeTakeFirstOrThrow();

const secretText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => text !== '***' && !text.includes('\u0000'));

describe('a connection that was read and is sent back', () => {
  test('keeps every secret to the byte, by either method, and reveals none', async () => {
    const extra = fc.oneof(jsonObjectText, secretText).filter((text) => !text.includes('***'));
    await fc.assert(
      fc.asyncProperty(secretText, extra, fc.constantFrom('POST', 'PATCH'), async (password, extra, method) => {
        const id = newId();
        const first = await write('POST', id, { password, extra });
        const before = await sealedBytes(id);
        const shown = await read(id);
        expect(shown).toEqual(first);
        expect(await write(method, id, shown)).toEqual(shown);
        expect(await sealedBytes(id)).toEqual(before);
        expect(await stored(id)).toMatchObject({ password, extra });
      }),
      { numRuns: 60 },
    );
  });

  test('reveals no secret that hides anywhere in its extra', async () => {
    const canary = 'canary-7c01';
    const names = fc.constantFrom('password', 'my_API_KEY', 'accessToken', 'client-secret');
    await fc.assert(
      fc.asyncProperty(jsonObjectText, names, async (inner, name) => {
        const id = newId();
        await write('POST', id, {
          password: canary,
          extra: `{"a":[${inner},{"${name}":{"deep":["${canary}"]}}],"${name}":"${canary}"}`,
        });
        const answers = [
          await server.call(`${PATH}/${id}`, { token }),
          await server.call(`${PATH}?limit=1000`, { token }),
        ];
        expect(answers.map((answer) => answer.text).join()).not.toContain(canary);
      }),
      { numRuns: 25 },
    );
    expect(server.logLines.join('\n')).not.toContain(canary);
  });

  test('with any part of it changed keeps the rest', async () => {
    const change = fc.record(
      {
        host: fc.constantFrom('', 'h2', null),
        port: fc.constantFrom(null, 0, 65_535),
        password: fc.constantFrom('***', null, 'p2', ''),
        extra: fc.constantFrom('***', '', '{"token":"***","plain":2}', '{"token":"t2"}', 'word'),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(change, fc.constantFrom('POST', 'PATCH'), async (change, method) => {
        const id = newId();
        await write('POST', id, { host: 'h1', port: 1, password: 'p1', extra: '{"token":"t1"}' });
        await write(method, id, change);
        const expectedExtra = {
          '***': '{"token":"t1"}',
          '': null,
          '{"token":"***","plain":2}': '{"token":"t1","plain":2}',
        };
        const { extra, password } = change;
        expect(await stored(id)).toMatchObject({
          host: change.host === undefined ? 'h1' : change.host || null,
          port: change.port === undefined ? 1 : change.port,
          password: password === 'p2' ? 'p2' : password === '' ? null : 'p1',
          extra:
            extra === undefined
              ? '{"token":"t1"}'
              : extra in expectedExtra
                ? expectedExtra[extra as keyof typeof expectedExtra]
                : extra,
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe('each field of a connection, left out, null, empty or set', () => {
  const before = { description: 'd', host: 'h', login: 'l', schema: 's', port: 7, password: 'p', extra: '{"a":1}' };
  const texts = ['description', 'host', 'login', 'schema', 'extra'].flatMap((field) => [
    [field, 'omitted', undefined, before[field as 'host']] as const,
    [field, 'null', null, null] as const,
    [field, 'empty', '', null] as const,
    [field, 'set', '{"b":2}', '{"b":2}'] as const,
  ]);
  const cases = [
    ...texts,
    ['port', 'omitted', undefined, 7] as const,
    ['port', 'null', null, null] as const,
    ['port', 'empty', '', null] as const,
    ['port', 'set', 0, 0] as const,
    ['password', 'omitted', undefined, 'p'] as const,
    ['password', 'null, which the official client sends for what it could not read', null, 'p'] as const,
    ['password', 'masked', '***', 'p'] as const,
    ['password', 'empty', '', null] as const,
    ['password', 'set', 'new', 'new'] as const,
    ['extra', 'masked', '***', '{"a":1}'] as const,
  ];
  for (const method of ['POST', 'PATCH'] as const) {
    test.each(cases)(`${method}: %s %s`, async (field, _state, sent, expected) => {
      const id = newId();
      await write('POST', id, before);
      await write(method, id, { [field]: sent });
      expect(await stored(id)).toMatchObject({ ...before, [field]: expected });
    });
  }
});

describe('a new connection', () => {
  it('with only masks has no secrets', async () => {
    const id = newId();
    const shown = await write('POST', id, { password: '***', extra: '***' });
    expect(shown['extra']).toBeNull();
    expect(await stored(id)).toMatchObject({ password: null, extra: null });
  });

  it('with masked keys in its extra loses those keys, as there is nothing they could mean', async () => {
    const id = newId();
    await write('POST', id, { extra: '{"token":"***","host":"h","n":{"password":"***"}}' });
    expect((await stored(id)).extra).toBe('{"host":"h","n":{}}');
  });
});

describe('the extra of a connection that is no JSON object', () => {
  test.each(['word', '[{"token":"x"}]', '"text"', '5', '{broken', ' '])(
    '%j is kept, and masked whole',
    async (extra) => {
      const id = newId();
      expect((await write('POST', id, { extra }))['extra']).toBe('***');
      await write('PATCH', id, await read(id));
      expect((await stored(id)).extra).toBe(extra);
    },
  );
});

it('numbers that JavaScript cannot hold survive a change elsewhere in the extra of a connection', async () => {
  const id = newId();
  await write('POST', id, { extra: '{"id": 12345678901234567890, "rate": 1.0, "token": "t"}' });
  const shown = await read(id);
  expect(shown['extra']).toBe('{"id":12345678901234567890,"rate":1.0,"token":"***"}');
  await write('PATCH', id, { extra: String(shown['extra']).replace('1.0', '2.50') });
  expect((await stored(id)).extra).toBe('{"id":12345678901234567890,"rate":2.50,"token":"t"}');
});

describe('connections of two tenants with the same ids', () => {
  it('never see, change or delete each other’s connections, nor open each other’s bytes', async () => {
    await server.addUser({ email: 'red@example.com', roles: ['admin'], tenant: 'red' });
    const red = await server.login('red@example.com', 'red');
    const id = newId();
    await write('POST', id, { host: 'ours', password: 'our-secret', extra: '{"token":"our-token"}' });
    const asRed = (method: string, body?: Body) =>
      server.call(method === 'POST' ? PATH : `${PATH}/${id}`, { method, token: red, ...(body && { body }) });
    expect((await asRed('GET')).status).toBe(404);
    expect((await asRed('PATCH', { conn_type: 'x' })).status).toBe(404);
    expect((await asRed('DELETE')).status).toBe(404);
    expect((await server.call(PATH, { token: red })).json()).toMatchObject({ connections: [], total_entries: 0 });
    const made = await asRed('POST', { connection_id: id, conn_type: 'y', extra: '{"token":"***"}', password: '***' });
    expect(made.json()).toMatchObject({ host: null, extra: '{}' });
    expect(await stored(id)).toMatchObject({ host: 'ours', password: 'our-secret', extra: '{"token":"our-token"}' });
    // Bytes copied to the other tenant's row are of no use there.
    const { extra_sealed: extra } = await sealedBytes(id);
    await server.db.shared
      .updateTable('connections')
      .set({ extra_sealed: extra })
      .where('connection_id', '=', id)
      .execute();
    expect((await asRed('GET')).json()).toMatchObject({ extra: '***' });
  });
});
