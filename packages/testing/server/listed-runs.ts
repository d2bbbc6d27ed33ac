/** A server with runs that differ from each other in everything a list of them can be asked for, and how to ask. */
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import { expect } from 'vitest';
import { insertDag, insertRun } from '../engine/run-rows.ts';
import { startTestServer } from './test-server.ts';

export type Body = Record<string, unknown>;
export type RunList = {
  dag_runs: (Body & { dag_run_id: string })[];
  total_entries: number | null;
  next_cursor: string | null;
  previous_cursor: string | null;
};

export const day = (date: number) => `2026-03-0${date}T00:00:00.000000Z`;

/** Each differs from the others in the things a list can be asked for. */
async function fill(db: TenantDb): Promise<void> {
  await insertDag(db, { dagId: 'alpha', taskIds: ['a', 'b'] });
  await insertDag(db, { dagId: 'alpha', taskIds: ['a', 'b', 'c'] }); // its second version
  await insertDag(db, { dagId: 'beta.x', text: 'beta' });
  await db.updateTable('dag_versions').set({ bundle_version: 'abc' }).where('version_number', '=', 2).execute();
  const finished = (from: number, seconds: number) => ({
    created_at: day(from),
    queued_at: day(from),
    start_date: day(from),
    end_date: new Date(Date.parse(day(from)) + seconds * 1_000).toISOString(),
  });
  const runs = [
    { dagId: 'alpha', runId: 'one', run_after: day(1), logical_date: day(1), state: 'success', ...finished(1, 10) },
    { dagId: 'alpha', runId: 'two', run_after: day(2), logical_date: day(2), state: 'failed', ...finished(2, 20) },
    { dagId: 'alpha', runId: 'three_x', run_after: day(3), logical_date: day(3), state: 'running' },
    { dagId: 'alpha', runId: 'Three%x', run_after: day(3), state: 'queued' },
    { dagId: 'beta.x', runId: 'one', run_after: day(4), logical_date: day(1), state: 'success', ...finished(4, 5) },
    { dagId: 'beta.x', runId: 'asset', run_after: day(5), state: 'success', ...finished(5, 15) },
  ] as const;
  const more: Record<string, object> = {
    one: {
      run_type: 'scheduled',
      triggered_by: 'timetable',
      conf: JSON.stringify({ city: 'Köln', n: 12345678901234567890n.toString() }),
    },
    two: {
      version_number: 2,
      triggering_user_name: 'ann@example.com',
      conf: '{"n": 12345678901234567890, "f": 1.0, "deep": {"a": 1}}',
    },
    three_x: {
      triggering_user_name: 'bob@example.com',
      start_date: day(3),
      created_at: day(3),
      queued_at: day(3),
      note: 'hm',
    },
    'Three%x': { run_type: 'backfill', created_at: day(3), partition_key: 'eu|north' },
    asset: { run_type: 'asset_triggered', partition_key: 'us' },
  };
  for (const run of runs) await insertRun(db, { ...run, ...more[run.runId] });
  await causeByAsset(db, 'asset');
}

/** An asset event that caused the run. */
async function causeByAsset(db: TenantDb, runId: string): Promise<void> {
  const asset = { name: 'orders', uri: 's3://bucket/orders', group_name: 'asset' };
  const { id: assetId } = await db.insertInto('assets').values(asset).returning('id').executeTakeFirstOrThrow();
  const event = { asset_id: assetId, source_dag_id: 'alpha', source_task_id: 'a', source_run_id: 'one', at: day(4) };
  const { id } = await db.insertInto('asset_events').values(event).returning('id').executeTakeFirstOrThrow();
  const run = await db.selectFrom('dag_runs').select('id').where('run_id', '=', runId).executeTakeFirstOrThrow();
  await db.insertInto('dag_run_asset_events').values({ run: run.id, event_id: id }).execute();
}

export const nameOf = (run: Body) =>
  run['dag_id'] === 'alpha' ? String(run['dag_run_id']) : `beta:${String(run['dag_run_id'])}`;

export type ListedRuns = Awaited<ReturnType<typeof startListedRuns>>;

/** Nothing but the API: what is written here must stay as it is. */
export async function startListedRuns() {
  const server = await startTestServer({ 'scheduler.enabled': 'false' });
  const admin = await server.login();
  const db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await fill(db);

  const get = (path: string, token = admin) => server.call(path, { token });
  const list = async (query: string, dagId = '~'): Promise<RunList> => {
    const answer = await get(`/api/v2/dags/${dagId}/dagRuns?${query}`);
    expect({ query, status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({
      query,
      status: 200,
      text: '',
    });
    return answer.json<RunList>();
  };
  /** The runs a query shows; their number must be the total. */
  async function shown(query: string, dagId = '~'): Promise<string[]> {
    const { dag_runs: runs, total_entries: total } = await list(query, dagId);
    expect(total).toBe(runs.length);
    return runs.map(nameOf);
  }
  const batch = (body: object, dagId = '~') =>
    server.call(`/api/v2/dags/${dagId}/dagRuns/list`, { method: 'POST', token: admin, body });

  /** A run that is there only while it is looked at: the lists below are of the others. */
  async function withRun<T>(runId: string, look: () => Promise<T>, values: object = {}): Promise<T> {
    await insertRun(db, { dagId: 'alpha', runId, ...values });
    try {
      return await look();
    } finally {
      await db.deleteFrom('dag_runs').where('run_id', '=', runId).execute();
    }
  }

  return { server, db, get, list, shown, batch, withRun };
}
