import type { CompiledSpec } from '@svc/spec/schema.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileDags } from '@svc/testing/engine/compiled-dags.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let admin: string;
let specs: Map<string, CompiledSpec>;

type Body = Record<string, unknown>;
type List = { dags: Body[]; total_entries: number };

const specOf = (dagId: string): CompiledSpec => {
  const spec = specs.get(dagId);
  if (!spec) throw new Error(`no DAG ${dagId} among ${[...specs.keys()].join(', ')}`);
  return spec;
};

const register = (spec: CompiledSpec, extra: Body = {}, token = admin) =>
  server.call(`/api/v2/dags/${encodeURIComponent(spec.dag.dag_id)}/dagVersions`, {
    method: 'POST',
    token,
    body: { spec, ...extra },
  });

const get = (path: string, token = admin) => server.call(path, { token });
const idsOf = async (query: string) =>
  (await get(`/api/v2/dags?${query}`)).json<List>().dags.map((dag) => dag['dag_id']);

/** The same DAG with another description: new content. */
const changed = (spec: CompiledSpec, description: string): CompiledSpec => ({
  ...spec,
  dag: { ...spec.dag, description },
});
/** The same graph under another name. */
const renamed = (spec: CompiledSpec, dagId: string, dag: Partial<CompiledSpec['dag']> = {}): CompiledSpec => ({
  ...spec,
  dag: { ...spec.dag, dag_id: dagId, display_name: dagId, ...dag },
});

let basic: CompiledSpec;

beforeAll(async () => {
  [server, specs] = await Promise.all([
    startTestServer(),
    compileDags(['taskflow.py', 'params.py', 'assets.py', 'schedule_forms.py']),
  ]);
  admin = await server.login();
  basic = [...specs.values()][0] ?? specOf('taskflow');
});
afterAll(() => server?.close());

describe('registering a version of a DAG', () => {
  it('numbers new content from 1 and makes no version of unchanged content', async () => {
    const spec = renamed(basic, 'numbered');
    const first = await register(spec, {
      bundle_name: 'etl',
      bundle_version: 'abc123',
      bundle_url: 'https://example.com/etl',
    });
    expect(first.status).toBe(201);
    expect(first.json()).toMatchObject({
      version_number: 1,
      dag_id: 'numbered',
      bundle_name: 'etl',
      bundle_version: 'abc123',
      bundle_url: 'https://example.com/etl',
    });
    const again = await register(spec, { bundle_name: 'etl' });
    expect(again.status).toBe(200);
    expect(again.json()).toEqual(first.json());
    expect((await register(changed(spec, 'second'))).json()).toMatchObject({ version_number: 2 });
    // What was current once and comes back is a new version: the order of versions is the history of what ran.
    expect((await register(spec)).json()).toMatchObject({ version_number: 3 });
    expect((await register(spec, { image: 'registry.example.com/numbered@sha256:0' })).json()).toMatchObject({
      version_number: 4,
    });
  });

  it('takes note of unchanged content that was compiled again, and of everything around it that has changed', async () => {
    const spec = renamed(basic, 'confirmed');
    const place = { bundle_name: 'proj', bundle_version: 'one', fileloc: '/dags/confirmed.py', parse_seconds: 1 };
    const first = (await register(spec, place)).json();
    const db = server.db.shared;
    const dag = () => db.selectFrom('dags').selectAll().where('dag_id', '=', 'confirmed').executeTakeFirstOrThrow();
    const again = async (extra: Body = {}): Promise<Awaited<ReturnType<typeof dag>>> => {
      const { last_parsed_at: before } = await dag();
      const answer = await register(spec, { ...place, ...extra });
      expect([answer.status, answer.json()]).toEqual([200, first]);
      const now = await dag();
      expect(now.last_parsed_at > before).toBe(true);
      return now;
    };
    expect(await again({ parse_seconds: 2 })).toMatchObject({ last_parse_seconds: 2, is_stale: false });
    await db.updateTable('dags').set({ is_stale: true }).where('dag_id', '=', 'confirmed').execute();
    expect(await again()).toMatchObject({ is_stale: false });
    expect(await again({ fileloc: '/moved.py' })).toMatchObject({ fileloc: '/moved.py' });
    expect(await again({ bundle_version: 'two' })).toMatchObject({ bundle_version: 'two' });
    const warnings = async () =>
      (await get('/api/v2/dagWarnings?dag_id=confirmed')).json<{ total_entries: number }>().total_entries;
    await again({ warnings: ['start_date moves'] });
    expect(await warnings()).toBe(1);
    await again();
    expect(await warnings()).toBe(0);
    const report = { filename: spec.source.path, bundle_name: 'proj', stack_trace: 'Traceback: boom' };
    await server.call('/api/v2/importErrors', { method: 'POST', token: admin, body: report });
    await again();
    expect((await get('/api/v2/dags/confirmed')).json()).toMatchObject({ has_import_errors: false });
  });

  it('leaves no gap and no duplicate when many register at once', async () => {
    const spec = renamed(basic, 'crowded');
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => register(changed(spec, `content ${index}`))),
    );
    expect(answers.map((answer) => answer.json<{ version_number: number }>().version_number).sort()).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });

  it('refuses a spec of another DAG, of another shape, and with a cycle, and stores nothing', async () => {
    const spec = renamed(basic, 'refused');
    const post = (body: unknown) =>
      server.call('/api/v2/dags/refused/dagVersions', { method: 'POST', token: admin, body });
    expect((await post({ spec: renamed(basic, 'other') })).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('other'),
    });
    expect((await post({ spec: { ...spec, tasks: 'none' } })).status).toBe(400);
    const impossible = { type: 'cron_trigger', expression: '99 * * * *', timezone: 'UTC' };
    expect((await post({ spec: { ...spec, schedule: impossible } })).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('schedule'),
    });
    expect((await post({})).json()).toMatchObject({ status: 400, detail: expect.stringContaining('spec') });
    const [a, b] = spec.tasks;
    if (!a || !b) throw new Error('the sample has two tasks');
    const cyclic = {
      ...spec,
      tasks: [
        { ...a, upstream_task_ids: [b.task_id], downstream_task_ids: [b.task_id] },
        { ...b, upstream_task_ids: [a.task_id], downstream_task_ids: [a.task_id] },
      ],
    };
    expect((await post({ spec: cyclic })).status).toBe(400);
    expect((await get('/api/v2/dags/refused')).status).toBe(404);
  });

  it('keeps a DAG paused or unpaused as people left it', async () => {
    const spec = renamed(basic, 'kept', { is_paused_upon_creation: null });
    await register(spec);
    expect((await get('/api/v2/dags/kept')).json()).toMatchObject({ is_paused: true });
    await server.call('/api/v2/dags/kept', { method: 'PATCH', token: admin, body: { is_paused: false } });
    await register(changed(spec, 'newer'));
    expect((await get('/api/v2/dags/kept')).json()).toMatchObject({ is_paused: false, description: 'newer' });
  });
});

describe('reading a DAG', () => {
  it('answers with the specification’s fields and all of Airflow’s', async () => {
    await register(renamed(basic, 'full', { tags: ['a', 'b'], owners: ['team'] }), { fileloc: '/dags/full.py' });
    const dag = (await get('/api/v2/dags/full')).json();
    expect(dag).toMatchObject({
      dag_id: 'full',
      dag_display_name: 'full',
      is_active: true,
      is_stale: false,
      owners: ['team'],
      tags: [
        { name: 'a', dag_id: 'full', dag_display_name: 'full' },
        { name: 'b', dag_id: 'full', dag_display_name: 'full' },
      ],
      fileloc: '/dags/full.py',
      has_import_errors: false,
    });
    for (const key of [
      'schedule_interval',
      'timetable_description',
      'next_dagrun',
      'last_parsed_time',
      'max_active_runs',
      'catchup',
      'has_task_concurrency_limits',
      'file_token',
      'timetable_partitioned',
    ]) {
      expect(dag).toHaveProperty(key);
    }
    const details = (await get('/api/v2/dags/full/details')).json();
    expect(details).toMatchObject({
      dag_id: 'full',
      latest_dag_version: { version_number: 1 },
      is_favorite: false,
      active_runs_count: 0,
      params: {},
    });
    expect((await get('/api/v2/dags/nope/details')).status).toBe(404);
    expect((await get('/api/v2/dags/nope')).json()).toMatchObject({ detail: 'The Dag with ID: `nope` was not found' });
  });

  it('shows schedules on the wire, and the next run of a scheduled DAG', async () => {
    const schedules = [...specs.values()].filter((spec) => spec.schedule.type === 'cron_trigger');
    expect(schedules.length).toBeGreaterThan(0);
    for (const spec of schedules.slice(0, 3)) {
      await register(spec);
      const dag = (await get(`/api/v2/dags/${spec.dag.dag_id}`)).json<{
        schedule_interval: unknown;
        next_dagrun: string | null;
      }>();
      expect(dag.schedule_interval).toMatchObject({ __type: 'CronExpression', value: expect.any(String) });
    }
  });

  it('gives source, spec and tasks of any version', async () => {
    const spec = renamed(basic, 'sourced');
    await register(spec);
    await register(changed(spec, 'second'));
    expect((await get('/api/v2/dagSources/sourced')).json()).toEqual({
      content: spec.source.text,
      dag_id: 'sourced',
      version_number: 2,
      dag_display_name: 'sourced',
    });
    expect((await get('/api/v2/dagSources/sourced?version_number=1')).json()).toMatchObject({ version_number: 1 });
    const text = await server.call('/api/v2/dagSources/sourced', { token: admin, headers: { accept: 'text/plain' } });
    expect(text.headers.get('content-type')).toContain('text/plain');
    expect(text.text).toBe(spec.source.text);
    expect((await get('/api/v2/dags/sourced/spec?version_number=1')).json()).toEqual(spec);
    expect((await get('/api/v2/dags/sourced/spec?version_number=9')).status).toBe(404);
    expect((await get('/api/v2/dagSources/nope')).status).toBe(404);
    const tasks = (await get('/api/v2/dags/sourced/tasks')).json<{ tasks: Body[]; total_entries: number }>();
    expect(tasks.tasks.map((task) => task['task_id'])).toEqual(spec.tasks.map((task) => task.task_id).sort());
    const [first] = spec.tasks;
    expect((await get(`/api/v2/dags/sourced/tasks/${first?.task_id}`)).json()).toMatchObject({
      task_id: first?.task_id,
      retry_delay: { __type: 'TimeDelta', days: 0, seconds: 300, microseconds: 0 },
    });
    expect((await get('/api/v2/dags/sourced/tasks/nope')).status).toBe(404);
    expect((await get('/api/v2/dags/sourced/tasks?order_by=nope')).status).toBe(400);
    const versions = (await get('/api/v2/dags/sourced/dagVersions')).json<{
      dag_versions: Body[];
      total_entries: number;
    }>();
    expect(versions.dag_versions.map((version) => version['version_number'])).toEqual([2, 1]);
    expect((await get('/api/v2/dags/sourced/dagVersions/1')).json()).toMatchObject({
      version_number: 1,
      dag_display_name: 'sourced',
    });
    // 0 is what was imported from an Airflow: this DAG has nothing of that.
    expect((await get('/api/v2/dags/sourced/dagVersions/0')).status).toBe(404);
    expect((await get('/api/v2/dags/sourced/dagVersions/-1')).status).toBe(400);
    expect(
      (await get('/api/v2/dags/~/dagVersions?limit=1')).json<{ total_entries: number }>().total_entries,
    ).toBeGreaterThan(2);
  });
});

describe('the list of DAGs', () => {
  beforeAll(async () => {
    for (const [name, dag] of [
      ['list_alpha', { tags: ['x'], owners: ['ann'] }],
      ['list_beta', { tags: ['x', 'y'], owners: ['bob'] }],
      ['list_gamma', { tags: [], owners: ['ann', 'bob'] }],
    ] as const) {
      await register(renamed(basic, name, { ...dag, tags: [...dag.tags], owners: [...dag.owners] }), {
        bundle_name: 'lists',
      });
    }
  });
  const only = 'dag_id_prefix_pattern=list_';

  it('filters by tag, owner, name, bundle and paused state', async () => {
    expect(await idsOf(`${only}`)).toEqual(['list_alpha', 'list_beta', 'list_gamma']);
    expect(await idsOf(`${only}&tags=x&tags=y`)).toEqual(['list_alpha', 'list_beta']);
    expect(await idsOf(`${only}&tags=x&tags=y&tags_match_mode=all`)).toEqual(['list_beta']);
    expect(await idsOf(`${only}&owners=bob`)).toEqual(['list_beta', 'list_gamma']);
    expect(await idsOf('dag_id_pattern=LIST_%25a%7Clist_nope')).toEqual(['list_alpha', 'list_beta', 'list_gamma']);
    expect(await idsOf('dag_display_name_pattern=list_al')).toEqual(['list_alpha']);
    expect(await idsOf('bundle_name=lists')).toHaveLength(3);
    await server.call('/api/v2/dags/list_beta', { method: 'PATCH', token: admin, body: { is_paused: false } });
    expect(await idsOf(`${only}&paused=false`)).toEqual(['list_beta']);
    expect(await idsOf(`${only}&paused=true`)).toEqual(['list_alpha', 'list_gamma']);
  });

  it('pages and sorts, and says how many there are', async () => {
    expect(await idsOf(`${only}&order_by=-dag_id`)).toEqual(['list_gamma', 'list_beta', 'list_alpha']);
    expect((await get(`/api/v2/dags?${only}&limit=1&offset=1`)).json<List>()).toMatchObject({
      total_entries: 3,
      dags: [{ dag_id: 'list_beta' }],
    });
    expect((await get('/api/v2/dags?order_by=secret')).json()).toMatchObject({ status: 400 });
    expect((await get('/api/v2/dags?limit=0')).status).toBe(400);
  });

  it('leaves out stale DAGs unless asked', async () => {
    const { id } = await server.db.shared
      .selectFrom('tenants')
      .select('id')
      .where('name', '=', 'default')
      .executeTakeFirstOrThrow();
    await server.db.tenant(id).updateTable('dags').set({ is_stale: true }).where('dag_id', '=', 'list_gamma').execute();
    expect(await idsOf(only)).toEqual(['list_alpha', 'list_beta']);
    expect(await idsOf(`${only}&only_active=false`)).toContain('list_gamma');
    expect(await idsOf(`${only}&exclude_stale=false`)).toContain('list_gamma');
    await register(renamed(basic, 'list_gamma'));
    expect(await idsOf(only)).toContain('list_gamma');
  });

  it('knows favourites per user, and tags in use', async () => {
    const fav = (verb: string) => server.call(`/api/v2/dags/list_alpha/${verb}`, { method: 'POST', token: admin });
    expect((await fav('favorite')).status).toBe(204);
    expect((await fav('favorite')).status).toBe(204);
    expect(await idsOf(`${only}&is_favorite=true`)).toEqual(['list_alpha']);
    expect((await get('/api/v2/dags/list_alpha/details')).json()).toMatchObject({ is_favorite: true });
    expect((await fav('unfavorite')).status).toBe(204);
    expect(await idsOf(`${only}&is_favorite=true`)).toEqual([]);
    const tags = (await get('/api/v2/dagTags?tag_name_prefix_pattern=x&order_by=-name')).json();
    expect(tags).toEqual({ tags: ['x'], total_entries: 1 });
  });
});

describe('import errors of DAG files', () => {
  it('are shown with the DAGs of that file until it compiles again', async () => {
    const spec = renamed(basic, 'broken');
    await register(spec, { bundle_name: 'proj' });
    const report = { filename: spec.source.path, bundle_name: 'proj', stack_trace: 'Traceback: boom' };
    const created = await server.call('/api/v2/importErrors', { method: 'POST', token: admin, body: report });
    expect(created.status).toBe(201);
    expect((await get('/api/v2/dags/broken')).json()).toMatchObject({ has_import_errors: true });
    expect((await get('/api/v2/importErrors')).json()).toMatchObject({ total_entries: 1, import_errors: [report] });
    const id = created.json<{ import_error_id: number }>().import_error_id;
    expect((await get(`/api/v2/importErrors/${id}`)).json()).toMatchObject(report);
    await register(changed(spec, 'mended'), { bundle_name: 'proj' });
    expect((await get('/api/v2/importErrors')).json()).toMatchObject({ total_entries: 0 });
    expect((await get(`/api/v2/importErrors/${id}`)).status).toBe(404);
  });
});

describe('warnings of DAGs', () => {
  it('are those of the newest version', async () => {
    const spec = renamed(basic, 'warned');
    await register(spec, { warnings: ['start_date moves'] });
    expect((await get('/api/v2/dagWarnings?dag_id=warned')).json()).toMatchObject({
      total_entries: 1,
      dag_warnings: [{ dag_id: 'warned', warning_type: 'runtime varying value', message: 'start_date moves' }],
    });
    await register(changed(spec, 'calm'));
    expect((await get('/api/v2/dagWarnings?dag_id=warned')).json()).toMatchObject({ total_entries: 0 });
    expect((await get('/api/v2/dagWarnings?warning_type=nope')).status).toBe(400);
  });

  it('about differences from Airflow have a kind of their own, and a type that clients of Airflow know', async () => {
    await register(renamed(basic, 'differs'), { warnings: ['start_date moves'], differences: ['queue= is shown'] });
    const found = (await get('/api/v2/dagWarnings?dag_id=differs&kind=airflow%20difference')).json();
    expect(found).toMatchObject({
      total_entries: 1,
      dag_warnings: [{ kind: 'airflow difference', warning_type: 'runtime varying value', message: 'queue= is shown' }],
    });
    const path = '/api/v2/dagWarnings?dag_id=differs&warning_type=runtime%20varying%20value&order_by=warning_type';
    expect((await get(path)).json()).toMatchObject({ total_entries: 2 });
  });
});

describe('deleting DAGs and pausing many', () => {
  it('deletes a DAG with its versions, once, and never gives their numbers again', async () => {
    await register(renamed(basic, 'doomed'));
    const remove = () => server.call('/api/v2/dags/doomed', { method: 'DELETE', token: admin });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await get('/api/v2/dagSources/doomed')).status).toBe(404);
    expect((await register(renamed(basic, 'doomed'))).json()).toMatchObject({ version_number: 2 });
    expect((await remove()).status).toBe(204);
    expect((await register(renamed(basic, 'doomed'))).json()).toMatchObject({ version_number: 3 });
  });

  it('shows a DAG that comes back under its name as it is now, not as its first version was', async () => {
    const details = async () => (await get('/api/v2/dags/again/details')).json();
    await register(renamed(basic, 'again', { doc_md: 'before' }));
    expect(await details()).toMatchObject({ doc_md: 'before' });
    await server.call('/api/v2/dags/again', { method: 'DELETE', token: admin });
    const { version_number: version } = (await register(renamed(basic, 'again', { doc_md: 'after' }))).json();
    expect([version, (await details())['doc_md']]).toEqual([2, 'after']);
  });

  it('pauses what the pattern names and nothing without one', async () => {
    await register(renamed(basic, 'bulk_a'));
    await register(renamed(basic, 'bulk_b'));
    const patch = (query: string) =>
      server.call(`/api/v2/dags${query}`, { method: 'PATCH', token: admin, body: { is_paused: false } });
    expect((await patch('')).status).toBe(400);
    expect((await patch('?dag_id_pattern=bulk_')).json<List>().dags.map((dag) => dag['is_paused'])).toEqual([
      false,
      false,
    ]);
    expect(await idsOf('dag_id_pattern=bulk_&paused=false')).toEqual(['bulk_a', 'bulk_b']);
  });
});
