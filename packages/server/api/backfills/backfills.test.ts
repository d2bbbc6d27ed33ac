import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import type { TenantDb } from '../../db/database.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token = '';
let db: TenantDb;

type Body = Record<string, unknown>;
const PATH = '/api/v2/backfills';
const call = (method: string, path: string, body?: Body) =>
  server.call(`${PATH}${path}`, { method, token, ...(body !== undefined && { body }) });
const daily = { type: 'cron_trigger' as const, expression: '0 0 * * *', timezone: 'UTC' };
const range = { from_date: '2026-01-01T00:00:00Z', to_date: '2026-01-03T00:00:00Z' };

beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  // Over since then: at midnight their schedule would make a run beside those of the backfills.
  const dag = { end_date: '2026-02-01T00:00:00+00:00' };
  for (const dagId of ['one', 'two', 'three']) await registerScheduledDag(db, { dagId, schedule: daily, dag });
});
afterAll(() => server?.close());

const statesOf = async (dagId: string) =>
  (await db.selectFrom('dag_runs').select('state').where('dag_id', '=', dagId).orderBy('logical_date').execute()).map(
    (run) => run.state,
  );

describe('a backfill', () => {
  it('is created, starts its first runs at once, is paused, goes on and is cancelled', async () => {
    const created = await call('POST', '', { dag_id: 'one', ...range, max_active_runs: 1 });
    expect([created.status, created.json()]).toEqual([
      200,
      {
        id: expect.any(Number),
        dag_id: 'one',
        dag_display_name: 'one',
        from_date: '2026-01-01T00:00:00.000000Z',
        to_date: '2026-01-03T00:00:00.000000Z',
        dag_run_conf: null,
        is_paused: false,
        reprocess_behavior: 'none',
        max_active_runs: 1,
        created_at: expect.any(String),
        completed_at: null,
        updated_at: expect.any(String),
      },
    ]);
    expect(await statesOf('one')).toEqual(['running', 'queued', 'queued']);
    const id = Number(created.json()['id']);
    expect((await call('PUT', `/${id}/pause`)).json()).toMatchObject({ is_paused: true });
    expect((await call('PUT', `/${id}/unpause`)).json()).toMatchObject({ is_paused: false });
    expect((await call('PUT', `/${id}/cancel`)).json()).toMatchObject({ completed_at: expect.any(String) });
    expect(await statesOf('one')).toEqual(['running', 'failed', 'failed']);
    for (const verb of ['pause', 'unpause', 'cancel']) expect((await call('PUT', `/${id}/${verb}`)).status).toBe(409);
    const audited = await db
      .selectFrom('audit_log')
      .select('event')
      .where('dag_id', '=', 'one')
      .orderBy('id')
      .execute();
    expect(audited.map((row) => row.event).filter((event) => event.endsWith('_backfill'))).toEqual([
      'create_backfill',
      'pause_backfill',
      'unpause_backfill',
      'cancel_backfill',
    ]);
  });

  it('fills dates after the end_date of the DAG as well, which only ends its schedule', async () => {
    const range = { from_date: '2026-02-01T00:00:00Z', to_date: '2026-02-03T00:00:00Z' };
    const planned = await call('POST', '/dry_run', { dag_id: 'three', ...range, reprocess_behavior: 'none' });
    const dates = ['2026-02-01', '2026-02-02', '2026-02-03'].map((day) => `${day}T00:00:00+00:00`);
    expect(planned.json<{ backfills: Body[] }>().backfills.map((one) => one['logical_date'])).toEqual(dates);
  });

  it('a second one of the same DAG is refused until the first is over', async () => {
    await call('POST', '', { dag_id: 'two', ...range });
    const answer = await call('POST', '', { dag_id: 'two', ...range });
    expect([answer.status, answer.json()['detail']]).toEqual([
      409,
      expect.stringContaining('already a running backfill'),
    ]);
  });

  it('is listed, by DAG and by whether it is over', async () => {
    const list = async (query: string) =>
      (await call('GET', `?${query}`)).json<{ backfills: { dag_id: string }[] }>().backfills.map((row) => row.dag_id);
    expect(await list('order_by=-id')).toEqual(['two', 'one']);
    expect(await list('dag_id=one')).toEqual(['one']);
    expect(await list('active=true')).toEqual(['two']);
    expect(await list('active=false')).toEqual(['one']);
    expect(await list('dag_id=nobody')).toEqual([]);
  });

  it('is listed for the web UI in the order its table asks for, newest first when it does not', async () => {
    const list = (query: string) => server.call(`/ui/backfills?${query}`, { token });
    const ids = async (query: string) =>
      (await list(query)).json<{ backfills: { dag_id: string }[] }>().backfills.map((row) => row.dag_id);
    expect(await ids('')).toEqual(['two', 'one']);
    expect(await ids('order_by=created_at')).toEqual(['one', 'two']);
    expect(await ids('order_by=-id')).toEqual(['two', 'one']);
    expect(await ids('active=false')).toEqual(['one']);
    expect((await list('order_by=colour')).json()['detail']).toContain('from_date');
  });

  it.each([
    ['a date without a time zone', { from_date: '2026-01-01T00:00:00' }, 400, 'from_date'],
    ['no limit', { max_active_runs: 0 }, 400, 'max_active_runs'],
    ['an unknown behaviour', { reprocess_behavior: 'all' }, 400, 'reprocess_behavior'],
    ['an unknown field', { backwards: true }, 400, 'backwards'],
    ['conf that is no object', { dag_run_conf: [1] }, 400, 'dag_run_conf'],
    ['another DAG', { dag_id: 'nobody' }, 404, 'nobody'],
  ])('with %s is refused', async (_what, changes, status, detail) => {
    for (const path of ['', '/dry_run']) {
      const answer = await call('POST', path, { dag_id: 'three', ...range, ...changes });
      expect([answer.status, answer.json()['detail']]).toEqual([status, expect.stringContaining(detail)]);
    }
    expect(await statesOf('three')).toEqual([]);
  });

  it('of a DAG that is stale is refused, and says so', async () => {
    const setStale = (isStale: boolean) =>
      server.db.shared.updateTable('dags').set({ is_stale: isStale }).where('dag_id', '=', 'three').execute();
    await setStale(true);
    for (const path of ['', '/dry_run']) {
      const answer = await call('POST', path, { dag_id: 'three', ...range });
      expect([answer.status, answer.json()['detail']]).toEqual([404, expect.stringContaining('is stale')]);
    }
    await setStale(false);
  });

  it('tried out says the dates in its order, and makes nothing', async () => {
    const answer = await call('POST', '/dry_run', { dag_id: 'three', ...range, run_backwards: true });
    expect(answer.json()).toEqual({
      backfills: ['03', '02', '01'].map((day) => ({
        logical_date: `2026-01-${day}T00:00:00+00:00`,
        partition_key: null,
        partition_date: null,
      })),
      total_entries: 3,
    });
    expect(await statesOf('three')).toEqual([]);
    const nothing = { from_date: '2026-01-01T01:00:00Z', to_date: '2026-01-01T02:00:00Z' };
    expect((await call('POST', '/dry_run', { dag_id: 'three', ...nothing })).json()).toMatchObject({
      total_entries: 0,
    });
    expect((await call('POST', '', { dag_id: 'three', ...nothing })).status).toBe(400);
  });

  it('that does not exist is not found', async () => {
    expect((await call('GET', '/999999')).status).toBe(404);
    for (const verb of ['pause', 'unpause', 'cancel']) expect((await call('PUT', `/999999/${verb}`)).status).toBe(404);
  });
});
