import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AssetCondition } from '@svc/spec/timetables/schema.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import type { TenantDb } from '../../db/database.ts';
import { listUpstreamAssetEvents } from '../../db/assets/event-lists.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token = '';
let db: TenantDb;
const ids: Record<string, number> = {};

type Body = Record<string, unknown>;
const asset = (name: string) => ({ type: 'asset' as const, name, uri: `x://${name}`, group: 'g', extra: { of: name } });
const alias = { type: 'asset_alias' as const, name: 'alias' };
const both: AssetCondition = { type: 'asset_all', objects: [asset('a'), asset('b')] };

beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await registerScheduledDag(db, {
    dagId: 'producer',
    tasks: { write: { outlets: [asset('a'), alias], inlets: [asset('b')] } },
  });
  await registerScheduledDag(db, { dagId: 'consumer', schedule: { type: 'asset', assets: both } });
  await registerScheduledDag(db, { dagId: 'eager', schedule: { type: 'asset', assets: asset('c') } });
  await registerScheduledDag(db, { dagId: 'twin-1', tasks: { write: { outlets: [asset('twin')] } } });
  await registerScheduledDag(db, { dagId: 'twin-2', tasks: { write: { outlets: [asset('twin')] } } });
  await registerScheduledDag(db, {
    dagId: 'by-name',
    schedule: { type: 'asset', assets: { type: 'asset_name_ref', name: 'c' } },
  });
  for (const row of await db.selectFrom('assets').select(['id', 'name']).execute()) ids[row.name] = row.id;
});
afterAll(() => server?.close());

const call = (method: string, path: string, body?: Body) =>
  server.call(`/api/v2${path}`, { method, token, ...(body !== undefined && { body }) });
const get = async <T = Body>(path: string) => {
  const answer = await call('GET', path);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json<T>();
};
const happen = async (name: string, more: Body = {}) => {
  const answer = await call('POST', '/assets/events', { asset_id: ids[name], ...more });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json<{ id: number; created_dagruns: { dag_id: string; run_id: string }[]; timestamp: string }>();
};

describe('an asset', () => {
  it('says who writes it, reads it and waits for it, and when it last changed', async () => {
    const before = await get(`/assets/${ids['a']}`);
    expect(before).toMatchObject({
      name: 'a',
      uri: 'x://a',
      group: 'g',
      extra: { of: 'a' },
      scheduled_dags: [{ dag_id: 'consumer' }],
      producing_tasks: [{ dag_id: 'producer', task_id: 'write' }],
      consuming_tasks: [],
      aliases: [],
      watchers: [],
      last_asset_event: { id: null, timestamp: null },
    });
    expect(await get(`/assets/${ids['b']}`)).toMatchObject({ consuming_tasks: [{ dag_id: 'producer' }] });
    expect(await get(`/assets/${ids['c']}`)).toMatchObject({
      scheduled_dags: [{ dag_id: 'by-name' }, { dag_id: 'eager' }],
    });
    const event = await happen('a');
    expect(await get(`/assets/${ids['a']}`)).toMatchObject({
      last_asset_event: { id: event.id, timestamp: event.timestamp },
    });
    await call('DELETE', `/assets/${ids['a']}/queuedEvents`);
  });

  it.each([
    ['order_by=-name', ['twin', 'c', 'b', 'a']],
    ['name_pattern=TW', ['twin']],
    ['uri_prefix_pattern=x://b', ['b']],
    ['dag_ids=consumer&order_by=name', ['a', 'b']],
    ['dag_ids=consumer&dag_ids=twin-1&order_by=name', ['a', 'b', 'twin']],
    ['dag_ids=by-name', ['c']],
    ['limit=1&offset=1&order_by=name', ['b']],
  ])('is found by %s', async (query, names) => {
    const page = await get<{ assets: { name: string }[]; total_entries: number }>(`/assets?${query}`);
    expect(page.assets.map((each) => each.name)).toEqual(names);
    expect(page.total_entries).toBe(query.includes('limit') ? 4 : names.length);
  });

  it('that no DAG of today uses is hidden unless asked for', async () => {
    await registerScheduledDag(db, { dagId: 'short-lived', tasks: { write: { outlets: [asset('relic')] } } });
    await db.updateTable('dags').set({ is_stale: true }).where('dag_id', '=', 'short-lived').execute();
    expect(await get('/assets?name_pattern=relic')).toMatchObject({ total_entries: 0 });
    expect(await get('/assets?name_pattern=relic&only_active=false')).toMatchObject({ total_entries: 1 });
  });

  it('or alias that does not exist is not found, under any verb', async () => {
    for (const [method, path] of [
      ['GET', '/assets/999999'],
      ['GET', '/assets/aliases/999999'],
      ['POST', '/assets/999999/materialize'],
      ['GET', '/assets/999999/queuedEvents'],
      ['DELETE', '/assets/999999/queuedEvents'],
      ['GET', '/dags/nobody/assets/queuedEvents'],
    ] as const)
      expect([path, (await call(method, path)).status]).toEqual([path, 404]);
    expect((await call('GET', '/assets/not-a-number')).status).toBe(400);
    expect((await call('GET', '/assets/99999999999999999999')).status).toBe(400);
  });
});

describe('an asset event', () => {
  it('makes the DAGs run whose schedule it completes; the answer names their runs', async () => {
    const alone = await happen('a', { extra: { n: 1 } });
    expect(alone).toMatchObject({ extra: { n: 1, from_rest_api: true }, created_dagruns: [], source_map_index: -1 });
    const last = await happen('b');
    expect(last.created_dagruns).toMatchObject([{ dag_id: 'consumer', state: 'running' }]);
    const run = await db
      .selectFrom('dag_runs')
      .selectAll()
      .where('run_id', '=', last.created_dagruns[0]?.run_id ?? '')
      .executeTakeFirstOrThrow();
    const causes = await listUpstreamAssetEvents(db, run.id);
    expect(causes.map((event) => event.id)).toEqual([alone.id, last.id]);
    expect((await happen('c')).created_dagruns.map((each) => each.dag_id).toSorted()).toEqual(['by-name', 'eager']);
  });

  it('is found by asset, source and time, in either order', async () => {
    const events = async (query: string) =>
      (await get<{ asset_events: { id: number; name: string }[] }>(`/assets/events?${query}`)).asset_events;
    const ofA = await events(`asset_id=${ids['a']}&order_by=-timestamp`);
    expect(ofA.map((event) => event.id)).toEqual(ofA.map((event) => event.id).toSorted((x, y) => y - x));
    expect((await events('name_pattern=b')).every((event) => event.name === 'b')).toBe(true);
    expect(await events('timestamp_lt=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await events('source_dag_id=producer')).toEqual([]);
    expect((await events('limit=1&offset=1')).length).toBe(1);
    expect((await call('GET', '/assets/events?order_by=extra')).status).toBe(400);
  });

  it('that waits is shown, per DAG and asset, and can be forgotten', async () => {
    const first = await happen('a');
    await happen('a');
    const waiting = await get<{ queued_events: Body[]; total_entries: number }>('/dags/consumer/assets/queuedEvents');
    expect(waiting).toMatchObject({
      queued_events: [{ dag_id: 'consumer', asset_id: ids['a'], dag_display_name: 'consumer' }],
      total_entries: 1,
    });
    expect(Date.parse(String(waiting.queued_events[0]?.['created_at']))).toBeGreaterThanOrEqual(
      Date.parse(first.timestamp),
    );
    expect((await call('DELETE', '/dags/consumer/assets/queuedEvents?before=2020-01-01T00:00:00Z')).status).toBe(404);
    expect((await call('DELETE', `/dags/consumer/assets/${ids['a']}/queuedEvents`)).status).toBe(204);
    expect(await get('/dags/consumer/assets/queuedEvents')).toMatchObject({ total_entries: 0 });
    // Forgotten for good: the other half alone does not make it run.
    expect((await happen('b')).created_dagruns).toEqual([]);
    await call('DELETE', '/dags/consumer/assets/queuedEvents');
  });
});

describe('materialising an asset', () => {
  it('runs the one DAG that writes it', async () => {
    const run = (await call('POST', `/assets/${ids['a']}/materialize`, { conf: { x: 1 } })).json();
    expect(run).toMatchObject({
      dag_id: 'producer',
      run_type: 'asset_materialization',
      logical_date: null,
      conf: { x: 1 },
    });
    expect((await call('POST', `/assets/${ids['a']}/materialize`)).status).toBe(200);
  });

  it('is refused when none does, or several do, and it says which', async () => {
    expect((await call('POST', `/assets/${ids['c']}/materialize`, {})).status).toBe(404);
    const answer = await call('POST', `/assets/${ids['twin']}/materialize`, {});
    expect([answer.status, answer.json()['detail']]).toEqual([409, expect.stringContaining('twin-1, twin-2')]);
  });
});
