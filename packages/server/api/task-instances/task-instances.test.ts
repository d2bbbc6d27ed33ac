import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TenantDb } from '../../db/database.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import { insertGraphRun, registerGraph } from '@svc/testing/engine/graph-runs.ts';
import type { Graph } from '@svc/testing/engine/graph-runs.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let admin: string;
let db: TenantDb;

type Instance = Record<string, unknown> & { task_id: string; dag_run_id: string; dag_id: string; map_index: number };
type List = {
  task_instances: Instance[];
  total_entries: number | null;
  next_cursor: string | null;
  previous_cursor: string | null;
};

const day = (date: number, seconds = 0) =>
  new Date(Date.UTC(2026, 2, date, 0, 0, seconds)).toISOString().replace('.000Z', '.000000Z');

const ETL: Graph = {
  dagId: 'etl',
  tasks: {
    extract: { displayName: 'Holen', policy: { pool: 'narrow', retries: 2 } },
    'load.one': { after: ['extract'], group: 'load', policy: { queue: 'big', executor: 'KubernetesExecutor' } },
    'load.each': { after: ['extract'], group: 'load', over: 'extract' },
    report: { after: ['load.one', 'load.each'] },
  },
};
const OTHER: Graph = { dagId: 'other', tasks: { extract: {}, wait: { after: ['extract'] } } };

/** Each differs from the others in the things a list can be asked for. */
async function fill(): Promise<void> {
  await registerGraph(db, ETL);
  await registerGraph(db, OTHER);
  await insertGraphRun(db, {
    graph: ETL,
    runId: 'old',
    state: 'failed',
    run_after: day(1),
    logical_date: day(1),
    states: {
      extract: {
        state: 'success',
        pool: 'narrow',
        hostname: 'worker-1',
        pid: 41,
        note: 'looked at',
        try_number: 2,
        start_date: day(1),
        end_date: day(1, 10),
        queued_at: day(1),
        history: [
          {
            state: 'failed',
            start_date: day(1),
            end_date: day(1, 5),
            failure_reason: 'exception: pg://u:hunter2@h: no',
          },
        ],
      },
      'load.one': {
        state: 'failed',
        queue: 'big',
        start_date: day(1),
        end_date: day(1, 30),
        failure_reason: 'exception: x',
      },
      'load.each': ['success', { state: 'failed', rendered_map_index: 'second' }, 'skipped'],
      report: 'upstream_failed',
    },
  });
  await insertGraphRun(db, {
    graph: ETL,
    runId: 'new:1+00',
    state: 'running',
    run_after: day(3),
    logical_date: day(3),
    states: {
      extract: { state: 'running', start_date: day(3), operator: '@task', operator_class: 'zOperator' },
      'load.one': null,
      'load.each': null,
      report: null,
    },
  });
  await insertGraphRun(db, {
    graph: OTHER,
    runId: 'old',
    state: 'running',
    run_after: day(2),
    states: { extract: { state: 'success', start_date: day(2), end_date: day(2, 1) }, wait: 'scheduled' },
  });
}

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await fill();
});
afterAll(() => server?.close());

const get = (path: string, token = admin) => server.call(`/api/v2/dags/${path}`, { token });
const list = async (query = '', path = '~/dagRuns/~', token = admin): Promise<List> => {
  const answer = await get(`${path}/taskInstances?${query}`, token);
  expect({ query, status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({
    query,
    status: 200,
    text: '',
  });
  return answer.json<List>();
};
const nameOf = ({ dag_id: dag, dag_run_id: run, task_id: task, map_index: index }: Instance) =>
  `${dag}/${run}/${task}${index < 0 ? '' : `[${index}]`}`;
const names = async (query: string, path?: string) => (await list(query, path)).task_instances.map(nameOf);

const OLD = ['extract', 'load.each[0]', 'load.each[1]', 'load.each[2]', 'load.one', 'report'].map(
  (t) => `etl/old/${t}`,
);
const NEW = ['extract', 'load.each', 'load.one', 'report'].map((t) => `etl/new:1+00/${t}`);
const OTHERS = ['other/old/extract', 'other/old/wait'];

describe('a list of task instances', () => {
  it('has those of one run by task and map index, and of many runs the newest run first', async () => {
    expect(await names('', 'etl/dagRuns/old')).toEqual(OLD);
    expect(await names('', 'etl/dagRuns/~')).toEqual([...NEW, ...OLD]);
    expect(await names('')).toEqual([...OTHERS, ...NEW, ...OLD]);
  });

  it('counts all matches, also when a page is not full, is empty or lies behind the end', async () => {
    for (const query of ['limit=1', 'limit=100', 'limit=3&offset=9', 'limit=3&offset=400']) {
      expect({ query, total: (await list(query)).total_entries }).toEqual({ query, total: 12 });
    }
    expect((await list('limit=1', 'etl/dagRuns/old')).total_entries).toBe(6);
    expect((await list('limit=1&state=failed')).total_entries).toBe(2);
    expect((await list('limit=1&state=failed&state=none&state=running&state=scheduled')).total_entries).toBe(7);
    expect((await list('limit=1&state=scheduled')).total_entries).toBe(1);
    expect((await list('limit=1&task_id=extract')).total_entries).toBe(3);
  });

  it.each([
    ['state=none', NEW.slice(1)],
    ['state=no_status&state=running', NEW],
    ['state=failed', ['etl/old/load.each[1]', 'etl/old/load.one']],
    ['state=failed&state=failed', ['etl/old/load.each[1]', 'etl/old/load.one']],
    ['state=removed', []],
    ['state=awaiting_input', []],
    ['task_id=extract', ['other/old/extract', 'etl/new:1+00/extract', 'etl/old/extract']],
    ['pool=narrow', ['etl/old/extract']],
    ['pool_name_pattern=NARR', ['etl/old/extract']],
    ['queue=big', ['etl/old/load.one']],
    ['queue_name_prefix_pattern=bi', ['etl/old/load.one']],
    ['executor=KubernetesExecutor', ['etl/new:1+00/load.one', 'etl/old/load.one']],
    ['operator=zOperator', ['etl/new:1+00/extract']],
    ['operator=%40task', []],
    ['operator_name_pattern=@t', ['etl/new:1+00/extract']],
    ['map_index=1&map_index=2', ['etl/old/load.each[1]', 'etl/old/load.each[2]']],
    ['rendered_map_index_pattern=SEC', ['etl/old/load.each[1]']],
    ['rendered_map_index_pattern=2', ['etl/old/load.each[2]']],
    ['try_number=2', ['etl/old/extract']],
    ['version_number=2', []],
    ['dag_id_pattern=oth', OTHERS],
    ['dag_id_prefix_pattern=Oth', []],
    ['run_id_pattern=new%25', NEW],
    ['task_group_id=load&run_id_prefix_pattern=new', ['etl/new:1+00/load.each', 'etl/new:1+00/load.one']],
    [`run_after_gte=${day(2)}&run_after_lt=${day(3)}`, OTHERS],
    [`logical_date_gt=${day(1)}`, NEW],
    [`start_date_lte=${day(1)}&start_date_gte=${day(1)}&state=success`, ['etl/old/extract']],
    [`end_date_gt=${day(2)}&state=success`, ['other/old/extract']],
    [`end_date_gt=${day(2)}&state=running`, ['etl/new:1+00/extract']],
    ['duration_gte=10', ['etl/old/extract', 'etl/old/load.one']],
    ['duration_gt=10', ['etl/old/load.one']],
    ['updated_at_lt=2026-01-01T00:00:00Z', []],
  ])('can be asked for %s', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
    expect((await list(`${query}&limit=1`)).total_entries).toBe(expected.length);
  });

  it('is searched by the name that is shown, which is the id for most tasks', async () => {
    expect(await names('task_display_name_pattern=hol', 'etl/dagRuns/old')).toEqual(['etl/old/extract']);
    expect(await names('task_display_name_pattern=extract')).toEqual(['other/old/extract']);
    expect(await names('task_display_name_prefix_pattern=Hol|wai')).toEqual([
      'other/old/wait',
      'etl/new:1+00/extract',
      'etl/old/extract',
    ]);
    expect(await names('task_display_name_pattern=~&task_id=wait')).toEqual(['other/old/wait']);
    expect(await names('task_display_name_pattern=hol', 'other/dagRuns/~')).toEqual([]);
    expect(await names('task_display_name_pattern=nowhere')).toEqual([]);
    expect((await list('task_display_name_pattern=nowhere&offset=5')).total_entries).toBe(0);
  });

  it.each([
    ['order_by=id', [...OLD, ...NEW, ...OTHERS]],
    ['order_by=run_after', [...OLD, ...OTHERS, ...NEW]],
    ['order_by=-id', [...OLD, ...NEW, ...OTHERS].toReversed()],
    ['order_by=-run_after&limit=2', ['etl/new:1+00/report', 'etl/new:1+00/load.one']],
    ['order_by=-duration&limit=3', ['etl/old/load.one', 'etl/old/extract', 'other/old/extract']],
    ['order_by=state&order_by=-map_index&limit=2&state=failed', ['etl/old/load.each[1]', 'etl/old/load.one']],
    ['order_by=-start_date&limit=2', ['etl/new:1+00/extract', 'other/old/extract']],
    ['order_by=duration&limit=2', ['etl/old/load.each[2]', 'etl/old/report']],
    // By the class: by its shown name it would be the last one.
    ['order_by=-operator&limit=1', ['etl/new:1+00/extract']],
    ['order_by=dag_id', [...OLD, ...NEW, ...OTHERS]],
    ['order_by=-dag_id', [...OLD, ...NEW, ...OTHERS].toReversed()],
  ])('can be sorted: %s', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it('takes every key it says it takes, and no other', async () => {
    const refusal = await get('~/dagRuns/~/taskInstances?order_by=nonsense');
    expect(refusal.status).toBe(400);
    const keys = /use (.+)$/.exec(refusal.json<{ detail: string }>().detail)?.[1]?.split(', ') ?? [];
    expect(keys.length).toBeGreaterThan(15);
    for (const key of keys) {
      const all = await names(`order_by=${key}`);
      expect(all.toSorted()).toEqual([...OLD, ...OTHERS, ...NEW].toSorted());
      const pages = [await names(`order_by=-${key}&limit=7`), await names(`order_by=-${key}&limit=7&offset=7`)];
      expect(pages.flat().toSorted()).toEqual(all.toSorted());
    }
  });

  it.each(['', 'order_by=-id', 'order_by=start_date', 'order_by=-duration', 'order_by=state&order_by=-try_number'])(
    'goes from page to page and back by cursor, nothing twice and nothing missing: %s',
    async (order) => {
      for (const path of ['~/dagRuns/~', 'etl/dagRuns/~', 'etl/dagRuns/old']) {
        const whole = await names(order, path);
        const seen: string[] = [];
        let last: List | undefined;
        for (let cursor: string | null = ''; cursor !== null; cursor = last.next_cursor) {
          last = await list(`${order}&limit=2&cursor=${encodeURIComponent(cursor)}`, path);
          expect(last.total_entries).toBeNull();
          seen.push(...last.task_instances.map(nameOf));
        }
        expect(seen).toEqual(whole);
        const back: string[] = [];
        for (let cursor = last?.previous_cursor ?? null; cursor !== null;) {
          const page = await list(`${order}&limit=2&cursor=${encodeURIComponent(cursor)}`, path);
          back.unshift(...page.task_instances.map(nameOf));
          cursor = page.previous_cursor;
        }
        expect(back).toEqual(whole.slice(0, whole.length - (last?.task_instances.length ?? 0)));
      }
    },
  );

  it('refuses a cursor that was made for another order, for another scope or by nobody', async () => {
    const { next_cursor: cursor } = await list('order_by=-id&limit=2&cursor=');
    for (const query of [
      `order_by=id&cursor=${cursor}`,
      `cursor=${cursor}`,
      'cursor=nonsense',
      `cursor=${Buffer.from('["of runs","x",{},1,2]').toString('base64url')}`,
    ]) {
      expect({ query, status: (await get(`~/dagRuns/~/taskInstances?${query}`)).status }).toEqual({
        query,
        status: 400,
      });
    }
    expect((await get(`etl/dagRuns/old/taskInstances?order_by=-id&cursor=${cursor}`)).status).toBe(400);
  });

  it('says which of the names in its path is unknown', async () => {
    expect((await get('nowhere/dagRuns/~/taskInstances')).json()).toMatchObject({ status: 404 });
    expect((await get('etl/dagRuns/nowhere/taskInstances')).json()).toMatchObject({ status: 404 });
    const unclear = await get('~/dagRuns/old/taskInstances');
    expect(unclear.json()).toMatchObject({ status: 400, detail: expect.stringContaining('name the DAG') as string });
    expect((await get('~/dagRuns/~/taskInstances?state=nonsense')).status).toBe(400);
  });

  it('shows nothing of another tenant, whatever stands for all', async () => {
    await server.addUser({ email: ADMIN_EMAIL, roles: ['admin'], tenant: 'elsewhere' });
    const stranger = await server.login(ADMIN_EMAIL, 'elsewhere');
    expect(await list('', '~/dagRuns/~', stranger)).toMatchObject({ task_instances: [], total_entries: 0 });
    expect((await get('etl/dagRuns/~/taskInstances', stranger)).status).toBe(404);
    expect((await get('etl/dagRuns/old/taskInstances/extract', stranger)).status).toBe(404);
  });
});

describe('a list of task instances asked for by a body', () => {
  const batch = async (body: object, path = '~/dagRuns/~') => {
    const answer = await server.call(`/api/v2/dags/${path}/taskInstances/list`, { method: 'POST', token: admin, body });
    return { status: answer.status, ...answer.json<List>() };
  };

  it.each([
    [{}, 12],
    [{ dag_ids: ['other'] }, 2],
    [{ dag_ids: [] }, 0],
    [{ dag_ids: ['etl', 'other'], dag_run_ids: ['old'], task_ids: ['extract', 'wait'] }, 3],
    [{ state: ['failed', null], order_by: '-map_index' }, 5],
    [{ pool: ['narrow'], queue: ['default'] }, 1],
    [{ executor: ['KubernetesExecutor'] }, 2],
    [{ run_after_gte: day(2), run_after_lte: null, duration_gte: 1 }, 1],
    [{ page_limit: 1, page_offset: 1 }, 12],
  ])('answers %j', async (body, total) => {
    const answer = await batch(body);
    expect(answer).toMatchObject({ status: 200, total_entries: total });
    expect(answer.task_instances.length).toBe(Math.min(total, (body as { page_limit?: number }).page_limit ?? total));
  });

  it('stays within the DAG and the run that the path names', async () => {
    expect((await batch({ dag_ids: ['other'] }, 'etl/dagRuns/~')).total_entries).toBe(10);
    expect((await batch({}, 'etl/dagRuns/old')).total_entries).toBe(6);
    expect((await batch({ unknown: 1 })).status).toBe(400);
  });
});

describe('a task instance', () => {
  it('has every field of the specification and of Airflow, nulls written out', async () => {
    const answer = await get('etl/dagRuns/old/taskInstances/extract');
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      task_id: 'extract',
      dag_id: 'etl',
      dag_run_id: 'old',
      map_index: -1,
      logical_date: day(1),
      run_after: day(1),
      start_date: day(1),
      end_date: day(1, 10),
      duration: 10,
      state: 'success',
      try_number: 2,
      max_tries: 2,
      infrastructure_retries: 0,
      group_retries: 0,
      task_display_name: 'Holen',
      dag_display_name: 'etl',
      hostname: 'worker-1',
      unixname: null,
      pool: 'narrow',
      pool_slots: 1,
      queue: 'default',
      priority_weight: 1,
      operator: 'BashOperator',
      operator_name: 'BashOperator',
      queued_when: day(1),
      scheduled_when: null,
      pid: 41,
      executor: null,
      executor_config: '{}',
      note: 'looked at',
      rendered_map_index: null,
      rendered_fields: {},
      trigger: null,
      triggerer_job: null,
      dag_version: expect.objectContaining({ dag_id: 'etl', version_number: 1, dag_display_name: 'etl' }) as object,
      failure_reason: null,
      failure_detail: null,
      wait_reason: null,
    });
  });

  it('is found under -1 when it is not mapped, and only under its map index when it is', async () => {
    expect((await get('etl/dagRuns/old/taskInstances/extract/-1')).json()).toMatchObject({ task_id: 'extract' });
    expect((await get('etl/dagRuns/old/taskInstances/load.each/1')).json()).toMatchObject({
      map_index: 1,
      rendered_map_index: 'second',
    });
    const unnamed = await get('etl/dagRuns/old/taskInstances/load.each/2');
    expect(unnamed.json()).toMatchObject({ map_index: 2, rendered_map_index: '2' });
    for (const path of ['load.each', 'load.each/-1']) {
      const answer = await get(`etl/dagRuns/old/taskInstances/${path}`);
      expect(answer.json()).toMatchObject({ status: 404, detail: expect.stringContaining('is mapped') as string });
    }
    expect((await get('etl/dagRuns/old/taskInstances/load.each/3')).status).toBe(404);
    expect((await get('etl/dagRuns/old/taskInstances/nowhere')).status).toBe(404);
    expect((await get('etl/dagRuns/old/taskInstances/extract/-2')).status).toBe(400);
  });

  it('is found with the characters of its run id written plainly and encoded', async () => {
    for (const run of ['new:1+00', encodeURIComponent('new:1+00')]) {
      expect((await get(`etl/dagRuns/${run}/taskInstances/extract`)).json()).toMatchObject({ dag_run_id: 'new:1+00' });
    }
  });

  it('shows what its templates became', async () => {
    const run = await db.selectFrom('dag_runs').select('id').where('run_id', '=', 'new:1+00').executeTakeFirstOrThrow();
    const fields = JSON.stringify({ bash_command: 'echo', env: { n: 1 } });
    await db.insertInto('rendered_fields').values({ run: run.id, task_id: 'extract', fields }).execute();
    const answer = await get('etl/dagRuns/new:1+00/taskInstances/extract');
    expect(answer.json()).toMatchObject({ rendered_fields: { bash_command: 'echo', env: { n: 1 } } });
  });

  it('has no links, and says so in the shape the web UI reads', async () => {
    const answer = await get('etl/dagRuns/old/taskInstances/extract/links?map_index=-1&try_number=1');
    expect(answer.json()).toEqual({ extra_links: {}, total_entries: 0 });
    expect((await get('etl/dagRuns/old/taskInstances/nowhere/links')).status).toBe(404);
  });
});

describe('the instances of a mapped task', () => {
  const mapped = async (query: string, task = 'load.each', run = 'old') =>
    get(`etl/dagRuns/${run}/taskInstances/${task}/listMapped?${query}`);

  it('are listed by map index, filtered and sorted like others', async () => {
    const indexes = async (query: string) =>
      (await mapped(query)).json<List>().task_instances.map((instance) => instance.map_index);
    expect(await indexes('')).toEqual([0, 1, 2]);
    expect(await indexes('order_by=-map_index&limit=2')).toEqual([2, 1]);
    expect(await indexes('state=failed')).toEqual([1]);
    expect(await indexes('state=queued')).toEqual([]);
    expect((await mapped('limit=1')).json()).toMatchObject({ total_entries: 3 });
  });

  it('are none before it is expanded; a task that is not mapped or not there is an error', async () => {
    expect((await mapped('', 'load.each', 'new:1+00')).json()).toMatchObject({ task_instances: [], total_entries: 0 });
    expect((await mapped('', 'extract')).json()).toMatchObject({
      status: 404,
      detail: 'Task id extract is not mapped',
    });
    expect((await mapped('', 'nowhere')).status).toBe(404);
  });
});

describe('tries of a task instance', () => {
  const tries = (path: string) => get(`etl/dagRuns/old/taskInstances/${path}`);

  it('are those that are over and the current one, under both addresses', async () => {
    for (const path of ['extract/tries', 'extract/-1/tries', 'extract/tries?map_index=-1']) {
      const { task_instances: found, total_entries: total } = (await tries(path)).json<List>();
      expect(total).toBe(2);
      expect(
        found.map((row) => [row['try_number'], row['state'], row['failure_reason'], row['failure_detail']]),
      ).toEqual([
        // As a version wrote it that had one field for both.
        [1, 'failed', 'exception: the task raised an exception', 'pg://u:***@h: no'],
        [2, 'success', null, null],
      ]);
    }
    expect((await tries('load.each/1/tries')).json()).toMatchObject({ total_entries: 1 });
    expect((await tries('load.each/tries?map_index=2')).json()).toMatchObject({ total_entries: 1 });
    expect((await tries('load.each/7/tries')).status).toBe(404);
  });

  it('can be had one by one, also the one that has not begun', async () => {
    expect((await tries('extract/tries/1')).json()).toMatchObject({ try_number: 1, state: 'failed', duration: 5 });
    expect((await tries('extract/tries/2?map_index=-1')).json()).toMatchObject({
      try_number: 2,
      dag_display_name: 'etl',
    });
    expect((await tries('load.each/1/tries/1')).json()).toMatchObject({ map_index: 1, state: 'failed' });
    expect((await tries('report/tries/0')).json()).toMatchObject({ try_number: 0, state: 'upstream_failed' });
    expect((await tries('extract/tries/3')).status).toBe(404);
    expect((await tries('extract/tries/-1')).status).toBe(400);
  });

  it('that were kept while the row still shows them are there once', async () => {
    const run = await db
      .selectFrom('dag_runs')
      .select('id')
      .where('run_id', '=', 'old')
      .where('dag_id', '=', 'other')
      .executeTakeFirstOrThrow();
    const values = {
      operator: 'x',
      pool: 'x',
      pool_slots: 1,
      priority_weight: 1,
      queue: 'x',
      hostname: '',
      version_number: 1,
    };
    await db
      .insertInto('task_instance_history')
      .values({
        ...values,
        run: run.id,
        dag_id: 'other',
        task_id: 'extract',
        map_index: -1,
        try_number: 1,
        id: crypto.randomUUID(),
        max_tries: 0,
        state: 'failed',
        attempt_id: null,
      })
      .execute();
    const answer = await get('other/dagRuns/old/taskInstances/extract/tries');
    expect(answer.json()).toMatchObject({ total_entries: 1, task_instances: [{ state: 'failed' }] });
  });
});
