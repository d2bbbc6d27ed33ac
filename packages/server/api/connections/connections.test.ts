import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token = '';
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
});
afterAll(() => server?.close());

const PATH = '/api/v2/connections';
type Body = Record<string, unknown>;
type List = { connections: { connection_id: string }[]; total_entries: number };

const post = (body: Body) => server.call(PATH, { method: 'POST', token, body });
const get = (id: string) => server.call(`${PATH}/${encodeURIComponent(id)}`, { token });
const patch = (id: string, body: Body, query = '') =>
  server.call(`${PATH}/${encodeURIComponent(id)}${query}`, { method: 'PATCH', token, body });
const remove = (id: string) => server.call(`${PATH}/${encodeURIComponent(id)}`, { method: 'DELETE', token });
const list = async (query: string) => {
  const answer = await server.call(`${PATH}?${query}`, { token });
  if (answer.status !== 200) throw new Error(answer.text);
  const { connections, total_entries: total } = answer.json<List>();
  return { ids: connections.map((row) => row.connection_id), total };
};
const detailOf = async (answer: Promise<{ status: number; json: () => Body }>) => {
  const { status, json } = await answer;
  return `${status} ${String(json()['detail'])}`;
};

const FULL = {
  connection_id: 'full',
  conn_type: 'postgres',
  description: 'the warehouse',
  host: 'db.example.com',
  login: 'etl',
  schema: 'public',
  port: 5432,
  password: 'hunter22-hunter22',
  extra: '{"sslmode": "require", "token": "t-9999"}',
};
const SHOWN = { ...FULL, extra: '{"sslmode":"require","token":"***"}', team_name: null, password: undefined };

describe('a list that was asked for before', () => {
  it('shows what another process has changed since, once that is committed, and nobody else’s', async () => {
    const query = 'connection_id_pattern=asked';
    await post({ ...FULL, connection_id: 'asked' });
    const shownHost = async (as = token): Promise<unknown> =>
      (await server.call(`${PATH}?${query}`, { token: as })).json<{ connections: Body[] }>().connections[0]?.['host'];
    expect([await shownHost(), await shownHost()]).toEqual([FULL.host, FULL.host]);
    await server.db.shared.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('connections')
        .set({ host: 'moved' })
        .where('connection_id', '=', 'asked')
        .execute();
      expect(await shownHost()).toBe(FULL.host);
    });
    expect(await shownHost()).toBe('moved');
    await server.addUser({ email: 'b@example.com', tenant: 'second', roles: ['admin'] });
    expect(await shownHost(await server.login('b@example.com', 'second'))).toBeUndefined();
    await remove('asked');
    expect(await shownHost()).toBeUndefined();
  });
});

describe('a connection', () => {
  it('is created, read, changed and deleted, with the documented statuses and every field', async () => {
    const created = await post(FULL);
    expect(created.status).toBe(201);
    expect(created.json()).toEqual(JSON.parse(JSON.stringify(SHOWN)));
    const read = await get('full');
    expect(read.status).toBe(200);
    expect(read.json()).toEqual(created.json());
    const changed = await patch('full', { conn_type: 'mysql' });
    expect(changed.status).toBe(200);
    expect(changed.json()).toEqual({ ...created.json(), conn_type: 'mysql' });
    const deleted = await remove('full');
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await get('full')).status).toBe(404);
    expect((await remove('full')).status).toBe(404);
    expect((await patch('full', { conn_type: 'x' })).status).toBe(404);
  });

  it('posted again is changed, not refused, and keeps what the second body leaves out', async () => {
    await post({ ...FULL, connection_id: 'again' });
    const second = await post({ connection_id: 'again', conn_type: 'http', host: 'other' });
    expect(second.status).toBe(201);
    expect(second.json()).toMatchObject({ conn_type: 'http', host: 'other', login: 'etl', port: 5432 });
  });

  it('never has a password key, not even a null one', async () => {
    await post({ ...FULL, connection_id: 'nokey' });
    for (const answer of [
      await get('nokey'),
      await server.call(PATH, { token }),
      await patch('nokey', { conn_type: 'x' }),
    ]) {
      expect(answer.text).not.toContain('"password"');
      expect(answer.text).not.toContain('hunter22');
    }
  });

  test.each(['a', 'A.b-c_d', 'größe', '数据库', 'x'.repeat(200), '..a', '-'])('accepts the id %s', async (id) => {
    expect((await post({ connection_id: id, conn_type: 'x' })).status).toBe(201);
    expect((await get(id)).json()).toMatchObject({ connection_id: id });
  });

  test.each([
    ['no id', { conn_type: 'x' }, '400 field "connection_id" is required'],
    ['no type', { connection_id: 'x' }, '400 field "conn_type" is required'],
    ['an empty type', { connection_id: 'x', conn_type: '' }, '400 conn_type must have at least 1 character'],
    ['a null type', { connection_id: 'x', conn_type: null }, '400 conn_type must be string, got null'],
    ['an empty id', { connection_id: '', conn_type: 'x' }, '400 connection_id must'],
    ['an id with a slash', { connection_id: 'a/b', conn_type: 'x' }, '400 connection_id must match'],
    [
      'an id that is too long',
      { connection_id: 'x'.repeat(201), conn_type: 'x' },
      '400 connection_id must have at most 200',
    ],
    [
      'a port that is text',
      { connection_id: 'x', conn_type: 'x', port: '5432' },
      '400 port must be integer, got string',
    ],
    ['a port with a fraction', { connection_id: 'x', conn_type: 'x', port: 1.5 }, '400 port must be integer'],
    ['a negative port', { connection_id: 'x', conn_type: 'x', port: -1 }, '400 port must be >= 0'],
    ['a port beyond the last', { connection_id: 'x', conn_type: 'x', port: 65_536 }, '400 port must be <= 65535'],
    ['a host that is a number', { connection_id: 'x', conn_type: 'x', host: 5 }, '400 host must be string, got number'],
    [
      'a host that is too long',
      { connection_id: 'x', conn_type: 'x', host: 'h'.repeat(5001) },
      '400 host must have at most 5000',
    ],
    ['extra as an object', { connection_id: 'x', conn_type: 'x', extra: {} }, '400 extra must be string, got object'],
    [
      'an extra that is too long',
      { connection_id: 'x', conn_type: 'x', extra: 'e'.repeat(65_537) },
      '400 extra must have at most 65536',
    ],
    [
      'an extra nested too deeply',
      { connection_id: 'x', conn_type: 'x', extra: `{"a":${'['.repeat(150)}${']'.repeat(150)}}` },
      '400 extra nests deeper',
    ],
    ['U+0000', { connection_id: 'x', conn_type: 'x', password: 'a\u0000b' }, '400 '],
    ['half a surrogate pair', { connection_id: 'x', conn_type: 'x', password: 'a\ud800b' }, '400 '],
    [
      'a misspelt field',
      { connection_id: 'x', conn_type: 'x', pasword: 'p' },
      '400 unknown field "pasword" (did you mean "password"?)',
    ],
    ['a team', { connection_id: 'x', conn_type: 'x', team_name: 'blue' }, '400 team_name: there are no teams'],
  ])('is refused with %s', async (_what, body, detail) => {
    expect(await detailOf(post(body))).toContain(detail);
    expect((await get('x')).status).toBe(404);
  });

  it('cannot be renamed, and a patch needs a type', async () => {
    await post({ connection_id: 'named', conn_type: 'x' });
    expect(await detailOf(patch('named', { connection_id: 'other', conn_type: 'x' }))).toContain('400 connection_id:');
    expect(await detailOf(patch('named', { host: 'h' }))).toContain('400 field "conn_type" is required');
    expect((await patch('named', { connection_id: 'named', conn_type: 'y' })).status).toBe(200);
  });

  it('is written field by field under an update mask', async () => {
    await post({ ...FULL, connection_id: 'masked' });
    const change = { conn_type: 'http', host: 'new', login: 'new', description: '' };
    const some = await patch('masked', change, '?update_mask=host&update_mask=description&update_mask=port');
    expect(some.json()).toMatchObject({
      conn_type: 'postgres',
      host: 'new',
      login: 'etl',
      description: null,
      port: 5432,
    });
    const all = await patch('masked', change, '?update_mask=');
    expect(all.json()).toMatchObject({ conn_type: 'http', login: 'new' });
    expect(await detailOf(patch('masked', change, '?update_mask=hots'))).toContain(
      '400 update_mask: there is no field "hots"',
    );
  });

  it('is not tested here, and says why', async () => {
    const answer = await server.call(`${PATH}/test`, {
      method: 'POST',
      token,
      body: { connection_id: 'x', conn_type: 'http' },
    });
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({
      type: 'urn:svc:error:disabled',
      detail: expect.stringContaining('connections.test_enabled'),
    });
  });
});

describe('the list of connections', () => {
  beforeAll(async () => {
    const entities = Array.from({ length: 1_100 }, (_, n) => ({
      connection_id: `list-${String(n).padStart(4, '0')}`,
      conn_type: n % 2 === 0 ? 'even' : 'odd',
      port: 1_100 - n,
      extra: `{"token":"t${n}"}`,
    }));
    const answer = await server.call(PATH, {
      method: 'PATCH',
      token,
      body: { actions: [{ action: 'create', entities }] },
    });
    if (answer.status !== 200) throw new Error(answer.text);
    for (const id of ['Wild_card', 'Wild-card', 'wildXcard', 'tail']) await post({ connection_id: id, conn_type: 'w' });
  });

  it('is paged by id, 100 at a time, and counts all matches', async () => {
    const first = await list('connection_id_prefix_pattern=list-');
    expect([first.ids.length, first.ids[0], first.ids[99], first.total]).toEqual([
      100,
      'list-0000',
      'list-0099',
      1_100,
    ]);
    const last = await list('connection_id_prefix_pattern=list-&limit=1000&offset=1000');
    expect([last.ids.length, last.ids[0], last.total]).toEqual([100, 'list-1000', 1_100]);
    expect(await list('connection_id_prefix_pattern=list-&offset=5000')).toEqual({ ids: [], total: 1_100 });
  });

  test.each(['limit=0', 'limit=1001', 'limit=-1', 'limit=x', 'offset=-1', 'order_by=password', 'order_by=tenant_id'])(
    'refuses %s',
    async (query) => {
      expect((await server.call(`${PATH}?${query}`, { token })).status).toBe(400);
    },
  );

  test.each([
    ['connection_id', 'list-0000'],
    ['-conn_id', 'list-1099'],
    ['port', 'list-1099'],
    ['-port', 'list-0000'],
    ['-conn_type', 'list-1099'],
    ['team_name', 'list-0000'],
    ['id', 'list-0000'],
  ])('ordered by %s begins with %s', async (key, first) => {
    expect((await list(`connection_id_prefix_pattern=list-&order_by=${key}&limit=1`)).ids).toEqual([first]);
  });

  it('ordered by several keys follows each of them', async () => {
    const { ids } = await list(
      'connection_id_prefix_pattern=list-&order_by=-team_name&order_by=conn_type&order_by=port&limit=2',
    );
    expect(ids).toEqual(['list-1098', 'list-1096']);
  });

  test.each([
    ['connection_id_pattern=WILD', ['Wild-card', 'Wild_card', 'wildXcard']],
    ['connection_id_pattern=wild_card', ['Wild-card', 'Wild_card', 'wildXcard']],
    [String.raw`connection_id_pattern=wild\_card`, ['Wild_card']],
    ['connection_id_pattern=d%25c', ['Wild-card', 'Wild_card', 'wildXcard']],
    ['connection_id_pattern=wildx|TAIL', ['tail', 'wildXcard']],
    ['connection_id_prefix_pattern=Wild_', ['Wild_card']],
    ['connection_id_prefix_pattern=wild', ['wildXcard']],
    ['connection_id_prefix_pattern=Wild%25', []],
    ['connection_id_prefix_pattern=Wild|wild&connection_id_pattern=x', ['wildXcard']],
    ["connection_id_pattern=' or 1=1 --", []],
    ["connection_id_prefix_pattern='); drop table connections; --", []],
    ['connection_id_pattern=\\', []],
    ['connection_id_pattern={a,"b', []],
  ])('filtered by %s', async (query, ids) => {
    const { ids: found } = await list(`${encodeURI(query).replaceAll('%2525', '%25')}&limit=1000`);
    expect(found.toSorted()).toEqual(ids);
  });

  it('is not filtered by an empty pattern or by ~', async () => {
    const { total } = await list('');
    for (const query of ['connection_id_pattern=', 'connection_id_pattern=~', 'connection_id_prefix_pattern=~']) {
      expect((await list(query)).total).toBe(total);
    }
  });
});

describe('who may read and write connections', () => {
  it('readers read, editors write, nobody else does anything', async () => {
    await server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
    await server.addUser({ email: 'editor@example.com', roles: ['editor'] });
    const body = { connection_id: 'roles', conn_type: 'x' };
    const status = async (who: string | undefined, method: string, path = PATH) => {
      const bearer = who === undefined ? {} : { token: await server.login(who) };
      return (await server.call(path, { method, ...bearer, ...(method !== 'GET' && method !== 'DELETE' && { body }) }))
        .status;
    };
    expect(await status(undefined, 'GET')).toBe(401);
    expect(await status('viewer@example.com', 'GET')).toBe(200);
    expect(await status('viewer@example.com', 'POST')).toBe(403);
    expect(await status('editor@example.com', 'POST')).toBe(201);
    expect(await status('viewer@example.com', 'PATCH', `${PATH}/roles`)).toBe(403);
    expect(await status('viewer@example.com', 'DELETE', `${PATH}/roles`)).toBe(403);
    expect(await status('viewer@example.com', 'PATCH')).toBe(403);
    expect(await status('editor@example.com', 'DELETE', `${PATH}/roles`)).toBe(204);
  });

  it('every change is in the audit log, with the names of the fields and none of their values', async () => {
    await post({ ...FULL, connection_id: 'audited' });
    await patch('audited', { conn_type: 'postgres', password: 'another-secret', host: 'h2', login: 'etl' });
    await patch('audited', { conn_type: 'postgres', password: '***', extra: '{"sslmode":"require","token":"***"}' });
    await remove('audited');
    const log = await server.call('/api/v2/eventLogs?limit=1000', { token });
    type Entry = { event: string; owner: string; extra: string };
    const entries = log
      .json<{ event_logs: Entry[] }>()
      .event_logs.map(({ extra, ...entry }) => ({ ...entry, detail: JSON.parse(extra) as Body }))
      .filter(({ detail }) => detail['object'] === 'connection:audited')
      .toReversed();
    expect(entries.map(({ event, owner, detail }) => [event, owner, detail['changed']])).toEqual([
      [
        'post_connection',
        ADMIN_EMAIL,
        ['connection_id', 'conn_type', 'description', 'host', 'login', 'schema', 'port', 'password', 'extra'],
      ],
      ['patch_connection', ADMIN_EMAIL, ['host', 'password']],
      ['patch_connection', ADMIN_EMAIL, []],
      ['delete_connection', ADMIN_EMAIL, undefined],
    ]);
    expect(log.text).not.toContain('another-secret');
  });
});
