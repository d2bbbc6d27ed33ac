/**
 * The web UI and the official clients are written against Airflow's own OpenAPI documents. A real control plane runs DAGs
 * with one of everything; then every operation of those documents is called, as the UI calls it where it does, and each answer
 * is held against the document: no field missing, every type right. An operation that is not there fails.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readAirflowOpenApi } from '@svc/testing/airflow/openapi.ts';
import type { AirflowOpenApi } from '@svc/testing/airflow/openapi.ts';
import { createContractChecks, fillPath } from '@svc/testing/server/contract-checks.ts';
import type { ContractChecks, Values } from '@svc/testing/server/contract-checks.ts';
import { startContractServer } from '@svc/testing/server/contract-server.ts';
import type { ContractServer } from '@svc/testing/server/contract-server.ts';

/** Said differently by the specification of this product, or without a body that could be checked; and why. */
const NOT_CHECKED: Record<string, string> = {
  'GET /api/v2/auth/login': 'answers with a redirect',
  'GET /api/v2/auth/logout': 'answers with a redirect, and would end the session of this test',
  'GET /api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/wait': 'lines of JSON of no model; dag-run-wait.test.ts',
  'POST /api/v2/connections/test': 'off unless configured; connections/test.test.ts',
  'POST /api/v2/connections/enqueue-test': 'off unless configured; connections/test.test.ts',
  'GET /api/v2/connections/enqueue-test': 'off unless configured; connections/test.test.ts',
  'POST /api/v2/connections/defaults': 'answers without a body; connections/defaults.test.ts',
  'GET /api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/externalLogUrl/{try_number}':
    '400: logs are on the disk here',
  'GET /ui/pending_partitioned_dag_run/{dag_id}/{partition_key}': 'always 404',
  'GET /ui/pending_partitioned_dag_run/{dag_id}': 'always 404',
};

type Instance = { task_id: string; map_index: number; try_number: number; state: string | null };

const RUN = 'contract:1+00:00~'; // with characters that are special in paths
const SHOP = { dag_id: 'shop', dag_run_id: RUN, run_id: RUN };
const DAG_IDS = ['shop', 'shop_report', 'shop_starter', 'shop_waiting', 'shop_daily', 'shop_asks'];
const RUNS = '/api/v2/dags/{dag_id}/dagRuns';
const INSTANCES = `${RUNS}/{dag_run_id}/taskInstances`;
const TASK = `${INSTANCES}/{task_id}`;

let server: ContractServer;
let airflow: AirflowOpenApi;
let reportRun: string;
let checks: ContractChecks;

beforeAll(async () => {
  [server, airflow] = await Promise.all([startContractServer(), readAirflowOpenApi()]);
  checks = createContractChecks({ server, airflow });
  await server.must('POST', '/api/v2/dags/shop/dagRuns', { dag_run_id: RUN, conf: { amount: 2 }, note: 'a note' });
  await server.ended('shop', RUN);
  reportRun = await runOfAssets();
  await server.must('POST', '/api/v2/importErrors', {
    filename: 'broken.py',
    bundle_name: 'dags',
    stack_trace: 'SyntaxError',
  });
}, 400_000);

afterAll(async () => {
  await server?.close();
});

/** The run that the orders of the first one caused. */
async function runOfAssets(): Promise<string> {
  for (;;) {
    const { dag_runs: runs } = await server.must<{ dag_runs: { dag_run_id: string }[] }>(
      'GET',
      '/api/v2/dags/shop_report/dagRuns',
    );
    const id = runs[0]?.dag_run_id;
    if (id === undefined) continue;
    await server.ended('shop_report', id);
    return id;
  }
}

const check: ContractChecks['check'] = (...input) => checks.check(...input);
const expectNothingWrong = (operations: readonly string[]): void => expect(checks.wrongAmong(operations)).toEqual({});

const instancesOf = async (dagId: string, runId: string): Promise<Instance[]> =>
  (
    await server.must<{ task_instances: Instance[] }>(
      'GET',
      `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances?limit=1000`,
    )
  ).task_instances;

describe('the data that the contract test looks at', () => {
  it('has tasks in every kind of end, a mapped one, and one of several tries', async () => {
    const instances = await instancesOf('shop', RUN);
    const ends = new Set(instances.map(({ state }) => state));
    expect(ends).toEqual(new Set(['success', 'failed', 'upstream_failed']));
    expect(instances.filter(({ task_id: id }) => id === 'double')).toHaveLength(3);
    expect(instances.find(({ task_id: id }) => id === 'flaky')?.try_number).toBe(2);
  });
});

describe('answers have the shapes of Airflow when reading', () => {
  const PAGE = '?limit=50&offset=0';

  it('lists and things of their own', async () => {
    const operations: [string, string?][] = [
      ['GET /api/v2/assets', `${PAGE}&name_prefix_pattern=&only_active=true`],
      ['GET /api/v2/assets/aliases'],
      ['GET /api/v2/assets/events', `${PAGE}&order_by=-timestamp`],
      ['GET /api/v2/backfills', '?dag_id=shop_daily'],
      ['GET /api/v2/config'],
      ['GET /api/v2/dagStats', '?dag_ids=shop&dag_ids=shop_report'],
      ['GET /api/v2/dagTags', `${PAGE}&tag_name_prefix_pattern=`],
      ['GET /api/v2/dagWarnings', PAGE],
      ['GET /api/v2/dags', `${PAGE}&order_by=dag_id`],
      ['GET /api/v2/eventLogs', `${PAGE}&order_by=-when`],
      ['GET /api/v2/importErrors', `${PAGE}&order_by=-timestamp`],
      ['GET /api/v2/jobs', PAGE],
      ['GET /api/v2/monitor/health'],
      ['GET /api/v2/plugins', PAGE],
      ['GET /api/v2/plugins/importErrors'],
      ['GET /api/v2/pools', `${PAGE}&order_by=name`],
      ['GET /api/v2/providers', PAGE],
      ['GET /api/v2/version'],
      ['GET /ui/auth/me'],
      ['GET /ui/auth/menus'],
      ['GET /ui/backfills', `${PAGE}&dag_id=shop_daily&active=true`],
      ['GET /ui/config'],
      ['GET /ui/connections/hook_meta'],
      ['GET /ui/dags', '?dag_runs_limit=14&limit=50&offset=0&order_by=dag_display_name&exclude_stale=true'],
      ['GET /ui/dashboard/dag_stats'],
      ['GET /ui/dashboard/historical_metrics_data', '?start_date=2026-01-01T00:00:00Z'],
      ['GET /ui/dependencies'],
      ['GET /ui/partitioned_dag_runs', '?has_created_dag_run_id=false'],
      ['GET /ui/teams', '?order_by=name'],
    ];
    for (const [operation, query = ''] of operations) await check(operation, {}, { query });
    await check('GET /ui/dependencies', {}, { query: '?dependency_type=data' });
    await check('GET /ui/dependencies', {}, { query: '?node_id=dag:shop_report' });
    await check('GET /api/v2/config/section/{section}/option/{option}', { section: 'ui', option: 'instance_name' });
    const [entry] = (await server.must<{ event_logs: { event_log_id: number }[] }>('GET', '/api/v2/eventLogs'))
      .event_logs;
    await check('GET /api/v2/eventLogs/{event_log_id}', { event_log_id: entry?.event_log_id ?? 0 });
    const [failure] = (
      await server.must<{ import_errors: { import_error_id: number }[] }>('GET', '/api/v2/importErrors')
    ).import_errors;
    await check('GET /api/v2/importErrors/{import_error_id}', { import_error_id: failure?.import_error_id ?? 0 });
    expectNothingWrong(operations.map(([operation]) => operation));
  });

  it('every DAG', async () => {
    const operations = [
      'GET /api/v2/dags/{dag_id}',
      'GET /api/v2/dags/{dag_id}/details',
      'GET /api/v2/dags/{dag_id}/tasks',
      'GET /api/v2/dags/{dag_id}/dagVersions',
      'GET /api/v2/dags/{dag_id}/dagVersions/{version_number}',
      'GET /api/v2/dagSources/{dag_id}',
      'GET /api/v2/dags/{dag_id}/assets/queuedEvents',
      `GET ${RUNS}`,
      'GET /ui/dags/{dag_id}/deadlineAlerts',
      'GET /ui/dags/{dag_id}/latest_run',
      'GET /ui/grid/runs/{dag_id}',
      'GET /ui/grid/structure/{dag_id}',
      'GET /ui/next_run_assets/{dag_id}',
    ];
    for (const dagId of DAG_IDS) {
      for (const operation of operations) await check(operation, { dag_id: dagId, version_number: 1 });
      await check(`GET ${RUNS}`, { dag_id: dagId }, { query: '?limit=50&cursor=&order_by=-run_after' });
      const calendar = '?granularity=daily&logical_date_gte=2026-01-01T00:00:00Z&logical_date_lte=2026-12-31T23:59:59Z';
      await check('GET /ui/calendar/{dag_id}', { dag_id: dagId }, { query: calendar });
      await check('GET /ui/calendar/{dag_id}', { dag_id: dagId }, { query: calendar.replace('daily', 'hourly') });
      for (const external of [true, false]) {
        const query = `?dag_id=${dagId}&external_dependencies=${external}`;
        await check('GET /ui/structure/structure_data', {}, { query });
      }
      const { tasks } = await server.must<{ tasks: { task_id: string }[] }>('GET', `/api/v2/dags/${dagId}/tasks`);
      for (const { task_id: taskId } of tasks)
        await check('GET /api/v2/dags/{dag_id}/tasks/{task_id}', { dag_id: dagId, task_id: taskId });
    }
    expectNothingWrong([
      ...operations,
      'GET /ui/calendar/{dag_id}',
      'GET /ui/structure/structure_data',
      'GET /api/v2/dags/{dag_id}/tasks/{task_id}',
    ]);
  });

  it('runs and their tasks, mapped ones too', async () => {
    const ofRuns = [
      `GET ${RUNS}/{dag_run_id}`,
      `GET ${RUNS}/{dag_run_id}/upstreamAssetEvents`,
      `GET ${RUNS}/{dag_run_id}/hitlDetails`,
      `GET ${INSTANCES}`,
      'GET /ui/gantt/{dag_id}/{run_id}',
      'GET /ui/dags/{dag_id}/dagRuns/{dag_run_id}/deadlines',
      'GET /ui/dags/{dag_id}/dagRuns/{dag_run_id}/stats',
    ];
    const ofTasks = [
      `GET ${TASK}/{map_index}`,
      `GET ${TASK}/{map_index}/dependencies`,
      `GET ${TASK}/{map_index}/tries`,
      `GET ${TASK}/{map_index}/tries/{task_try_number}`,
    ];
    const ofTasksByQuery = [
      `GET ${TASK}/dependencies`,
      `GET ${TASK}/links`,
      `GET ${TASK}/tries`,
      `GET ${TASK}/tries/{task_try_number}`,
      `GET ${TASK}/xcomEntries`,
    ];
    for (const values of [SHOP, { dag_id: 'shop_report', dag_run_id: reportRun, run_id: reportRun }]) {
      for (const operation of ofRuns) await check(operation, values);
      for (const instance of await instancesOf(values.dag_id, values.dag_run_id)) {
        const { task_id: taskId, map_index: index, try_number: tries } = instance;
        const named = { ...values, task_id: taskId, map_index: index, task_try_number: tries, try_number: tries };
        for (const operation of ofTasks) await check(operation, named);
        for (const operation of ofTasksByQuery) await check(operation, named, { query: `?map_index=${index}` });
        await checkXcoms(named);
        await checkLog(named);
        if (index === -1) await check(`GET ${TASK}`, named);
        else await check(`GET ${TASK}/listMapped`, named);
      }
    }
    await check(`GET ${INSTANCES}`, { dag_id: '~', dag_run_id: '~' }, { query: '?cursor=&limit=50&state=failed' });
    await check(`GET ${TASK}/xcomEntries`, { dag_id: '~', dag_run_id: '~', task_id: '~' });
    expectNothingWrong([...ofRuns, ...ofTasks, ...ofTasksByQuery, `GET ${TASK}`, `GET ${TASK}/listMapped`]);
    expectNothingWrong([`GET ${TASK}/xcomEntries/{xcom_key}`, `GET ${TASK}/logs/{try_number}`]);
  });

  /** As the UI asks for it, try 0 included; and as JSON, which has no try 0. */
  async function checkLog(values: Values): Promise<void> {
    const operation = `GET ${TASK}/logs/{try_number}`;
    const query = `?map_index=${values['map_index']}`;
    const path = `${fillPath(`${TASK}/logs/{try_number}`, values)}${query}`;
    const { status, text } = await server.call('GET', path, undefined, 'application/x-ndjson');
    expect({ path, status, text }).toMatchObject({ status: 200, text: expect.stringMatching(/\n$/) as string });
    for (const line of text.trimEnd().split('\n')) {
      // Lines that are no message of the task have no time, in Airflow neither.
      const { timestamp, ...record } = JSON.parse(line) as { timestamp?: string | null };
      const timed = { ...record, timestamp: timestamp ?? '2026-01-01T00:00:00Z' };
      checks.note(operation, airflow.violationsOfModel('StructuredLogMessage', timed));
    }
    if (values['try_number'] !== 0) await check(operation, values, { query });
  }

  async function checkXcoms(values: Values): Promise<void> {
    const list = fillPath(`${TASK}/xcomEntries`, values);
    const { xcom_entries: entries } = await server.must<{ xcom_entries: { key: string }[] }>(
      'GET',
      `${list}?map_index=${values['map_index']}`,
    );
    for (const { key } of entries) {
      for (const form of ['&deserialize=true', '&stringify=true', '']) {
        const query = `?map_index=${values['map_index']}${form}`;
        await check(`GET ${TASK}/xcomEntries/{xcom_key}`, { ...values, xcom_key: key }, { query });
      }
    }
  }

  it('the cells of the grid, a line per run', async () => {
    const operation = 'GET /ui/grid/ti_summaries/{dag_id}';
    const query = `run_ids=${encodeURIComponent(RUN)}&run_ids=unknown`;
    const { text, status } = await server.call('GET', `/ui/grid/ti_summaries/shop?${query}`);
    expect({ status, text }).toMatchObject({ status: 200, text: expect.stringMatching(/^\{.*\}\n$/) as string });
    checks.note(operation, airflow.violationsOfModel('GridTISummaries', JSON.parse(text)));
    expectNothingWrong([operation]);
  });

  it('assets one by one', async () => {
    const { assets } = await server.must<{ assets: { id: number; name: string }[] }>('GET', '/api/v2/assets');
    expect(assets.map(({ name }) => name).toSorted()).toEqual(['missing', 'orders', 'report']);
    for (const { id } of assets) {
      await check('GET /api/v2/assets/{asset_id}', { asset_id: id });
      await check('GET /api/v2/assets/{asset_id}/queuedEvents', { asset_id: id });
      await check('GET /ui/dependencies', {}, { query: `?node_id=asset:${id}&dependency_type=scheduling` });
    }
    expectNothingWrong([
      'GET /api/v2/assets/{asset_id}',
      'GET /api/v2/assets/{asset_id}/queuedEvents',
      'GET /ui/dependencies',
    ]);
  });
});

describe('answers have the shapes of Airflow when writing', () => {
  it('connections, variables and pools, one by one and in bulk', async () => {
    const connection = { connection_id: 'c', conn_type: 'http', host: 'example.com', password: 'x', extra: '{"a":1}' };
    const variable = { key: 'k', value: { any: 'json' }, description: 'd' };
    const pool = { name: 'p', slots: 3, description: 'd', include_deferred: true };
    const kinds = [
      { path: '/api/v2/connections', id: 'connection_id', body: connection, change: { ...connection, port: 80 } },
      { path: '/api/v2/variables', id: 'variable_key', body: variable, change: { ...variable, value: 'text' } },
      { path: '/api/v2/pools', id: 'pool_name', body: pool, change: { slots: 4 } },
    ];
    for (const { path, id, body, change } of kinds) {
      const name = Object.values(body)[0] as string;
      const one = `${path}/{${id}}`;
      await check(`POST ${path}`, {}, { body });
      await check(`GET ${path}`, {}, { query: '?limit=50&offset=0' });
      await check(`GET ${one}`, { [id]: name });
      await check(
        `PATCH ${one}`,
        { [id]: name },
        { body: change, query: `?update_mask=${Object.keys(change).at(-1)}` },
      );
      await check(`DELETE ${one}`, { [id]: name });
      const actions = [
        { action: 'create', entities: [body], action_on_existence: 'fail' },
        { action: 'update', entities: [body], action_on_non_existence: 'fail' },
        { action: 'delete', entities: [name, 'unknown'], action_on_non_existence: 'fail' },
      ];
      await check(`PATCH ${path}`, {}, { body: { actions } });
    }
    expectNothingWrong(
      airflow.operations.filter((operation) => /(connections|variables|pools)($|\/\{)/.test(operation)),
    );
  });

  it('questions to people, while they wait and when they are answered', { timeout: 400_000 }, async () => {
    const { dag_run_id: runId } = await server.must<{ dag_run_id: string }>(
      'POST',
      '/api/v2/dags/shop_asks/dagRuns',
      {},
    );
    const all = { dag_id: '~', dag_run_id: '~' };
    await vi.waitFor(
      async () => {
        const waiting = await server.must('GET', `${fillPath(RUNS, all)}/~/hitlDetails?state=deferred`);
        expect(waiting).toMatchObject({ total_entries: 1 });
      },
      { timeout: 120_000, interval: 200 },
    );
    const values = { dag_id: 'shop_asks', dag_run_id: runId, task_id: 'ask', map_index: -1, try_number: 1 };
    const one = `${TASK}/{map_index}/hitlDetails`;
    const read = async (): Promise<void> => {
      await check(`GET ${RUNS}/{dag_run_id}/hitlDetails`, all, { query: '?order_by=-created_at' });
      await check(`GET ${one}`, values);
      await check(`GET ${one}/tries/{try_number}`, values);
      await check('GET /ui/dags', {}, { query: '?has_pending_actions=true' });
      await check('GET /ui/dags', {}, { query: '?dag_ids=shop_asks' });
    };
    await read();
    await check(`PATCH ${one}`, values, { body: { chosen_options: ['yes'], params_input: { price: 5 } } });
    await server.ended('shop_asks', runId);
    await read();
    expectNothingWrong([`GET ${one}`, `PATCH ${one}`, `GET ${one}/tries/{try_number}`, 'GET /ui/dags']);
  });

  it('backfills', async () => {
    const body = {
      dag_id: 'shop_daily',
      from_date: '2026-01-05T00:00:00Z',
      to_date: '2026-01-07T00:00:00Z',
      run_backwards: false,
      dag_run_conf: {},
      reprocess_behavior: 'none',
      max_active_runs: 1,
      run_on_latest_version: true,
    };
    await check('POST /api/v2/backfills/dry_run', {}, { body });
    const { id } = (await check('POST /api/v2/backfills', {}, { body })).json<{ id: number }>();
    await check('GET /api/v2/backfills/{backfill_id}', { backfill_id: id });
    await check('GET /api/v2/backfills', {}, { query: '?dag_id=shop_daily' });
    await check('GET /ui/backfills', {}, { query: '?dag_id=shop_daily&active=true' });
    for (const action of ['pause', 'unpause', 'cancel'])
      await check(`PUT /api/v2/backfills/{backfill_id}/${action}`, { backfill_id: id });
    expectNothingWrong(airflow.operations.filter((operation) => operation.includes('/backfills')));
  });

  it('asset events', async () => {
    const { assets } = await server.must<{ assets: { id: number; name: string }[] }>('GET', '/api/v2/assets');
    const idOf = (name: string) => assets.find((asset) => asset.name === name)?.id ?? 0;
    const { asset_aliases: aliases } = await server.must<{ asset_aliases: { id: number }[] }>(
      'GET',
      '/api/v2/assets/aliases',
    );
    await check('GET /api/v2/assets/aliases/{asset_alias_id}', { asset_alias_id: aliases[0]?.id ?? 0 });
    const orders = idOf('orders');
    const body = { asset_id: orders, extra: { by: 'hand' } };
    await check('POST /api/v2/assets/events', {}, { body });
    const queued = { dag_id: 'shop_waiting', asset_id: orders }; // for an asset that nobody writes
    for (const path of [
      '/api/v2/dags/{dag_id}/assets/{asset_id}/queuedEvents',
      '/api/v2/dags/{dag_id}/assets/queuedEvents',
      '/api/v2/assets/{asset_id}/queuedEvents',
    ]) {
      await check(`GET ${path}`, queued);
      await check(`DELETE ${path}`, queued);
      await server.must('POST', '/api/v2/assets/events', body);
    }
    await check('GET /ui/next_run_assets/{dag_id}', { dag_id: 'shop_waiting' });
    await check('POST /api/v2/assets/{asset_id}/materialize', { asset_id: orders }, { body: {} });
    const state = { asset_id: orders, key: 'watermark' };
    const store = '/api/v2/assets/{asset_id}/state-store';
    await check(`PUT ${store}/{key}`, state, { body: { value: '2026-01-01' } });
    await check(`GET ${store}`, state, { query: '?limit=50&offset=0' });
    await check(`GET ${store}/{key}`, state);
    await check(`DELETE ${store}/{key}`, state);
    await check(`DELETE ${store}`, state);
    expectNothingWrong(airflow.operations.filter((operation) => operation.includes('asset')));
  });

  it('runs and task instances', async () => {
    const instance = { ...SHOP, task_id: 'double', map_index: 2 };
    const plain = { ...SHOP, task_id: 'never', map_index: -1 };
    const first = { body: { new_state: 'success', note: 'marked', include_downstream: false } };
    await check(`PATCH ${TASK}/dry_run`, plain, { body: { new_state: 'failed' } });
    await check(`PATCH ${TASK}/{map_index}/dry_run`, instance, { body: { new_state: 'success' } });
    await check(`PATCH ${TASK}/{map_index}`, instance, first);
    await check(`PATCH ${TASK}`, plain, { body: { note: 'noted' } });
    const entities = [
      { task_id: 'never', note: 'in bulk' },
      { task_id: 'unknown', note: 'in bulk' },
    ];
    const bulk = { actions: [{ action: 'update', entities, action_on_non_existence: 'fail' }] };
    await check(`PATCH ${INSTANCES}`, SHOP, { body: bulk });
    const group = { ...SHOP, group_id: 'load' };
    const inGroup = `${RUNS}/{dag_run_id}/taskGroupInstances/{group_id}`;
    await check(`PATCH ${inGroup}/dry_run`, group, { body: { new_state: 'failed' } });
    await check(`PATCH ${inGroup}`, group, { body: { note: 'noted' } });
    const named = { dag_runs: [{ dag_run_id: RUN }] };
    await check('POST /api/v2/dags/{dag_id}/clearDagRuns', SHOP, { body: named });
    await check('POST /api/v2/dags/{dag_id}/clearPartitions', SHOP, { body: { run_id: RUN } });
    const noted = { action: 'update', entities: [{ dag_run_id: RUN, note: 'in bulk' }] };
    await check(`PATCH ${RUNS}`, SHOP, { body: { actions: [noted] } });
    await check(`POST ${INSTANCES}/list`, { dag_id: '~', dag_run_id: '~' }, { body: { dag_ids: ['shop'] } });
    await check(`POST ${RUNS}/list`, { dag_id: '~' }, { body: { dag_ids: ['shop'] } });
    await check(`PATCH ${RUNS}/{dag_run_id}`, SHOP, { body: { note: 'another note' } });
    const xcom = { ...plain, xcom_key: 'by_hand' };
    await check(`POST ${TASK}/xcomEntries`, xcom, { body: { key: 'by_hand', value: { a: [1] } } });
    await check(`PATCH ${TASK}/xcomEntries/{xcom_key}`, xcom, { body: { value: 'b' } });
    await check(`DELETE ${TASK}/xcomEntries/{xcom_key}`, xcom);
    const state = { ...SHOP, task_id: 'double', key: 'job' };
    await check(`PUT ${TASK}/state-store/{key}`, state, { query: '?map_index=1', body: { value: { id: 7 } } });
    await check(`GET ${TASK}/state-store`, state, { query: '?map_index=1&limit=50&offset=0' });
    await check(`GET ${TASK}/state-store/{key}`, state, { query: '?map_index=1' });
    await check(`PATCH ${TASK}/state-store/{key}`, state, { query: '?map_index=1', body: { value: 8 } });
    await check(`DELETE ${TASK}/state-store/{key}`, state, { query: '?map_index=1' });
    await check(`DELETE ${TASK}/state-store`, state, { query: '?all_map_indices=true' });
    const clear = { dry_run: true, dag_run_id: RUN, only_failed: true, task_ids: ['double'], include_downstream: true };
    await check('POST /api/v2/dags/{dag_id}/clearTaskInstances', SHOP, { body: clear });
    await check(`POST ${RUNS}/{dag_run_id}/clear`, SHOP, { body: { dry_run: true, only_failed: false } });
    await server.must('PATCH', '/api/v2/dags/shop', { is_paused: true });
    await check('POST /api/v2/dags/{dag_id}/clearTaskInstances', SHOP, { body: { ...clear, dry_run: false } });
    await check(`POST ${RUNS}/{dag_run_id}/clear`, SHOP, { body: { dry_run: false, only_failed: false } });
    await check(`GET ${RUNS}/{dag_run_id}`, SHOP);
    await check(`GET ${INSTANCES}`, SHOP);
    await check('GET /ui/gantt/{dag_id}/{run_id}', SHOP);
    await check(`POST ${RUNS}`, SHOP, { body: { logical_date: '2026-01-03T00:00:00Z', conf: {}, note: null } });
    await check(`DELETE ${TASK}`, { ...SHOP, task_id: 'extract' });
    await check(`DELETE ${RUNS}/{dag_run_id}`, SHOP);
    expectNothingWrong(
      airflow.operations.filter((operation) => operation.includes('dagRuns') && checks.times(operation) > 0),
    );
  });

  it('DAGs and the session', async () => {
    const daily = { dag_id: 'shop_daily' };
    await check('POST /api/v2/dags/{dag_id}/favorite', daily);
    await check('GET /ui/dags', {}, { query: '?is_favorite=true' });
    await check('POST /api/v2/dags/{dag_id}/unfavorite', daily);
    await check('PATCH /api/v2/dags/{dag_id}', daily, { body: { is_paused: true } });
    await check('PATCH /api/v2/dags', {}, { query: '?dag_id_pattern=shop_daily', body: { is_paused: true } });
    const { file_token: file } = await server.must<{ file_token: string }>('GET', '/api/v2/dags/shop_daily');
    await check('PUT /api/v2/parseDagFile/{file_token}', { file_token: file });
    await check('DELETE /api/v2/dags/{dag_id}', daily);
    await check('POST /ui/auth/token', {}, { body: { token_type: 'api' } });
    expectNothingWrong(airflow.operations.filter((operation) => checks.times(operation) > 0));
  });
});

describe('the contract of Airflow, all of it,', () => {
  it('was looked at: every operation of both documents, but for those that say why not', () => {
    const table = airflow.operations.map((operation) => {
      const times = checks.times(operation);
      const why = NOT_CHECKED[operation] ?? 'MISSING';
      return `${times === 0 ? why : `${times} answers`}\t${operation}`;
    });
    process.stdout.write(`${table.join('\n')}\n`);
    expect(table.filter((line) => line.startsWith('MISSING'))).toEqual([]);
    expect(Object.keys(NOT_CHECKED).filter((operation) => !airflow.operations.includes(operation))).toEqual([]);
  });
});
