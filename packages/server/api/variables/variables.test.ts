import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token = '';
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
});
afterAll(() => server?.close());

const PATH = '/api/v2/variables';
type Body = Record<string, unknown>;
type List = { variables: { key: string }[]; total_entries: number };

const send = (method: string, key: string, body?: Body | string) =>
  server.call(`${PATH}/${encodeURIComponent(key)}`, { method, token, ...(body !== undefined && { body }) });
const post = (body: Body | string) => server.call(PATH, { method: 'POST', token, body });
const get = async (key: string) => (await send('GET', key)).json();
const list = async (query: string) => {
  const answer = await server.call(`${PATH}?${query}`, { token });
  if (answer.status !== 200) throw new Error(answer.text);
  const { variables, total_entries: total } = answer.json<List>();
  return { keys: variables.map((row) => row.key), total };
};

describe('a variable', () => {
  it('is created, read, changed and deleted, with the documented statuses and every field', async () => {
    const created = await post({ key: 'region', value: 'eu', description: 'where' });
    expect(created.status).toBe(201);
    const shown = { key: 'region', value: 'eu', description: 'where', is_encrypted: true, team_name: null };
    expect(created.json()).toEqual(shown);
    expect(await get('region')).toEqual(shown);
    const patched = await send('PATCH', 'region', { key: 'region', value: 'us' });
    expect([patched.status, patched.json()]).toEqual([200, { ...shown, value: 'us' }]);
    expect((await post(patched.json())).json()).toEqual({ ...shown, value: 'us' });
    const deleted = await send('DELETE', 'region');
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    for (const method of ['GET', 'DELETE']) expect((await send(method, 'region')).status).toBe(404);
    expect((await send('PATCH', 'region', { value: 'x' })).status).toBe(404);
  });

  test.each([
    ['text', '"x"', 'x'],
    ['empty text', '""', ''],
    ['an object', '{"a": [1, null]}', '{"a":[1,null]}'],
    ['a number', '5', '5'],
    ['a number JavaScript cannot hold', '12345678901234567890', '12345678901234567890'],
    ['numbers with their digits', '[1.0, 1e2, -0]', '[1.0,1e2,-0]'],
    ['a boolean', 'false', 'false'],
    ['JSON as text, to the letter', String.raw`"{ \"a\": 1.0 }"`, '{ "a": 1.0 }'],
  ])('holds %s', async (_what, value, shown) => {
    expect((await post(`{"key":"typed","value":${value}}`)).json()).toMatchObject({ value: shown });
    expect(await get('typed')).toMatchObject({ value: shown });
  });

  test.each([
    ['no key', { value: 'x' }, 'field "key" is required'],
    ['an empty key', { key: '', value: 'x' }, 'key must have at least 1'],
    ['a key that is too long', { key: 'k'.repeat(251), value: 'x' }, 'key must have at most 250'],
    ['U+0000 in the key', { key: 'a\u0000', value: 'x' }, 'key must not contain U+0000'],
    ['U+0000 in the value', { key: 'bad', value: 'a\u0000' }, 'value must not contain U+0000'],
    ['half a surrogate pair', { key: 'bad', value: '\udc00' }, 'value must not contain'],
    ['a value that is too long', { key: 'bad', value: 'v'.repeat(262_145) }, 'value must have at most 262144'],
    ['a value nested too deeply', { key: 'bad', value: `${'['.repeat(101)}${']'.repeat(101)}` }, 'value nests deeper'],
    ['a description that is a number', { key: 'bad', value: 'x', description: 5 }, 'description must be string'],
    ['an unknown field', { key: 'bad', val: 'x' }, 'unknown field "val" (did you mean "value"?)'],
    ['a team', { key: 'bad', value: 'x', team_name: 'blue' }, 'there are no teams'],
  ])('is refused with %s', async (_what, body, detail) => {
    const answer = await post(body);
    expect([answer.status, answer.json()['detail']]).toEqual([400, expect.stringContaining(detail)]);
    expect((await send('GET', 'bad')).status).toBe(404);
  });

  it('is refused with JSON that would poison a prototype, or exhaust the stack', async () => {
    expect((await post('{"key":"bad","value":{"__proto__":1}}')).status).toBe(400);
    expect((await post(`{"key":"bad","value":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)).status).toBe(400);
    expect((await post('{"key":"bad","value":')).json()).toMatchObject({ type: 'urn:svc:error:invalid_json' });
  });

  it('cannot be renamed, and is written field by field under an update mask', async () => {
    await post({ key: 'mask', value: 'v1', description: 'd1' });
    expect((await send('PATCH', 'mask', { key: 'other', value: 'x' })).status).toBe(400);
    const path = `${PATH}/mask?update_mask=description`;
    const answer = await server.call(path, {
      method: 'PATCH',
      token,
      body: { key: 'mask', value: 'v2', description: 'd2' },
    });
    expect(answer.json()).toMatchObject({ value: 'v1', description: 'd2' });
    expect((await server.call(`${PATH}/mask?update_mask=vlaue`, { method: 'PATCH', token, body: {} })).status).toBe(
      400,
    );
  });
});

const roundTrip = async (key: string, path: string) => {
  await post({ key, value: `of ${key}` });
  const read = await server.call(`${PATH}/${path}`, { token });
  expect([read.status, read.json()['key']]).toEqual([200, key]);
  const changed = await server.call(`${PATH}/${path}`, { method: 'PATCH', token, body: { description: 'd' } });
  expect(changed.json()).toMatchObject({ key, description: 'd' });
  expect((await server.call(`${PATH}/${path}`, { method: 'DELETE', token })).status).toBe(204);
};

describe('the key of a variable in a path', () => {
  test.each(['a/b', 'a/b/c', '/a', 'a/', 'a//b', '/', '//', 'a/b//', 'a+b:c~d', 'test', 'a b', 'ü/é'])(
    '%s can be written with plain slashes',
    async (key) => {
      await roundTrip(key, encodeURI(key));
    },
  );

  test('any text can be written percent-encoded', async () => {
    const key = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 30 })
      .filter((text) => text.isWellFormed() && !text.includes('\u0000') && text !== '.' && text !== '..');
    await fc.assert(
      fc.asyncProperty(key, (text) => roundTrip(text, encodeURIComponent(text))),
      { numRuns: 60 },
    );
  });

  it('of the greatest length works, even where each character takes twelve in the path', async () => {
    const key = '😀'.repeat(250);
    await roundTrip(key, encodeURIComponent(key));
  });

  it('is decoded once only', async () => {
    await post({ key: 'once/x', value: 'v' });
    expect((await server.call(`${PATH}/once%252Fx`, { token })).status).toBe(404);
    expect((await server.call(`${PATH}/%E0%A4%A`, { token })).status).toBe(400);
  });

  it('does not reach another route by way of an encoded slash', async () => {
    expect((await server.call('/api/v2/variables%2Fonce', { token })).status).toBe(404);
    expect((await server.call(`${PATH}/%2E%2E%2Fconnections`, { token })).status).toBe(404);
  });
});

describe('the list of variables', () => {
  beforeAll(async () => {
    const entities = Array.from({ length: 1_100 }, (_, n) => ({
      key: `l/${String(n).padStart(4, '0')}`,
      value: String(n),
      description: `d${String(1_099 - n).padStart(4, '0')}`,
    }));
    const answer = await server.call(PATH, {
      method: 'PATCH',
      token,
      body: { actions: [{ action: 'create', entities }] },
    });
    if (answer.status !== 200) throw new Error(answer.text);
  });

  it('is paged by key, 100 at a time, and counts all matches', async () => {
    const first = await list('variable_key_prefix_pattern=l/');
    expect([first.keys.length, first.keys[0], first.total]).toEqual([100, 'l/0000', 1_100]);
    const last = await list('variable_key_prefix_pattern=l/&limit=1000&offset=1000');
    expect([last.keys.length, last.keys[99], last.total]).toEqual([100, 'l/1099', 1_100]);
  });

  test.each([
    ['key', 'l/0000'],
    ['-key', 'l/1099'],
    ['id', 'l/0000'],
    ['description', 'l/1099'],
    ['-is_encrypted', 'l/1099'],
    ['_val', 'l/0000'],
    ['-value', 'l/0000'],
    ['team_name', 'l/0000'],
  ])('ordered by %s begins with %s', async (key, first) => {
    expect((await list(`variable_key_prefix_pattern=l/&order_by=${key}&limit=1`)).keys).toEqual([first]);
  });

  test.each([
    ['variable_key_pattern=L/00_5', 10],
    ['variable_key_pattern=l/0005|L/0006', 2],
    ['variable_key_prefix_pattern=L/', 0],
    ['variable_key_prefix_pattern=l/_', 0],
    ["variable_key_pattern=') or true --", 0],
  ])('filtered by %s has %i entries', async (query, total) => {
    expect((await list(encodeURI(query))).total).toBe(total);
  });

  test.each([
    'limit=0',
    'limit=1001',
    'offset=-1',
    'order_by=value_plain',
    `variable_key_pattern=${'x'.repeat(2_001)}`,
  ])('refuses %s', async (query) => {
    expect((await server.call(`${PATH}?${query}`, { token })).status).toBe(400);
  });
});

it('variables are read by readers and written by editors', async () => {
  await server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
  const viewer = await server.login('viewer@example.com');
  await post({ key: 'roles/x', value: 'v' });
  for (const path of [`${PATH}/roles%2Fx`, `${PATH}/roles/x`]) {
    expect((await server.call(path)).status).toBe(401);
    expect((await server.call(path, { token: viewer })).status).toBe(200);
    expect((await server.call(path, { token: viewer, method: 'PATCH', body: {} })).status).toBe(403);
    expect((await server.call(path, { token: viewer, method: 'DELETE' })).status).toBe(403);
  }
  expect((await server.call(PATH, { token: viewer, method: 'POST', body: { key: 'k' } })).status).toBe(403);
  expect((await server.call(PATH, { token: viewer, method: 'PATCH', body: { actions: [] } })).status).toBe(403);
});
