import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import type { TenantDb } from '../../db/database.ts';
import { poolUsageQuery } from '../../db/task-instances/pools.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import type { InstanceRows } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token = '';
let db: TenantDb;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
});
beforeEach(async () => {
  await sql`delete from pools where name <> 'default_pool'`.execute(server.db.shared);
});
afterAll(() => server?.close());

const PATH = '/api/v2/pools';
type Body = Record<string, unknown>;
const send = (method: string, path: string, body?: Body) =>
  server.call(`${PATH}${path}`, { method, token, ...(body !== undefined && { body }) });
const create = (body: Body) => send('POST', '', body);
const get = async (name: string) => (await send('GET', `/${encodeURIComponent(name)}`)).json();
const detailOf = (answer: { json(): Body }) => answer.json()['detail'];

const EMPTY = {
  description: null,
  include_deferred: false,
  occupied_slots: 0,
  running_slots: 0,
  queued_slots: 0,
  scheduled_slots: 0,
  deferred_slots: 0,
  team_name: null,
};

describe('a pool', () => {
  it('is created, read, changed and deleted, with the documented statuses and every field', async () => {
    const created = await create({ name: 'etl', slots: 4 });
    expect([created.status, created.json()]).toEqual([201, { ...EMPTY, name: 'etl', slots: 4, open_slots: 4 }]);
    const patched = await send('PATCH', '/etl', { slots: 6, description: 'd' });
    expect([patched.status, patched.json()]).toMatchObject([200, { slots: 6, description: 'd', open_slots: 6 }]);
    expect((await send('PATCH', '/etl', { description: null })).json()).toMatchObject({ slots: 6, description: null });
    expect((await send('DELETE', '/etl')).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await send(method, '/etl')).status).toBe(404);
    expect((await send('PATCH', '/etl', { slots: 1 })).status).toBe(404);
  });

  it('without a limit says so in its open slots, full or not', async () => {
    expect((await create({ name: 'endless', slots: -1 })).json()).toMatchObject({ slots: -1, open_slots: -1 });
  });

  it('of the same name is refused, and the one that is there stays as it is', async () => {
    await create({ name: 'etl', slots: 4 });
    const answer = await create({ name: 'etl', slots: 9 });
    expect([answer.status, detailOf(answer)]).toEqual([409, expect.stringContaining('change it with PATCH')]);
    expect(await get('etl')).toMatchObject({ slots: 4 });
  });

  it('created twice at the same moment exists once, and one caller is told', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => create({ name: 'race', slots: 1 })));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  test.each([
    ['slots below -1', { name: 'bad', slots: -2 }, 'slots must be >= -1'],
    ['slots beyond an integer column', { name: 'bad', slots: 2_147_483_648 }, 'slots must be <= 2147483647'],
    ['no slots', { name: 'bad' }, 'field "slots" is required'],
    ['an empty name', { name: '', slots: 1 }, 'name must have at least 1'],
    ['a name that is too long', { name: 'x'.repeat(257), slots: 1 }, 'name must have at most 256'],
    ['an unknown field', { name: 'bad', slots: 1, slot: 1 }, 'unknown field "slot"'],
    ['a team', { name: 'bad', slots: 1, team_name: 'blue' }, 'there are no teams'],
  ])('is refused with %s', async (_what, body, detail) => {
    const answer = await create(body);
    expect([answer.status, detailOf(answer)]).toEqual([400, expect.stringContaining(detail)]);
  });

  it('cannot be renamed', async () => {
    await create({ name: 'etl', slots: 4 });
    expect((await send('PATCH', '/etl', { pool: 'etl', slots: 5 })).status).toBe(200);
    const answer = await send('PATCH', '/etl', { pool: 'other', slots: 5 });
    expect([answer.status, detailOf(answer)]).toEqual([400, expect.stringContaining('cannot be renamed')]);
  });
});

describe('the default pool', () => {
  it('cannot be deleted, alone or in bulk', async () => {
    expect((await send('DELETE', '/default_pool')).status).toBe(400);
    const actions = [
      { action: 'create', entities: [{ name: 'beside', slots: 1 }] },
      { action: 'delete', entities: ['default_pool'] },
    ];
    expect((await send('PATCH', '', { actions })).status).toBe(400);
    expect(await get('default_pool')).toMatchObject({ name: 'default_pool' });
    expect((await send('GET', '/beside')).status).toBe(404);
  });

  it('takes other slots, and keeps its description', async () => {
    expect((await send('PATCH', '/default_pool', { slots: 64, include_deferred: true })).status).toBe(200);
    expect((await send('PATCH', '/default_pool', { description: 'mine' })).status).toBe(400);
    expect(await get('default_pool')).toMatchObject({ slots: 64, include_deferred: true, description: 'Default pool' });
    await send('PATCH', '/default_pool', { slots: 128, include_deferred: false });
  });
});

describe('how full a pool is', () => {
  const instance = (state: InstanceRows['state'], changes: Partial<InstanceRows> = {}): InstanceRows => ({
    task_id: crypto.randomUUID(),
    pool: 'full',
    state: state ?? null,
    ...changes,
  });

  it('follows from the instances that live, weighted by their slots; finished ones and other pools do not count', async () => {
    await create({ name: 'full', slots: 20 });
    await insertDag(db, { dagId: 'filler' });
    await insertRun(db, {
      dagId: 'filler',
      runId: 'r1',
      instances: [
        instance('running', { pool_slots: 3 }),
        instance('restarting'),
        instance('queued', { pool_slots: 2 }),
        instance('scheduled', { claimable: true }),
        instance('scheduled'),
        instance('scheduled', { waits: 'max_active_tis_per_dag', pool_slots: 4 }),
        instance('deferred', { pool_slots: 5 }),
        instance('success'),
        instance('up_for_retry'),
        instance(null),
        instance('running', { pool: 'default_pool' }),
        instance('running', { pool: 'no such pool' }),
      ],
    });
    const used = {
      running_slots: 4,
      queued_slots: 2,
      scheduled_slots: 6,
      deferred_slots: 5,
      occupied_slots: 6,
      open_slots: 14,
    };
    expect(await get('full')).toMatchObject(used);
    const [listed] = (await send('GET', '?pool_name_pattern=full')).json<{ pools: Body[] }>().pools;
    expect(listed).toMatchObject(used);
    const counting = (await send('PATCH', '/full', { include_deferred: true, slots: 8 })).json();
    expect(counting).toMatchObject({ occupied_slots: 11, open_slots: -3 });
    expect((await send('GET', '?order_by=-name')).json()).toMatchObject({ total_entries: 2 });
  });

  it('is read from the indexes over live instances, not from all that ever ran', async () => {
    await sql`insert into task_instances (tenant_id, run, task_id, map_index, dag_id, state, max_tries, operator, pool, pool_slots,
        priority_weight, queue, upstream, version_number)
      select t.tenant_id, t.run, 'old', n, t.dag_id, 'success', 0, 'o', 'full', 1, 1, 'default', '', 1
      from (select * from task_instances limit 1) t, generate_series(1, 20000) n`.execute(server.db.shared);
    await sql`analyze task_instances`.execute(server.db.shared);
    const plan = JSON.stringify(await poolUsageQuery(db).explain('json'));
    expect(plan).not.toContain('Seq Scan');
    for (const index of ['active', 'scheduled', 'held_back']) expect(plan).toContain(`task_instances_${index}`);
  });
});

describe('pools in bulk', () => {
  it('pools are created, changed and deleted in one transaction', async () => {
    await create({ name: 'old', slots: 1, description: 'kept' });
    await create({ name: 'gone', slots: 1 });
    const actions = [
      { action: 'create', entities: [{ name: 'new', slots: 2 }] },
      { action: 'update', entities: [{ name: 'old', slots: 3 }] },
      { action: 'delete', entities: ['gone'] },
    ];
    const answer = await send('PATCH', '', { actions });
    expect(answer.json()).toEqual({
      create: { success: ['new'], errors: [] },
      update: { success: ['old'], errors: [] },
      delete: { success: ['gone'], errors: [] },
    });
    expect(await get('old')).toMatchObject({ slots: 3, description: 'kept' });
    expect(await get('new')).toMatchObject({ slots: 2, include_deferred: false });
  });

  it('an update mask leaves the other fields alone', async () => {
    await create({ name: 'masked', slots: 1, description: 'kept' });
    const entities = [{ name: 'masked', slots: 9, description: 'not this' }];
    await send('PATCH', '', { actions: [{ action: 'update', update_mask: ['slots'], entities }] });
    expect(await get('masked')).toMatchObject({ slots: 9, description: 'kept' });
  });
});
