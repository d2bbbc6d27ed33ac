import { changeUserAccess, removeUser } from '../../db/identity/administrators.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let admin: string;
beforeAll(async () => {
  server = await startTestServer();
  admin = await server.login();
});
afterAll(() => server?.close());

type User = { id: string; email: string; roles: string[]; is_active: boolean; created_at: string };
type Users = { users: User[]; total_entries: number };
type Problem = { type: string; detail: string };

const create = (body: object, token = admin) => server.call('/api/v2/users', { method: 'POST', token, body });
const patch = (id: string, body: object, token = admin) =>
  server.call(`/api/v2/users/${id}`, { method: 'PATCH', token, body });
const list = async (query = '', token = admin) => (await server.call(`/api/v2/users${query}`, { token })).json<Users>();
const VALID = { email: 'valid@example.com', password: 'eightish' };

describe('POST /api/v2/users', () => {
  it('creates a user who can log in, and never gives the password back', async () => {
    const answer = await create({ email: 'grace@example.com', password: TEST_PASSWORD, roles: ['viewer', 'editor'] });
    expect(answer.status).toBe(201);
    const user = answer.json<User>();
    expect(user).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      email: 'grace@example.com',
      roles: ['editor', 'viewer'],
      is_active: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
    expect(await server.login('grace@example.com')).toBeTruthy();
  });

  it('stores the address in lower case and knows it in any case', async () => {
    const answer = await create({ ...VALID, email: '  MiXed@Example.COM ' });
    expect(answer.json<User>().email).toBe('mixed@example.com');
    const again = await create({ ...VALID, email: 'mixed@EXAMPLE.com' });
    expect([again.status, again.json<Problem>().type]).toEqual([409, 'urn:svc:error:already_exists']);
  });

  it('gives no role when none, or an empty list, is named', async () => {
    expect((await create({ ...VALID, email: 'bare@example.com' })).json<User>().roles).toEqual([]);
    expect((await create({ ...VALID, email: 'empty@example.com', roles: [] })).json<User>().roles).toEqual([]);
  });

  it('grants a role once that is named twice', async () => {
    const answer = await create({ ...VALID, email: 'twice@example.com', roles: ['viewer', 'viewer'] });
    expect(answer.json<User>().roles).toEqual(['viewer']);
  });

  it('lets one of many parallel requests for an address win', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create({ ...VALID, email: 'race@example.com' })));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, 409, 409, 409, 409]);
  });

  it('keeps tenants apart: the same address may exist in each', async () => {
    await server.addUser({ email: 'boss@example.com', roles: ['admin'], tenant: 'acme' });
    const boss = await server.login('boss@example.com', 'acme');
    expect((await create({ ...VALID, email: 'grace@example.com' }, boss)).status).toBe(201);
    expect((await list('', boss)).users.map((user) => user.email)).toEqual(['grace@example.com', 'boss@example.com']);
    expect((await list()).users.map((user) => user.email)).not.toContain('boss@example.com');
  });

  it.each([
    ['no email', { password: 'eightish' }, 'invalid_request', '"email"'],
    ['no password', { email: 'x@example.com' }, 'invalid_request', '"password"'],
    ['a password of seven characters', { ...VALID, password: 'sevench' }, 'invalid_request', 'password'],
    [
      'a password of four characters that take eight units',
      { ...VALID, password: '😀😀😀😀' },
      'invalid_request',
      'password',
    ],
    ['a role nobody knows', { ...VALID, roles: ['viewer', 'emperor'] }, 'unknown_role', '"emperor"'],
    ['a role from the prototype', { ...VALID, roles: ['constructor'] }, 'unknown_role', '"constructor"'],
    ['roles that are no list', { ...VALID, roles: 'admin' }, 'invalid_request', 'roles'],
    ['an email that is no address', { ...VALID, email: 'nobody' }, 'invalid_request', 'email'],
    [
      'an email with an invisible character',
      { ...VALID, email: 'ad\u200bmin@example.com' },
      'invalid_request',
      'e-mail address',
    ],
    ['an email with a line break', { ...VALID, email: 'a@b\nc@d' }, 'invalid_request', 'email'],
    ['an email that is null', { ...VALID, email: null }, 'invalid_request', 'email'],
    ['a field nobody knows', { ...VALID, is_active: false }, 'invalid_request', '"is_active"'],
    ['a tenant of the caller’s choice', { ...VALID, tenant_id: 'acme' }, 'invalid_request', '"tenant_id"'],
  ])('refuses %s and says so', async (_what, body, code, named) => {
    const answer = await create(body);
    const problem = answer.json<Problem>();
    expect([answer.status, problem.type]).toEqual([400, `urn:svc:error:${code}`]);
    expect(problem.detail).toContain(named);
  });

  it('leaves nothing behind when it refuses', async () => {
    const before = await list();
    await create({ email: 'half@example.com', password: 'eightish', roles: ['emperor'] });
    expect(await list()).toEqual(before);
  });

  it('accepts a password of exactly eight characters', async () => {
    expect((await create({ ...VALID, email: 'eight@example.com', password: '12345678' })).status).toBe(201);
  });
});

describe('GET /api/v2/users', () => {
  it('lists newest first, with all roles, in pages that neither overlap nor miss anybody', async () => {
    const all = await list('?limit=1000');
    expect(all.total_entries).toBe(all.users.length);
    const times = all.users.map((user) => Date.parse(user.created_at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(all.users.at(-1)?.email).toBe(ADMIN_EMAIL);
    const paged: User[] = [];
    for (let offset = 0; offset < all.total_entries; offset += 2) {
      const page = await list(`?limit=2&offset=${offset}`);
      expect(page.total_entries).toBe(all.total_entries);
      paged.push(...page.users);
    }
    expect(paged).toEqual(all.users);
    expect((await list(`?offset=${all.total_entries}`)).users).toEqual([]);
    expect((await list(`?offset=${Number.MAX_SAFE_INTEGER}`)).users).toEqual([]);
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=1001',
    'limit=x',
    'limit=',
    'limit=1.5',
    'limit=1&limit=2',
    'offset=-1',
    'offset=x',
    'offset=1e30',
  ])('refuses %s and names the parameter', async (query) => {
    const answer = await server.call(`/api/v2/users?${query}`, { token: admin });
    expect(answer.status).toBe(400);
    expect(answer.json<Problem>().detail).toContain(query.split('=')[0]);
  });

  it('has a page of 100 unless asked otherwise', async () => {
    const hash = { password_hash: null };
    const tenant = await server.db.shared
      .selectFrom('tenants')
      .select('id')
      .where('name', '=', 'acme')
      .executeTakeFirst();
    const scope = server.db.tenant(tenant?.id ?? '');
    const rows = Array.from({ length: 105 }, (_, index) => ({ email: `bulk${index}@example.com`, ...hash }));
    await scope.insertInto('users').values(rows).execute();
    const page = await list('', await server.login('boss@example.com', 'acme'));
    expect([page.users.length, page.total_entries]).toEqual([100, 107]);
  });
});

describe('PATCH /api/v2/users/{user_id}', () => {
  it('changes what is named and leaves the rest', async () => {
    const { id } = (await create({ ...VALID, email: 'change@example.com', roles: ['viewer'] })).json<User>();
    expect((await patch(id, { roles: ['editor'] })).json<User>()).toMatchObject({ roles: ['editor'], is_active: true });
    expect((await patch(id, { is_active: false })).json<User>()).toMatchObject({ roles: ['editor'], is_active: false });
    expect((await patch(id, {})).json<User>()).toMatchObject({ roles: ['editor'], is_active: false });
  });

  it('does not know the users of another tenant, and does not change them', async () => {
    const foreign = (await list('', await server.login('boss@example.com', 'acme'))).users.at(-1);
    const answer = await patch(foreign?.id ?? '', { is_active: false, roles: [], password: 'taken over' });
    expect(answer.status).toBe(404);
    expect((await list('', await server.login('boss@example.com', 'acme'))).users.at(-1)).toEqual(foreign);
  });

  it('lets no administrator lock themselves out, in whatever case they write their id', async () => {
    const me = (await list()).users.at(-1)?.id ?? '';
    for (const id of [me, me.toUpperCase()]) expect((await patch(id, { is_active: false })).status).toBe(409);
    expect((await list()).users.at(-1)?.is_active).toBe(true);
  });

  it('never takes the last active administrator from a tenant, also not when two demote each other at once', async () => {
    await server.addUser({ email: 'one@example.com', roles: ['admin'], tenant: 'last' });
    const one = await server.login('one@example.com', 'last');
    const [first] = (await list('', one)).users;
    const oneId = first?.id ?? '';
    for (const body of [
      { roles: [] },
      { roles: ['viewer'] },
      { roles: ['editor', 'operator'], password: 'some other' },
    ]) {
      const answer = await patch(oneId, body, one);
      expect([answer.status, answer.json<Problem>().type]).toEqual([409, 'urn:svc:error:conflict']);
      expect(answer.json<Problem>().detail).toContain('last active administrator');
    }
    expect((await patch(oneId, { roles: ['viewer', 'admin'] }, one)).status).toBe(200);
    const sleeping = (await create({ ...VALID, email: 'two@example.com', roles: ['admin'] }, one)).json<User>();
    await patch(sleeping.id, { is_active: false }, one);
    expect((await patch(oneId, { roles: [] }, one)).status).toBe(409); // an inactive one can administer nothing
    await patch(sleeping.id, { is_active: true }, one);
    const two = (
      await server.call('/auth/token', {
        method: 'POST',
        body: { username: 'two@example.com', password: VALID.password, tenant: 'last' },
      })
    ).json<{ access_token: string }>().access_token;
    const answers = await Promise.all([
      patch(sleeping.id, { roles: ['viewer'] }, one),
      patch(oneId, { is_active: false }, two),
    ]);
    const left = (await server.db.shared.selectFrom('tenants').select('id').where('name', '=', 'last').execute())[0];
    const admins = await server.db
      .tenant(left?.id ?? '')
      .selectFrom('users')
      .innerJoin('user_roles', 'user_roles.user_id', 'users.id')
      .select('users.email')
      .where('role_name', '=', 'admin')
      .where('is_active', '=', true)
      .execute();
    expect([admins.length, answers.filter(({ status }) => status === 200).length]).toEqual([1, 1]);
  });

  it.each([
    'not-a-uuid',
    'urn:uuid:7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01',
    '{7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01}',
    '~',
    '%00',
  ])('refuses the id %s', async (id) => {
    expect((await patch(id, {})).status).toBe(400);
  });

  it('says 404 for an id that nobody has', async () => {
    expect((await patch('7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01', {})).status).toBe(404);
  });

  it('refuses an unknown role without changing anything else', async () => {
    const { id } = (await create({ ...VALID, email: 'atomic@example.com', roles: ['viewer'] })).json<User>();
    expect((await patch(id, { is_active: false, roles: ['emperor'] })).status).toBe(400);
    expect((await list()).users.find((user) => user.id === id)).toMatchObject({ roles: ['viewer'], is_active: true });
  });
});

describe('DELETE /api/v2/users/{user_id}', () => {
  const remove = (id: string, token = admin) => server.call(`/api/v2/users/${id}`, { method: 'DELETE', token });

  it('takes the user away with every session, and keeps what is in the audit log', async () => {
    const id = await server.addUser({ email: 'leaver@example.com', roles: ['viewer'] });
    const session = await server.login('leaver@example.com');
    expect((await remove(id)).status).toBe(204);
    expect((await server.call('/api/v2/version', { token: session })).status).toBe(401);
    expect([(await remove(id)).status, (await patch(id, {})).status]).toEqual([404, 404]);
    const log = await server.call('/api/v2/eventLogs?event=delete_user', { token: admin });
    expect(log.text).toContain('leaver@example.com');
  });

  it('does not know the users of another tenant, and refuses oneself', async () => {
    const foreign = (await list('', await server.login('boss@example.com', 'acme'))).users.at(-1);
    expect((await remove(foreign?.id ?? '')).status).toBe(404);
    const me = (await list()).users.at(-1)?.id ?? '';
    for (const id of [me, me.toUpperCase()]) expect((await remove(id)).status).toBe(409);
  });

  it('never takes the last active administrator, also not when two delete or demote each other at once', async () => {
    const ids = new Map<string, string>();
    for (const name of ['first', 'second'])
      ids.set(name, await server.addUser({ email: `${name}@example.com`, roles: ['admin'], tenant: 'few' }));
    const first = await server.login('first@example.com', 'few');
    const second = await server.login('second@example.com', 'few');
    const answers = await Promise.all([
      remove(ids.get('second') ?? '', first),
      patch(ids.get('first') ?? '', { roles: ['viewer'] }, second),
    ]);
    // One wins; the other finds its session ended, or is told that it would be the last.
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    const tenant = await server.db.shared.selectFrom('tenants').select('id').where('name', '=', 'few').execute();
    const scope = server.db.tenant(tenant[0]?.id ?? '');
    const admins = await scope
      .selectFrom('users')
      .innerJoin('user_roles', 'user_roles.user_id', 'users.id')
      .select('users.id')
      .where('role_name', '=', 'admin')
      .where('is_active', '=', true)
      .execute();
    expect(admins).toHaveLength(1);
    const last = admins[0]?.id ?? '';
    // By somebody who may, and is no person who could be the other administrator.
    await scope.transaction().execute(async (trx) => {
      expect(await removeUser(trx, last)).toMatchObject({ kind: 'last_administrator' });
      for (const change of [
        { roles: [] },
        { roles: ['viewer'] },
        { isActive: false },
        { roles: ['admin'], isActive: false },
      ])
        expect(await changeUserAccess(trx, last, change)).toMatchObject({ kind: 'last_administrator' });
      // A refusal leaves the transaction to go on: a single sign-on has more to write.
      expect(await changeUserAccess(trx, last, { roles: ['admin', 'viewer'] })).toMatchObject({ kind: 'done' });
    });
    expect(await scope.selectFrom('user_roles').select('role_name').where('user_id', '=', last).execute()).toHaveLength(
      2,
    );
  });
});
