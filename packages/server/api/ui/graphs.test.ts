/**
 * The same DAG files in Airflow 3.2.2 and here: graph, grid, dependencies and asset expressions must come out the same. What
 * Airflow said is golden/graphs.json, written by scripts/golden/ui_graphs.py.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { compileDags } from '@svc/testing/engine/compiled-dags.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

type Graph = { nodes: object[]; edges: object[] };
type Golden = Record<
  string,
  {
    structure: Graph;
    external?: Graph;
    grid: object[];
    asset_expression?: object;
    next_run_assets: { events?: object[] };
  }
>;
type OfAll = { assets: Record<string, string>; scheduling: Graph; data: Record<string, Graph> };

const FILES =
  'groups group_edges group_decorator tricky_groups labels mapping_group mapping_expand setup_teardown setup_teardown_groups assets dependencies xcomarg'
    .split(' ')
    .map((name) => `${name}.py`);

const { '*': ofAll, ...golden } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'golden/graphs.json'), 'utf8'),
) as Golden & { '*': OfAll };
const DAG_IDS = Object.keys(golden);

let server: TestServer;
let token: string;
const names = new Map<string, string>();

beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  const shop = join(ROOT, 'packages', 'testing', 'server', 'contract-dags');
  const specs = new Map([...(await compileDags(FILES)), ...(await compileDags(['shop.py'], shop))]);
  for (const [dagId, spec] of specs) {
    const path = `/api/v2/dags/${dagId}/dagVersions`;
    const { status, text } = await server.call(path, { method: 'POST', token, body: { spec } });
    if (status !== 201) throw new Error(`${dagId}: ${status} ${text}`);
  }
  const { assets } = await get<{ assets: { id: number; name: string }[] }>('/api/v2/assets?limit=1000');
  for (const { id, name } of assets) names.set(String(id), name);
}, 400_000);
afterAll(() => server?.close());

async function get<T>(path: string): Promise<T> {
  const answer = await server.call(path, { token });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.json<T>();
}

/** Nulls left out, as Airflow leaves them out; numbers of assets as their names, because they are given out in another order. */
function plain(value: unknown, assets: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, assets));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const isId = /^(id|source_id|target_id)$/.test(key);
      if (!isId) return [key, plain(item, assets)];
      const [, prefix = '', number = ''] = /^(asset:)?(\d+)$/.exec(String(item)) ?? [];
      return [key, assets.has(number) ? `${prefix}${assets.get(number)}` : item];
    }),
  );
}

const ours = (value: unknown): unknown => plain(value, names);
const theirs = (value: unknown): unknown => plain(value, new Map(Object.entries(ofAll.assets)));
const sorted = (items: unknown): string[] =>
  (items as unknown[]).map((item) => JSON.stringify(sortKeys(item))).toSorted();

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  );
}

/** Without the fields of Airflow 3.3. */
function asOfAirflow32(event: object): object {
  const fields = new Set(['id', 'name', 'uri', 'lastUpdate']);
  return Object.fromEntries(Object.entries(event).filter(([name]) => fields.has(name)));
}

describe.each(DAG_IDS)('%s, beside what Airflow says,', (dagId) => {
  it('has the same nodes in the same order, and the same edges, with joins where groups meet', async () => {
    const graph = await get<Graph>(`/ui/structure/structure_data?dag_id=${dagId}`);
    expect(ours(graph.nodes)).toEqual(theirs(golden[dagId]?.structure.nodes));
    expect(sorted(ours(graph.edges))).toEqual(sorted(theirs(golden[dagId]?.structure.edges)));
  });

  it('has the same rows in the grid', async () => {
    // False and nothing are the same here.
    const rows = JSON.parse(
      JSON.stringify(await get(`/ui/grid/structure/${dagId}`)).replaceAll('"is_mapped":false', '"is_mapped":null'),
    );
    expect(ours(rows)).toEqual(theirs(golden[dagId]?.grid));
  });

  it('says the same about its assets', async () => {
    const details = await get<{ asset_expression: unknown }>(`/api/v2/dags/${dagId}/details`);
    const expected = theirs(golden[dagId]?.asset_expression ?? null);
    expect(ours(details.asset_expression)).toEqual(expected);
    const next = await get<{ asset_expression: unknown; events: object[] }>(`/ui/next_run_assets/${dagId}`);
    expect(ours(next.asset_expression)).toEqual(expected);
    // Airflow lists none for references by name or URI alone; ours lists what they stand for.
    const events = dagId === 'assets_ref' ? [] : next.events.map(asOfAirflow32);
    expect(sorted(ours(events))).toEqual(sorted(theirs(golden[dagId]?.next_run_assets.events ?? [])));
    const list = await get<{ dags: { asset_expression: unknown }[] }>(`/ui/dags?dag_ids=${dagId}`);
    expect(list.dags.map((dag) => ours(dag.asset_expression))).toEqual([expected]);
  });
});

/** Where Airflow fails (references) or draws nothing (a single asset), and we draw the asset. */
const DRAWN_BY_US = new Set(['assets_ref', 'assets_one']);

it.each(DAG_IDS.filter((dagId) => !DRAWN_BY_US.has(dagId)))(
  '%s depends on the same things outside as in Airflow',
  async (dagId) => {
    const graph = await get<Graph>(`/ui/structure/structure_data?dag_id=${dagId}&external_dependencies=true`);
    expect(sorted(ours(graph.nodes))).toEqual(sorted(theirs(golden[dagId]?.external?.nodes)));
    // Gates are numbered in the order in which they are met, which may differ.
    expect(sorted(ours(graph.edges))).toEqual(sorted(theirs(golden[dagId]?.external?.edges)));
  },
);

it('the graph of a DAG draws a schedule of one asset, or of references, as well', async () => {
  const one = await get<Graph>('/ui/structure/structure_data?dag_id=assets_one&external_dependencies=true');
  expect(ours(one.edges)).toEqual([{ source_id: 's3://bucket/raw.csv', target_id: 'a', is_source_asset: true }]);
  const references = await get<Graph>('/ui/structure/structure_data?dag_id=assets_ref&external_dependencies=true');
  expect(references.nodes.map((node) => (node as { type: string }).type)).toEqual([
    'task',
    'asset-condition',
    'asset-name-ref',
    'asset-uri-ref',
  ]);
});

describe('dependencies between DAGs, beside what Airflow says,', () => {
  it('are the same by schedule', async () => {
    const graph = await get<Graph>('/ui/dependencies');
    expect(sorted(ours(graph.nodes))).toEqual(sorted(theirs(ofAll.scheduling.nodes)));
    expect(sorted(ours(graph.edges))).toEqual(sorted(theirs(ofAll.scheduling.edges)));
  });

  it.each(Object.keys(ofAll.data))('are the same by data around %s', async (name) => {
    const [id] = [...names].find(([, other]) => other === name) ?? [''];
    const graph = await get<Graph>(`/ui/dependencies?dependency_type=data&node_id=asset:${id}`);
    expect(sorted(ours(graph.nodes))).toEqual(sorted(theirs(ofAll.data[name]?.nodes)));
    expect(sorted(ours(graph.edges))).toEqual(sorted(theirs(ofAll.data[name]?.edges)));
  });
});

it('dependencies are those of now, however often they were asked for', async () => {
  type Nodes = { nodes: { id: string }[] };
  const all = async (): Promise<string[]> => (await get<Nodes>('/ui/dependencies')).nodes.map(({ id }) => id);
  const asset = (await all()).find((id) => id.startsWith('asset:')) ?? '';
  const around = async (): Promise<string[]> =>
    (await get<Nodes>(`/ui/dependencies?node_id=${asset}`)).nodes.map(({ id }) => id);
  const dag = (await around()).find((id) => id.startsWith('dag:')) ?? '';
  const dagId = dag.slice('dag:'.length);
  const db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  const setStale = (isStale: boolean) =>
    db.updateTable('dags').set({ is_stale: isStale }).where('dag_id', '=', dagId).execute();

  await setStale(true);
  expect(await all()).not.toContain(dag);
  await setStale(false);
  expect(await all()).toContain(dag);
  expect(await around()).toContain(dag);
  await db.deleteFrom('asset_references').where('dag_id', '=', dagId).execute();
  const answer = await server.call(`/ui/dependencies?node_id=${asset}`, { token });
  expect(answer.status === 404 || !answer.text.includes(JSON.stringify(dag))).toBe(true);
});
