import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

type Entry = { event_log_id: number; when: string; event: string; owner: string; extra: string };
type Entries = { event_logs: Entry[]; total_entries: number };

let server: TestServer;
let admin: string;
let createdId: string;
beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000' });
  admin = await server.login();
  const headers = { 'x-request-id': 'request-of-the-test' };
  const body = { email: 'grace@example.com', password: TEST_PASSWORD, roles: ['viewer'] };
  const created = await server.call('/api/v2/users', { method: 'POST', token: admin, body, headers });
  createdId = created.json<{ id: string }>().id;
  const grace = await server.login('grace@example.com');
  await server.call('/auth/token', { method: 'POST', body: { username: 'grace@example.com', password: 'wrong' } });
  await server.call('/api/v2/auth/logout', { token: grace });
  const change = { password: 'another password', roles: ['editor'], is_active: true };
  await server.call(`/api/v2/users/${createdId}`, { method: 'PATCH', token: admin, body: change });
  await server.call('/api/v2/auth/password', {
    method: 'POST',
    token: admin,
    body: { current_password: TEST_PASSWORD, new_password: TEST_PASSWORD },
  });
  admin = await server.login();
});
afterAll(() => server?.close());

const list = async (query = '', token = admin) =>
  (await server.call(`/api/v2/eventLogs${query}`, { token })).json<Entries>();
const extraOf = (entry: Entry | undefined) => JSON.parse(entry?.extra ?? '{}') as Record<string, unknown>;

describe('the audit log', () => {
  it('says who did what to which object, from which address and in which request', async () => {
    const { event_logs: entries } = await list('?event=post_user');
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ event: 'post_user', owner: ADMIN_EMAIL });
    expect(extraOf(entries[0])).toMatchObject({
      object: `user:${createdId}`,
      client_ip: '127.0.0.1',
      request_id: 'request-of-the-test',
    });
  });

  it('knows logins, failed logins, logouts, changes of users and of passwords', async () => {
    const { event_logs: entries } = await list('?limit=1000');
    const events = new Set(entries.map((entry) => `${entry.event} by ${entry.owner}`));
    for (const expected of [
      `login by ${ADMIN_EMAIL}`,
      'login by grace@example.com',
      'login_failed by grace@example.com',
      'logout by grace@example.com',
      `patch_user by ${ADMIN_EMAIL}`,
      `change_password by ${ADMIN_EMAIL}`,
    ])
      expect(events).toContain(expected);
  });

  it('says which fields changed and never to what', async () => {
    const { event_logs: entries } = await list('?event=patch_user');
    expect(extraOf(entries[0])['changed']).toEqual(['is_active', 'password', 'roles']);
    expect(entries[0]?.extra).not.toContain('another password');
  });

  it('has no entry for what was refused by a rule and rolled back', async () => {
    const before = (await list()).total_entries;
    const body = { email: 'grace@example.com', password: 'long enough' };
    expect((await server.call('/api/v2/users', { method: 'POST', token: admin, body })).status).toBe(409);
    expect((await list()).total_entries).toBe(before);
  });

  it('is newest first, and in the order that is asked for', async () => {
    const ids = (await list()).event_logs.map((entry) => entry.event_log_id);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    const ascending = (await list('?order_by=event_log_id')).event_logs.map((entry) => entry.event_log_id);
    expect(ascending).toEqual(ids.toReversed());
    const byEvent = (await list('?order_by=event&order_by=-id')).event_logs.map((entry) => entry.event);
    expect(byEvent).toEqual(byEvent.toSorted());
  });

  it('refuses an order over anything that is no sort key, in whatever disguise', async () => {
    for (const key of ['password_hash', 'tenant_id', 'id;drop table users', '--id', 'constructor', '__proto__', '']) {
      const answer = await server.call(`/api/v2/eventLogs?order_by=${encodeURIComponent(key)}`, { token: admin });
      expect([key, answer.status]).toEqual([key, 400]);
    }
  });

  it('is filtered by every criterion', async () => {
    const { total_entries: all } = await list();
    const { event_logs: logins, total_entries: count } = await list('?included_events=login&included_events=logout');
    expect(new Set(logins.map((entry) => entry.event))).toEqual(new Set(['login', 'logout']));
    expect((await list('?excluded_events=login&excluded_events=logout')).total_entries).toBe(all - count);
    expect((await list('?owner=grace%40example.com')).total_entries).toBe(3);
    const cut = (await list('?order_by=id&limit=1&offset=3')).event_logs[0]?.when ?? '';
    const [before, after] = [await list(`?before=${cut}`), await list(`?after=${cut}`)];
    expect(before.event_logs.length).toBeGreaterThan(0);
    expect(before.event_logs.every((entry) => entry.when < cut)).toBe(true);
    expect(after.event_logs.length).toBeGreaterThan(0);
    expect(after.event_logs.every((entry) => entry.when >= cut)).toBe(true); // the log keeps finer times than it shows
    for (const nothing of ['dag_id=x', 'task_id=x', 'run_id=x', 'map_index=0', 'try_number=1', 'event=LOGIN'])
      expect((await list(`?${nothing}`)).total_entries).toBe(0);
  });

  it('is searched by parts and by beginnings of names, of which either may be several', async () => {
    const events = async (query: string) => (await list(`?limit=1000&${query}`)).event_logs.map(({ event }) => event);
    const all = await events('');
    const expected = (matches: (event: string) => boolean) => all.filter(matches);
    expect(await events('event_pattern=LOG')).toEqual(expected((event) => event.includes('log')));
    expect(await events('event_pattern=%25_user')).toEqual(expected((event) => event.endsWith('user')));
    expect(await events('event_prefix_pattern=log')).toEqual(expected((event) => event.startsWith('log')));
    expect(await events('event_prefix_pattern=LOG')).toEqual([]);
    expect(await events('event_pattern=logout|patch')).toEqual(expected((event) => /logout|patch/.test(event)));
    expect((await list('?owner_pattern=GRACE')).total_entries).toBe(3);
    expect((await list('?owner_prefix_pattern=grace')).total_entries).toBe(3);
    expect((await list('?owner_prefix_pattern=example')).total_entries).toBe(0);
    for (const column of ['dag_id', 'task_id', 'run_id'])
      for (const kind of ['pattern', 'prefix_pattern'])
        expect([column, kind, (await list(`?${column}_${kind}=x`)).total_entries]).toEqual([column, kind, 0]);
  });

  it('is the same list page by page, from whichever end a page is read', async () => {
    for (const order of ['-when', 'when', 'event', '-owner&order_by=event', '-extra', 'logical_date']) {
      const whole = (await list(`?limit=1000&order_by=${order}`)).event_logs.map((entry) => entry.event_log_id);
      const pages: number[] = [];
      for (let offset = 0; offset < whole.length + 3; offset += 3) {
        const page = await list(`?limit=3&offset=${offset}&order_by=${order}`);
        expect(page.total_entries).toBe(whole.length);
        pages.push(...page.event_logs.map((entry) => entry.event_log_id));
      }
      expect([order, pages]).toEqual([order, whole]);
    }
  });

  it('counts what came since it was counted, and no more what retention has removed', async () => {
    await server.addUser({ email: 'cleo@example.com', roles: ['admin'], tenant: 'counted' });
    const cleo = await server.login('cleo@example.com', 'counted');
    const db = server.db.tenant((await ensureTenant(server.db.shared, 'counted')).id);
    const add = async (event: string) =>
      recordAudit(db, { name: 'cleo', clientIp: '::1', requestId: 'r' }, { event, objectKind: 'dag', objectId: 'x' });
    const totals = async () => [
      (await list('?limit=1', cleo)).total_entries,
      (await list('?limit=1&event=patch_dag', cleo)).total_entries,
    ];
    for (const event of ['patch_dag', 'patch_dag', 'delete_dag']) await add(event);
    await db.updateTable('audit_log').set({ at: '2020-01-01T00:00:00Z' }).execute(); // settled
    expect(await totals()).toEqual([4, 2]); // with the login
    await add('patch_dag');
    expect(await totals()).toEqual([5, 3]);
    expect(await totals()).toEqual([5, 3]);
    await db.deleteFrom('audit_log').where('event', '=', 'login').execute(); // the oldest
    expect(await totals()).toEqual([4, 3]);
    await db.deleteFrom('audit_log').execute();
    expect(await totals()).toEqual([0, 0]);
    await add('patch_dag');
    expect(await totals()).toEqual([1, 1]);
  });

  it('is in the order of what it shows in its extra', async () => {
    const texts = (await list('?limit=1000&order_by=extra')).event_logs.map(({ extra }) => extra);
    expect(texts.length).toBeGreaterThan(3);
    expect(texts).toEqual(texts.toSorted());
    expect((await list('?limit=1000&order_by=-extra')).event_logs.map(({ extra }) => extra)).toEqual(
      texts.toReversed(),
    );
  });

  it('has the logical date of the run and the shown names of DAG and task that it speaks of', async () => {
    await server.addUser({ email: 'ann@example.com', roles: ['admin'], tenant: 'logged' });
    const ann = await server.login('ann@example.com', 'logged');
    const tenant = await ensureTenant(server.db.shared, 'logged');
    const db = server.db.tenant(tenant.id);
    await insertDag(db, { dagId: 'etl', taskIds: ['load'] });
    await db.updateTable('dags').set({ display_name: 'Nightly load' }).execute();
    const actor = { name: 'ann', clientIp: '::1', requestId: 'r' };
    for (const [runId, logicalDate] of [
      ['late', '2026-03-02T00:00:00Z'],
      ['early', '2026-03-01T00:00:00Z'],
    ] as const) {
      await insertRun(db, { dagId: 'etl', runId, logical_date: logicalDate, instances: [{ task_id: 'load' }] });
      const entry = { event: 'patch_task_instance', objectKind: 'task_instance', objectId: 'load', taskId: 'load' };
      await recordAudit(db, actor, { ...entry, dagId: 'etl', runId });
    }
    await recordAudit(db, actor, {
      event: 'patch_dag',
      objectKind: 'dag',
      objectId: 'gone',
      dagId: 'gone',
      runId: 'x',
    });
    const entries = async (query: string) =>
      (await server.call(`/api/v2/eventLogs?event_prefix_pattern=patch&${query}`, { token: ann })).json<{
        event_logs: Record<string, unknown>[];
      }>().event_logs;
    const shown = await entries('order_by=logical_date&order_by=id');
    expect(shown.map((entry) => [entry['run_id'], entry['logical_date'], entry['dag_display_name']])).toEqual([
      ['early', '2026-03-01T00:00:00.000000Z', 'Nightly load'],
      ['late', '2026-03-02T00:00:00.000000Z', 'Nightly load'],
      ['x', null, 'gone'],
    ]);
    expect(shown.map((entry) => entry['task_display_name'])).toEqual(['sample', 'sample', null]);
    expect((await entries('order_by=-logical_date&dag_id=etl')).map((entry) => entry['run_id'])).toEqual([
      'late',
      'early',
    ]);
    const one = shown[0]?.['event_log_id'];
    expect((await server.call(`/api/v2/eventLogs/${String(one)}`, { token: ann })).json()).toEqual(shown[0]);
  });

  it.each([
    'before=yesterday',
    'before=2016-12-31T23:59:60Z',
    'after=2021-02-30T00:00:00Z',
    'after=2021-01-01',
    'map_index=-2',
    'try_number=99999999999',
    'event=%00',
  ])('refuses the filter %s', async (query) => {
    expect((await server.call(`/api/v2/eventLogs?${query}`, { token: admin })).status).toBe(400);
  });

  it('gives one entry by its number, and none of another tenant', async () => {
    const [entry] = (await list('?limit=1')).event_logs;
    const path = `/api/v2/eventLogs/${entry?.event_log_id}`;
    expect((await server.call(path, { token: admin })).json()).toEqual(entry);
    await server.addUser({ email: 'boss@example.com', roles: ['admin'], tenant: 'acme' });
    const boss = await server.login('boss@example.com', 'acme');
    expect((await server.call(path, { token: boss })).status).toBe(404);
    const theirs = await list('', boss);
    expect(theirs.event_logs.map((each) => [each.event, each.owner])).toEqual([['login', 'boss@example.com']]);
    expect((await server.call('/api/v2/eventLogs/9007199254740991', { token: admin })).status).toBe(404);
    expect((await server.call('/api/v2/eventLogs/9007199254740993', { token: admin })).status).toBe(400);
  });
});
