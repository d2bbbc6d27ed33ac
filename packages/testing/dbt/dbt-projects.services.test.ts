/**
 * dbt itself, in a real lite: projects by node, level and folder on DuckDB and Postgres, what fails, what a retry runs, and what
 * other DAGs and people see of it.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectFiles } from '@svc/cli/projects/templates.ts';
import { eventually } from '../eventually.ts';
import { callTool, connectHttp, startToolServer } from '../mcp/connect.ts';
import { createTestDatabase } from '../postgres/test-database.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { runEnds, startLite } from '../web-ui/lite-instance.ts';
import type { LiteInstance } from '../web-ui/lite-instance.ts';
import { dbtPython } from './environment.ts';
import { SHOP, filesBelow } from './shop-project.ts';

const MINUTES = 240_000;
const dagFile = (id: string, group: string, more = ''): string =>
  `from airflow.sdk import DAG, task\nfrom svc import dbt_asset, dbt_group\n\nwith DAG("${id}", schedule=None):\n    ${group}\n${more}`;

/** A level of two models, one of which is broken. */
const BROKEN = {
  'dbt_project.yml': 'name: broken\nprofile: broken\n',
  'models/good.sql': 'select 1 as id\n',
  'models/bad.sql': 'select missing_column from (select 1 as id)\n',
  'models/after.sql': "select * from {{ ref('bad') }}\n",
};

const starter = mkdtempSync(join(tmpdir(), 'svc-dbt-starter-'));
let lite: LiteInstance;
let warehouse: Awaited<ReturnType<typeof createTestDatabase>>;

beforeAll(async () => {
  warehouse = await createTestDatabase();
  const starterFile = join(starter, 'starter.duckdb');
  chmodSync(starter, 0o777); // tasks run as another user
  lite = await startLite({
    examples: [],
    env: { SVC_PYTHON: await dbtPython(), DUCKDB_FILE: starterFile },
    dags: {
      ...filesBelow('by_node/shop', SHOP),
      'by_node/dag.py': dagFile('by_node', 'dbt_group("shop", "shop", adapter="duckdb", conn_id="shop_duckdb")'),
      'after_revenue.py':
        'from airflow.sdk import DAG, task\nfrom svc import dbt_asset\n\nwith DAG("after_revenue", schedule=[dbt_asset("shop", "revenue")]):\n    @task\n    def tell(triggering_asset_events=None):\n        [events] = triggering_asset_events.values()\n        return events[0].extra["status"]\n    tell()\n',
      ...filesBelow('starter', projectFiles('dbt', 'starter')),
      ...filesBelow('from_yaml', SHOP),
      'from_yaml/svc.yaml':
        'dbt:\n  granularity: level\n  adapter: postgres\n  conn_id: shop_postgres\n  profile_args: { schema: analytics, threads: 2 }\n',
      ...filesBelow('broken/project', BROKEN),
      'broken/dag.py': dagFile(
        'broken',
        'dbt_group("dbt", "project", adapter="duckdb", conn_id="broken_duckdb", granularity="folder", operator_args={"retries": 1, "retry_delay": 0})',
      ),
    },
  });
  const files = join(lite.directory, 'databases');
  mkdirSync(files);
  chmodSync(files, 0o777); // tasks run as another user
  const { hostname, port, username, password, pathname } = new URL(warehouse.url);
  const connections = [
    { connection_id: 'shop_duckdb', conn_type: 'duckdb', host: join(files, 'shop.duckdb') },
    { connection_id: 'broken_duckdb', conn_type: 'duckdb', host: join(files, 'broken.duckdb') },
    {
      connection_id: 'shop_postgres',
      conn_type: 'postgres',
      host: hostname,
      port: Number(port),
      login: decodeURIComponent(username),
      password: decodeURIComponent(password) || 'kept-from-everybody',
      schema: pathname.slice(1),
    },
  ];
  for (const connection of connections) await lite.api('POST', '/connections', connection);
  for (const id of ['by_node', 'after_revenue', 'from_yaml', 'broken', 'starter']) {
    await eventually(() => lite.api('PATCH', `/dags/${id}`, { is_paused: false }), {
      withinMs: MINUTES,
      everyMs: 1_000,
    });
  }
}, MINUTES);

afterAll(async () => {
  await lite?.stop();
  rmSync(starter, { recursive: true, force: true });
  await warehouse?.drop();
});

type Instance = { task_id: string; state: string; try_number: number; failure_detail: string | null };

async function begin(dagId: string): Promise<string> {
  const { dag_run_id: id } = await lite.api<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, { conf: {} });
  return id;
}

const place = (dagId: string, runId: string): string => `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;

async function instances(dagId: string, runId: string): Promise<Instance[]> {
  const found = await lite.api<{ task_instances: Instance[] }>('GET', `${place(dagId, runId)}/taskInstances`);
  return found.task_instances;
}

async function logOf(dagId: string, runId: string, taskId: string, attempt = 1): Promise<string> {
  const path = `/api/v2${place(dagId, runId)}/taskInstances/${taskId}/logs/${attempt}`;
  const headers = { authorization: `Bearer ${await lite.login()}`, accept: 'text/plain' };
  return (await fetch(`${lite.url}${path}`, { headers })).text();
}

async function valueOf<T>(dagId: string, runId: string, taskId: string, key: string): Promise<T> {
  const path = `${place(dagId, runId)}/taskInstances/${taskId}/xcomEntries/${key}?deserialize=true`;
  const { value } = await lite.api<{ value: T | string }>('GET', path);
  return typeof value === 'string' ? (JSON.parse(value) as T) : value;
}

test('what svc init --dbt makes runs as it is', { timeout: MINUTES }, async () => {
  const run = await begin('starter');
  await runEnds(lite.api, 'starter', run);
  const found = await instances('starter', run);
  expect(found.map(({ state }) => state)).toEqual(found.map(() => 'success'));
  expect(found.length).toBeGreaterThanOrEqual(3);
});

test(
  'a project by node runs in dbt’s order, and a DAG that waits for a model runs after it',
  { timeout: MINUTES },
  async () => {
    const run = await begin('by_node');
    await runEnds(lite.api, 'by_node', run);
    const tasks = (await instances('by_node', run)).map(({ task_id: id }) => id);
    expect(tasks).toEqual([
      'shop.orders_snapshot_snapshot',
      'shop.raw_orders_seed',
      'shop.revenue.run',
      'shop.revenue.test',
      'shop.stg_customers.run',
      'shop.stg_customers.test',
      'shop.stg_orders.run',
      'shop.stg_orders.test',
    ]);
    expect(await logOf('by_node', run, 'shop.revenue.run')).toMatch(
      /INFO - 1 of 1 OK created sql table model main\.revenue/,
    );
    const results = await valueOf<{ results: { unique_id: string; status: string }[] }>(
      'by_node',
      run,
      'shop.revenue.run',
      'dbt_run_results',
    );
    expect(results.results).toMatchObject([{ unique_id: 'model.shop.revenue', status: 'success' }]);
    const manifest = await valueOf<{ nodes: Record<string, { raw_code: string }> }>(
      'by_node',
      run,
      'shop.revenue.run',
      'dbt_manifest',
    );
    expect(manifest.nodes['model.shop.revenue']?.raw_code).toContain('sum(total)');

    const after = await eventually(
      async () => {
        const { dag_runs: runs } = await lite.api<{ dag_runs: { dag_run_id: string; state: string }[] }>(
          'GET',
          '/dags/after_revenue/dagRuns',
        );
        expect(runs).toMatchObject([{ state: 'success' }]);
        return runs[0]?.dag_run_id ?? '';
      },
      { withinMs: MINUTES, everyMs: 500 },
    );
    const told = await lite.api<{ value: string }>(
      'GET',
      `${place('after_revenue', after)}/taskInstances/tell/xcomEntries/return_value`,
    );
    expect(told.value).toContain('success');
  },
);

test(
  'svc.yaml alone makes a DAG that fills Postgres, and the password is nowhere to be read',
  { timeout: MINUTES },
  async () => {
    const run = await begin('from_yaml');
    await runEnds(lite.api, 'from_yaml', run);
    const rows = await queryDatabase(
      warehouse.url,
      'select customer, total::float as total from analytics.revenue order by 1',
    );
    expect(rows).toEqual([
      { customer: 'ann', total: 14.5 },
      { customer: 'bob', total: 20.5 },
    ]);
    const password = decodeURIComponent(new URL(warehouse.url).password) || 'kept-from-everybody';
    for (const { task_id: task } of await instances('from_yaml', run)) {
      expect(await logOf('from_yaml', run, task)).not.toContain(password);
      for (const key of ['dbt_run_results', 'dbt_manifest', 'return_value']) {
        expect(JSON.stringify(await valueOf('from_yaml', run, task, key))).not.toContain(password);
      }
    }
  },
);

test('a failed model is named everywhere, and another try runs only what failed', { timeout: MINUTES }, async () => {
  const run = await begin('broken');
  await runEnds(lite.api, 'broken', run, 'failed');
  const [failed] = await instances('broken', run);
  expect(failed).toMatchObject({ task_id: 'dbt.models', state: 'failed', try_number: 2 });
  expect(failed?.failure_detail).toMatch(
    /^DbtFailed: model bad failed \(1 of 3; 1 skipped\)\. bad \(models\/bad\.sql\): .*missing_column/,
  );
  expect(await logOf('broken', run, 'dbt.models', 1)).toMatch(/OK created sql view model main\.good/);
  const second = await logOf('broken', run, 'dbt.models', 2);
  expect(second).toMatch(/2 of 3 nodes are left from the earlier try/);
  expect(second).not.toMatch(/model main\.good/);

  const tools = await startToolServer(lite.url);
  const client = await connectHttp(tools.url, await lite.login());
  const answer = await callTool(client, 'diagnose_run', { dag_id: 'broken', run_id: run });
  expect(answer.text).toMatch(/bad.*models\/bad\.sql/s);
  expect(JSON.stringify(answer.structured)).toMatch(
    /"name":"main\.bad","kind":"model","path":"models\/bad\.sql","seen_in":"log"/,
  );
  await client.close();
  await tools.close();

  // The author repairs the model and clears the task: what had succeeded is not done again.
  lite.writeDag('broken/project/models/bad.sql', 'select 2 as id\n');
  await lite.api('POST', '/dags/broken/clearTaskInstances', { dry_run: false, dag_run_id: run, only_failed: true });
  await runEnds(lite.api, 'broken', run);
  const third = await logOf('broken', run, 'dbt.models', 3);
  expect(third).toMatch(/The dbt project project was changed after this version was made/);
  expect(third).toMatch(/Done\. PASS=2 .* TOTAL=2/);
});
