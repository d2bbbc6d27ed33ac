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

type Body = Record<string, unknown>;
type Result = { success: string[]; errors: { error: string; status_code: number }[] };
type Outcome = { create: Result | null; update: Result | null; delete: Result | null };

const create = (...entities: Body[]) => ({ action: 'create', entities });

/** The two resources behave alike; only the names of their fields differ. */
const RESOURCES = [
  {
    path: '/api/v2/connections',
    noun: 'connection',
    event: 'bulk_connections',
    entity: (name: string, text?: string) => ({
      connection_id: name,
      conn_type: 'x',
      ...(text !== undefined && { host: text }),
    }),
    name: 'connection_id',
    field: 'host',
  },
  {
    path: '/api/v2/variables',
    noun: 'variable',
    event: 'bulk_variables',
    entity: (name: string, text?: string) => ({ key: name, ...(text !== undefined && { value: text }) }),
    name: 'key',
    field: 'value',
  },
] as const;

describe.each(RESOURCES)('bulk $noun', ({ path, noun, event, entity, name, field }) => {
  const send = (...actions: Body[]) => server.call(path, { method: 'PATCH', token, body: { actions } });
  const bulk = async (...actions: Body[]): Promise<Outcome> => {
    const answer = await send(...actions);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json<Outcome>();
  };
  const valueOf = async (id: string) => (await server.call(`${path}/${id}`, { token })).json()[field];
  const exists = async (id: string) => (await server.call(`${path}/${id}`, { token })).status === 200;

  it('does nothing about nothing', async () => {
    expect(await bulk()).toEqual({ create: null, update: null, delete: null });
    expect(await bulk(create(), { action: 'delete', entities: [] })).toEqual({
      create: { success: [], errors: [] },
      update: null,
      delete: { success: [], errors: [] },
    });
  });

  it('creates, updates and deletes in the order of the actions', async () => {
    const outcome = await bulk(
      create(entity('o1', 'v1'), entity('o2', 'v1')),
      { action: 'update', entities: [entity('o1', 'v2')] },
      { action: 'delete', entities: ['o2'] },
    );
    expect(outcome).toEqual({
      create: { success: ['o1', 'o2'], errors: [] },
      update: { success: ['o1'], errors: [] },
      delete: { success: ['o2'], errors: [] },
    });
    expect([await valueOf('o1'), await exists('o2')]).toEqual(['v2', false]);
  });

  const createOldAndNew = async (id: string, mode?: string) => {
    await bulk({ ...create(entity(`${id}-old`, 'old')), action_on_existence: 'overwrite' });
    const entities = [entity(`${id}-new`, 'new'), entity(`${id}-old`, 'new')];
    return (await bulk({ ...create(...entities), ...(mode && { action_on_existence: mode }) })).create;
  };

  describe('create, of one that exists and one that does not', () => {
    test.each([undefined, 'fail'])('mode %s: nothing is done and the conflict is told', async (mode) => {
      const id = `cf${mode ?? ''}`;
      expect(await createOldAndNew(id, mode)).toEqual({
        success: [],
        errors: [{ status_code: 409, error: expect.stringContaining(`these ${noun}s already exist`) }],
      });
      expect([await exists(`${id}-new`), await valueOf(`${id}-old`)]).toEqual([false, 'old']);
    });

    it('mode skip: the new one is created, the old one left alone', async () => {
      expect(await createOldAndNew('cs', 'skip')).toEqual({ success: ['cs-new'], errors: [] });
      expect([await valueOf('cs-new'), await valueOf('cs-old')]).toEqual(['new', 'old']);
    });

    it('mode overwrite: both are written', async () => {
      expect(await createOldAndNew('co', 'overwrite')).toEqual({ success: ['co-new', 'co-old'], errors: [] });
      expect([await valueOf('co-new'), await valueOf('co-old')]).toEqual(['new', 'new']);
    });
  });

  describe.each(['update', 'delete'])('%s, of one that exists and one that does not', (action) => {
    const attempt = async (id: string, mode?: string) => {
      await bulk(create(entity(`${id}-old`, 'old')));
      const entities = [entity(`${id}-none`, 'new'), entity(`${id}-old`, 'new')];
      const outcome = await bulk({ action, entities, ...(mode && { action_on_non_existence: mode }) });
      return outcome[action as 'update' | 'delete'];
    };

    it('mode fail: nothing is done and the missing one is named', async () => {
      const id = `${action}-fail`;
      expect(await attempt(id)).toEqual({
        success: [],
        errors: [{ status_code: 404, error: expect.stringContaining(`"${id}-none"`) }],
      });
      expect(await valueOf(`${id}-old`)).toBe('old');
      expect(await exists(`${id}-none`)).toBe(false);
    });

    it('mode skip: the one that exists is done', async () => {
      const id = `${action}-skip`;
      expect(await attempt(id, 'skip')).toEqual({ success: [`${id}-old`], errors: [] });
      expect(await exists(`${id}-old`)).toBe(action === 'update');
      expect(await exists(`${id}-none`)).toBe(false);
    });
  });

  it('an action that fails does not keep the others from being done', async () => {
    const outcome = await bulk({ action: 'delete', entities: ['nobody'] }, create(entity('still', 'v')));
    expect(outcome.delete?.errors).toHaveLength(1);
    expect(outcome.create?.success).toEqual(['still']);
    expect(await exists('still')).toBe(true);
  });

  it('updates follow an update mask and keep what is left out', async () => {
    await bulk(create({ ...entity('um', 'old'), description: 'old' }));
    const changed = { ...entity('um', 'new'), description: 'new' };
    await bulk({ action: 'update', entities: [changed], update_mask: ['description'] });
    expect((await server.call(`${path}/um`, { token })).json()).toMatchObject({ [field]: 'old', description: 'new' });
    await bulk({ action: 'update', entities: [entity('um')], update_mask: null });
    expect((await server.call(`${path}/um`, { token })).json()).toMatchObject({ [field]: 'old', description: 'new' });
  });

  it('deletes by name or by entity, and the same one twice is once', async () => {
    await bulk(create(entity('d1', 'x'), entity('d2', 'x')));
    const outcome = await bulk({ action: 'delete', entities: ['d1', { [name]: 'd2' }, 'd1'] });
    expect(outcome.delete).toEqual({ success: ['d1', 'd2'], errors: [] });
  });

  test.each([
    ['no actions', {}, 'field "actions" is required'],
    [
      'an unknown action',
      { actions: [{ action: 'drop', entities: [] }] },
      'actions.0.action must be one of create, update, delete',
    ],
    ['no action', { actions: [{ entities: [] }] }, 'field "action" is required in actions.0'],
    ['no entities', { actions: [{ action: 'delete' }] }, 'field "entities" is required in actions.0'],
    [
      'an unknown mode',
      { actions: [{ action: 'create', entities: [], action_on_existence: 'x' }] },
      'action_on_existence must be one of fail, skip, overwrite',
    ],
    [
      'a mode of another action',
      { actions: [{ action: 'delete', entities: [], action_on_existence: 'skip' }] },
      'unknown field "action_on_existence" in actions.0',
    ],
    [
      'a bare name to create',
      { actions: [{ action: 'create', entities: ['a'] }] },
      'actions.0.entities.0 must be object, got string',
    ],
    [
      'an entity without a name',
      { actions: [{ action: 'create', entities: [{}] }] },
      'is required in actions.0.entities.0',
    ],
    [
      'an unknown mask',
      { actions: [{ action: 'update', entities: [], update_mask: ['nope'] }] },
      'update_mask: there is no field "nope"',
    ],
  ])('refuses %s, saying where', async (_what, body, detail) => {
    const answer = await server.call(path, { method: 'PATCH', token, body });
    expect([answer.status, answer.json()['detail']]).toEqual([400, expect.stringContaining(detail)]);
  });

  it('refuses the same name twice in an action, and then does nothing at all', async () => {
    const answer = await send(create(entity('first', 'x')), create(entity('twice', 'a'), entity('twice', 'b')));
    expect(answer.status).toBe(400);
    expect(answer.json()['detail']).toContain(`actions.1 names the ${noun} "twice" twice`);
    expect(await exists('first')).toBe(false);
  });

  it('is one audit entry that names what was done', async () => {
    await bulk(create(entity('au1', 'x')), { action: 'delete', entities: ['au1'] });
    type Logs = { event_logs: { event: string; extra: string }[] };
    const [entry] = (await server.call('/api/v2/eventLogs?limit=1', { token })).json<Logs>().event_logs;
    expect(entry?.event).toBe(event);
    expect(JSON.parse(entry?.extra ?? '')).toMatchObject({ created: ['au1'], updated: [], deleted: ['au1'] });
  });

  it('belongs to the tenant of its caller', async () => {
    const email = `${noun}-red@example.com`;
    await server.addUser({ email, roles: ['admin'], tenant: 'red' });
    const red = await server.login(email, 'red');
    await bulk(create(entity('ours', 'x')));
    const body = { actions: [{ action: 'delete', entities: ['ours'] }, create(entity('ours', 'theirs'))] };
    const outcome = (await server.call(path, { method: 'PATCH', token: red, body })).json<Outcome>();
    expect(outcome.delete?.errors).toEqual([expect.objectContaining({ status_code: 404 })]);
    expect(outcome.create?.success).toEqual(['ours']);
    expect(await valueOf('ours')).toBe('x');
  });
});

describe('secrets in bulk', () => {
  it('masks keep what is stored, and no answer or log line carries a secret', async () => {
    const bulk = (action: Body) =>
      server.call('/api/v2/connections', { method: 'PATCH', token, body: { actions: [action] } });
    const secret = {
      connection_id: 'sec',
      conn_type: 'x',
      password: 'bulk-canary-1',
      extra: '{"token":"bulk-canary-2","n":1}',
    };
    await bulk({ action: 'create', entities: [secret] });
    const columns = server.db.shared
      .selectFrom('connections')
      .select(['password_sealed', 'extra_sealed'])
      .where('connection_id', '=', 'sec');
    const before = await columns.executeTakeFirstOrThrow();
    const masked = { ...secret, password: '***', extra: '{"token":"***","n":1}' };
    const answer = await bulk({ action: 'update', entities: [masked] });
    expect(answer.status).toBe(200);
    expect(await columns.executeTakeFirstOrThrow()).toEqual(before);
    const log = await server.call('/api/v2/eventLogs?limit=1000', { token });
    expect([answer.text, log.text, ...server.logLines].join('\n')).not.toContain('bulk-canary');
  });
});
