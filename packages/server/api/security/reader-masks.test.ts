/**
 * Secrets of the vault in everything that people, authors and tasks write: notes, conf, XComs, extras of asset events, rendered fields, questions.
 * Who may only read is answered by every operation there is, and finds none of them; who may write finds them as they are.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TenantDb } from '../../db/database.ts';
import { createXcomStore } from '../../xcom/store.ts';
import { allowAnyState } from '@svc/testing/postgres/legal-transitions.ts';
import { readApi, requestFor } from '@svc/testing/server/api-operations.ts';
import { findCanaries, plant } from '@svc/testing/server/canaries.ts';
import { fillTenant } from '@svc/testing/server/tenant-contents.ts';
import type { TenantContents } from '@svc/testing/server/tenant-contents.ts';
import { TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const known = plant('password of a connection');
const named = plant('under a sensitive name');
const CANARIES = [known, named];
const PLANTED = {
  ['db_password']: named.value,
  note: `uses ${known.value} today`,
  list: [{ deep: encodeURIComponent(known.value) }],
  json: JSON.stringify({ api_key: named.value }),
  id: 7,
};

let server: TestServer;
let admin: string;
let viewer: string;
let contents: TenantContents;
let db: TenantDb;

beforeAll(async () => {
  server = await startTestServer({ 'secret-key': '5ec7e7'.padEnd(64, 'c0ffee') });
  admin = await server.login();
  contents = await fillTenant(server, admin, 'masks');
  const post = (path: string, body: object) => server.call(path, { method: 'POST', token: admin, body });
  await post('/api/v2/connections', { connection_id: 'db', conn_type: 'postgres', password: known.value });
  for (const name of ['viewer', 'operator']) {
    await post('/api/v2/users', { email: `${name}@example.com`, password: TEST_PASSWORD, roles: [name] });
  }
  viewer = await server.login('viewer@example.com');
  const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  db = server.db.tenant(id);
  await allowAnyState(server.db.shared);
  await plantEverywhere();
});
afterAll(() => server?.close());

async function plantEverywhere(): Promise<void> {
  const {
    dag_id: dagId,
    dag_run_id: runId,
    task_id: taskId,
    xcom_key: key,
  } = contents.values as Record<string, string>;
  const run = await db
    .selectFrom('dag_runs')
    .select('id')
    .where('run_id', '=', runId ?? '')
    .executeTakeFirstOrThrow();
  const text = JSON.stringify(PLANTED);
  await db.updateTable('dag_runs').set({ conf: text, note: PLANTED.note }).execute();
  await sql`update backfills set dag_run_conf = ${text}::jsonb`.execute(server.db.shared);
  await db.updateTable('asset_events').set({ extra: text }).execute();
  await db.updateTable('audit_log').set({ detail: text }).execute();
  await db
    .updateTable('task_instances')
    .set({ state: 'deferred', failure_reason: 'exception: x', failure_detail: `no ${known.value}`, note: text })
    .execute();
  await db
    .updateTable('questions')
    .set({ body: PLANTED.note, subject: PLANTED.note, params: text, params_input: text })
    .execute();
  const event = await db.selectFrom('asset_events').select('id').executeTakeFirstOrThrow();
  await db.insertInto('dag_run_asset_events').values({ run: run.id, event_id: event.id }).execute();
  const of = { run: run.id, task_id: taskId ?? '', map_index: -1 };
  await db
    .insertInto('rendered_fields')
    .values({ ...of, fields: text })
    .execute();
  await createXcomStore({ maxBytes: 100_000 }).set(
    db,
    { run: run.id, dagId: dagId ?? '', taskId: taskId ?? '', mapIndex: -1 },
    [
      { key: key ?? '', value: text },
      { key: 'return_value', value: text },
      { key: 'the_token', value: JSON.stringify(named.value) },
    ],
  );
  await db.updateTable('task_states').set({ value: text }).execute();
  await db.updateTable('asset_states').set({ value: text }).execute();
}

const get = (path: string, token: string) => server.call(path, { token });

/** Operations whose answers have such values in them, at least. */
const DOORS = [
  'get_dag_run',
  'get_dag_runs',
  'list_backfills',
  'get_asset_events',
  'get_upstream_asset_events',
  'get_task_instance',
  'get_task_instances',
  'get_hitl_detail',
  'get_hitl_details',
  'get_dags_ui',
  'get_xcom_entry',
  'get_task_state_store',
  'list_task_state_store',
  'get_asset_state_store',
  'list_asset_state_store',
  'wait_dag_run_until_finished',
];

async function readAll(token: string): Promise<{ id: string; status: number; text: string }[]> {
  const api = await readApi(server);
  const values = { ...contents.values, result: contents.values['task_id'], interval: 0.1 };
  const answers = [];
  for (const operation of api.operations.filter(({ method, id }) => method === 'GET' && !/logout/i.test(id))) {
    const { path } = requestFor(api, operation, values);
    // With all its filters, and with none.
    for (const asked of new Set([path, path.split('?')[0] ?? path])) {
      const { status, text } = await get(asked, token);
      answers.push({ id: operation.id, status, text });
    }
  }
  return answers;
}

describe('what tasks and authors wrote', () => {
  it('tells who may only read no secret, whichever operation they ask, and who may write all of it', async () => {
    const shown = (await readAll(viewer)).flatMap(({ id, text }) =>
      findCanaries(text, CANARIES).map((c) => `${id}: ${c}`),
    );
    expect(shown).toEqual([]);
    const exact = new Set(
      (await readAll(admin)).filter(({ text }) => findCanaries(text, CANARIES).length > 0).map(({ id }) => id),
    );
    expect(DOORS.filter((id) => !exact.has(id))).toEqual([]);
    // Of the audit log nobody needs them.
    expect([...exact].filter((id) => id.startsWith('get_event_log'))).toEqual([]);
  });

  it('stays readable where it is no secret, and keeps its digits', async () => {
    const { dag_id: dagId, dag_run_id: runId, task_id: taskId } = contents.values as Record<string, string>;
    const path = `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId ?? '')}`;
    expect((await get(path, viewer)).json()).toMatchObject({
      conf: { db_password: '***', note: 'uses *** today', list: [{ deep: '***' }], json: '{"api_key":"***"}', id: 7 },
    });
    const value = '{"n": 12345678901234567890, "r": 1.0, "token": 5}';
    const run = await db
      .selectFrom('dag_runs')
      .select('id')
      .where('run_id', '=', runId ?? '')
      .executeTakeFirstOrThrow();
    const of = { run: run.id, dagId: dagId ?? '', taskId: taskId ?? '', mapIndex: -1 };
    await createXcomStore({ maxBytes: 1_000 }).set(db, of, [{ key: 'exact', value }]);
    const entry = `${path}/taskInstances/${taskId}/xcomEntries/exact`;
    expect((await get(entry, viewer)).text).toContain('"value":{"n":12345678901234567890,"r":1.0,"token":"***"}');
    expect((await get(entry, admin)).text).toContain(`"value":${value}`);
  });

  it('is masked by the thing: who may write runs but no XComs sees the one and not the other', async () => {
    const operator = await server.login('operator@example.com');
    const { dag_id: dagId, dag_run_id: runId, task_id: taskId } = contents.values as Record<string, string>;
    const path = `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId ?? '')}`;
    expect((await get(path, operator)).json()).toMatchObject({ conf: PLANTED });
    expect((await get(`${path}/taskInstances/${taskId}/xcomEntries/the_token`, operator)).json()).toMatchObject({
      value: '***',
    });
  });

  it('masks a note for the permission of the thing it is written on, also in a note that is JSON', async () => {
    const operator = await server.login('operator@example.com');
    const { dag_id: dagId, dag_run_id: runId, task_id: taskId } = contents.values as Record<string, string>;
    const run = `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId ?? '')}`;
    const noteAt = async (path: string, token: string) => (await get(path, token)).json<{ note: string }>().note;
    expect(await noteAt(run, viewer)).toBe('uses *** today');
    expect(await noteAt(run, operator)).toBe(PLANTED.note);
    const instance = `${run}/taskInstances/${taskId}`;
    expect(JSON.parse(await noteAt(instance, viewer))).toMatchObject({ ['db_password']: '***', id: 7 });
    expect(JSON.parse(await noteAt(instance, operator))).toEqual(PLANTED);
  });

  it('cannot be guessed by searching for it or sorting by it', async () => {
    const found = async (text: string, token: string) => {
      const listed = await get(`/api/v2/dags/~/dagRuns?conf_contains=${encodeURIComponent(text)}`, token);
      const body = { conf_contains: text };
      const batch = await server.call('/api/v2/dags/~/dagRuns/list', { method: 'POST', token, body });
      type List = { total_entries: number; dag_runs: unknown[] };
      return [listed, batch].map((answer) => answer.json<List>().total_entries > 0);
    };
    const json = JSON.stringify({ db_password: named.value });
    for (const secret of [named.value.slice(8, 20), known.value.slice(8, 20), json]) {
      expect(await found(secret, viewer)).toEqual([false, false]);
      expect(await found(secret, admin)).toEqual([true, true]);
    }
    for (const shown of ['uses ', '"id": 7', '{"id": 7}']) expect(await found(shown, viewer)).toEqual([true, true]);
    for (const order of ['conf', '-conf']) {
      const answer = await get(`/api/v2/dags/~/dagRuns?order_by=${order}`, viewer);
      expect([answer.status, answer.json<{ detail: string }>().detail]).toEqual([
        403,
        'missing permission write:dag_run',
      ]);
    }
    expect((await get('/api/v2/dags/~/dagRuns/~/hitlDetails?body_search=hunter', viewer)).status).toBe(403);
  });

  it('is masked by a secret that was stored a moment ago', async () => {
    const { dag_id: dagId, dag_run_id: runId } = contents.values as Record<string, string>;
    const path = `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId ?? '')}`;
    await db
      .updateTable('dag_runs')
      .set({ conf: JSON.stringify({ note: 'brand-new-value' }) })
      .execute();
    expect((await get(path, viewer)).json()).toMatchObject({ conf: { note: 'brand-new-value' } });
    await server.call('/api/v2/variables', {
      method: 'POST',
      token: admin,
      body: { key: 'new_secret', value: 'brand-new-value' },
    });
    expect((await get(path, viewer)).json()).toMatchObject({ conf: { note: '***' } });
  });
});
